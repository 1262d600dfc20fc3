import { plural } from "../../modes/format.js";
import type { PackageChange } from "../../packages/manage.js";
import type { Subcommand } from "../options.js";
import { printJson, printLines } from "../standard-io.js";
import { checkClaims, describeClaims, withClaims } from "./bench-claims.js";
import type { SubcommandContext } from "./location.js";
import { withPackages } from "./with-packages.js";

/** When the user decides about the code. */
export const ASKS = "None of its code has run · the next start of pi shows the code and asks whether to run it";

/**
 * `pi install [<source>]`: installs a package, or all packages of the settings that are missing or damaged. Runs no code of them.
 * @throws PiError `package_failed`, `bad_arguments`
 */
export function runInstall(
	{ source, local }: Extract<Subcommand, { name: "install" }>,
	context: SubcommandContext,
): Promise<number> {
	const scope = local ? "project" : "user";
	return withPackages(context, async (manager) => {
		const changes = source === undefined ? await manager.restore(scope) : [await manager.install(source, scope)];
		const { io } = context;
		if (context.options.json) return printJson(io, withClaims(changes, await checkClaims(changes, context)));
		if (changes.length === 0) return printLines(io, ["All packages are installed"]);
		await printLines(io, [...changes.map(describeInstalled), ...(source === undefined ? [] : [ASKS])]);
		await printLines(io, describeClaims(changes, await checkClaims(changes, context)));
	});
}

function describeInstalled({ name, scope, now, brings, dependencies }: PackageChange): string {
	const version = now === null ? "" : ` ${now}`;
	const needs = dependencies === 0 ? "" : `, with ${plural(dependencies, "dependency", "dependencies")}`;
	return `Installed ${name}${version}${scope === "project" ? " in this project" : ""}: ${brings}${needs}`;
}

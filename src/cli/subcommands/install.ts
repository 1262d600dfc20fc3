import { plural } from "../../modes/format.js";
import type { PackageChange } from "../../packages/package-manager.js";
import { isTrusted } from "../../trust/store.js";
import type { Subcommand } from "../options.js";
import { printJson, printLines } from "../standard-io.js";
import { checkClaims, describeClaims, withClaims } from "./bench-claims.js";
import { findPackageStates } from "./list-packages.js";
import type { SubcommandContext } from "./location.js";
import { withPackages } from "./with-packages.js";

/** When the user decides about the code. */
const ASKS = "None of its code has run · the next start of pi shows the code and asks whether to run it";

/** What happens next with these packages; nothing if the user has trusted their contents before. */
export async function describeNext(
	changes: readonly PackageChange[],
	{ location }: Pick<SubcommandContext, "location">,
): Promise<string[]> {
	const states = await findPackageStates(location);
	const isAsked = changes.some(({ name }) => {
		const set = states.find(({ configured }) => configured?.name === name)?.set;
		return !set || !isTrusted(set);
	});
	return isAsked ? [ASKS] : [];
}

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
		const next = source === undefined ? [] : await describeNext(changes, context);
		await printLines(io, [...changes.map(describeInstalled), ...next]);
		await printLines(io, describeClaims(changes, await checkClaims(changes, context)));
	});
}

function describeInstalled({ name, scope, now, brings, dependencies }: PackageChange): string {
	const version = now === null ? "" : ` ${now}`;
	const needs = dependencies === 0 ? "" : `, with ${plural(dependencies, "dependency", "dependencies")}`;
	return `Installed ${name}${version}${scope === "project" ? " in this project" : ""}: ${brings}${needs}`;
}

import type { PackageChange } from "../../packages/package-manager.js";
import type { Subcommand } from "../options.js";
import { printJson, printLines } from "../standard-io.js";
import { checkClaims, describeClaims, withClaims } from "./bench-claims.js";
import { describeNext } from "./install.js";
import type { SubcommandContext } from "./location.js";
import { withPackages } from "./with-packages.js";

/**
 * `pi update [<name>]`: installs the newest versions of packages that the settings allow. Runs no code of them.
 * @throws PiError `package_failed`, `bad_arguments`
 */
export function runUpdate(
	{ package: word, local }: Extract<Subcommand, { name: "update" }>,
	context: SubcommandContext,
): Promise<number> {
	return withPackages(context, async (manager) => {
		const changes = await manager.update(word, local ? "project" : "user");
		const updated = changes.filter(({ isChanged }) => isChanged);
		const checked = () => checkClaims(updated, context);
		if (context.options.json) return printJson(context.io, withClaims(changes, await checked()));
		const lines =
			changes.length === 0
				? ["No packages to update · those at paths are read at each start"]
				: changes.map(describeUpdate);
		await printLines(context.io, [...lines, ...(await describeNext(updated, context))]);
		return printLines(context.io, describeClaims(updated, await checked()));
	});
}

function describeUpdate({ name, before, now, isChanged, brings }: PackageChange): string {
	if (!isChanged) return `${name} is up to date: ${now ?? "no version"}`;
	return `Updated ${name}: ${before ?? "not installed"} → ${now ?? "no version"}: ${brings}`;
}

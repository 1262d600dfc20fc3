import { SettingsStore } from "../../config/settings-store.js";
import { describeResources, RESOURCE_KINDS } from "../../packages/resources.js";
import { PackageGate, type PackageState } from "../../services/code/package-code.js";
import { isTrusted } from "../../trust/store.js";
import { printJson, printLines, printNotices, tableLines } from "../standard-io.js";
import type { Location, SubcommandContext } from "./location.js";

/** Every package that a session here uses, as it is on disk. */
export function findPackageStates({ paths, env }: Location): Promise<PackageState[]> {
	const settings = new SettingsStore(paths);
	const gate = new PackageGate({
		...{ paths, env, settings, run: [], discovery: true, trust: undefined },
		copyDir: paths.projectCache,
	});
	return gate.states();
}

/** `pi list`: prints the packages that a session here uses. @returns 1 if one of them cannot be loaded */
export async function listPackages({ location, options, io }: SubcommandContext): Promise<number> {
	const states = await findPackageStates(location);
	const problems = states.flatMap(({ problem }) => problem ?? []);
	if (options.json) await printJson(io, states.map(describeJson));
	else if (states.length === 0) await printLines(io, ["No packages · pi install npm:<name> installs one"]);
	else {
		const rows = states.flatMap(({ configured, loaded, set }) => {
			if (!configured || !loaded || !set) return [];
			const { resources, version } = loaded;
			const trust = isTrusted(set) ? "trusted" : set.trustedAt ? "changed since it was trusted" : "not trusted";
			return [[configured.name, version ?? "-", configured.scope, trust, describeResources(resources)]];
		});
		await printLines(io, tableLines(rows));
	}
	if (!options.json) printNotices(io, problems);
	return problems.length === 0 ? 0 : 1;
}

function describeJson({ configured, loaded, set, problem }: PackageState) {
	return {
		name: configured?.name ?? null,
		source: configured?.text ?? null,
		scope: configured?.scope ?? null,
		version: loaded?.version ?? null,
		trusted: set ? isTrusted(set) : false,
		...Object.fromEntries(RESOURCE_KINDS.map((kind) => [kind, loaded?.resources[kind] ?? []])),
		dependencies: (loaded?.dependencies ?? []).map(({ rel, size, sha256 }) => ({ name: rel, size, sha256 })),
		problem,
	};
}

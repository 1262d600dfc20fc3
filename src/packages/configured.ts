import { join } from "node:path";
import type { Paths } from "../config/paths.js";
import type { Settings } from "../config/settings-schema.js";
import type { SettingsStore } from "../config/settings-store.js";
import { describeError } from "../errors.js";
import type { ResourceFilters } from "./resources.js";
import { type PackageSource, packageName, parseSource } from "./source.js";

/** An entry of the setting `packages`. */
export type PackageSetting = Settings["packages"][number];

/** Where a package is configured; `run`: named with `-e`. */
export type PackageScope = "user" | "project" | "run";

/** A package that a session uses. */
export interface ConfiguredPackage {
	source: PackageSource;
	/** As `packageName` returns it. */
	name: string;
	/** The source as the user wrote it. */
	text: string;
	filters: ResourceFilters;
	scope: PackageScope;
}

/** Where packages of a scope are recorded. */
export interface ScopeFiles {
	/** The directory that relative paths of sources refer to. */
	dir: string;
	settings: string;
	lock: string;
}

/** The files of a scope. */
export function scopeFiles(scope: PackageScope, paths: Paths): ScopeFiles {
	const { agentDir, cwd, project, settings, packagesLock } = paths;
	if (scope === "project") return { dir: cwd, settings: project.settings, lock: project.packagesLock };
	if (scope === "user") return { dir: agentDir, settings, lock: packagesLock };
	return { dir: cwd, settings, lock: join(agentDir, "cache", "packages", "run.lock.json") };
}

/** The source that an entry of the settings names. */
function sourceOf(setting: PackageSetting): string {
	return typeof setting === "string" ? setting : setting.source;
}

/** A problem of an entry, one line. */
export interface SettingProblem {
	text: string;
	scope: PackageScope;
	/** True if the entry names no package that can be used. */
	isUnusable: boolean;
}

/**
 * The packages of the settings and of this run, in load order: the user's, the project's, those of this run. A package that is
 * named again is used as named last, except that the project never changes what the user has.
 * @param run sources of `-e`
 */
export function configuredPackages(
	settings: Pick<SettingsStore, "layer">,
	paths: Paths,
	run: readonly string[] = [],
): { packages: ConfiguredPackage[]; problems: SettingProblem[] } {
	const problems: SettingProblem[] = [];
	const report = (scope: PackageScope, text: string, isUnusable = false) => problems.push({ text, scope, isUnusable });
	const found = new Map<string, ConfiguredPackage>();
	const scopes = [
		["user", settings.layer("packages", "user") ?? []],
		["project", settings.layer("packages", "project") ?? []],
		["run", [...(settings.layer("packages", "run") ?? []), ...run]],
	] as const;
	for (const [scope, entries] of scopes) {
		const base = { dir: scopeFiles(scope, paths).dir, home: paths.home };
		const names = new Set<string>();
		for (const entry of entries) {
			try {
				const text = sourceOf(entry);
				const source = parseSource(text, base);
				const name = packageName(source);
				const { source: _source, ...filters } = typeof entry === "string" ? { source: entry } : entry;
				if (scope === "project" && found.get(name)?.scope === "user") {
					const filtered = Object.keys(filters).length > 0 ? " · its filters do not apply" : "";
					const reason = "because your settings have this package";
					report(scope, `The project's package ${text} is ignored, ${reason}${filtered}`);
					continue;
				}
				if (names.has(name))
					report(scope, `The package ${name} is named twice in the ${scope} settings; the latter is used`);
				names.add(name);
				found.delete(name);
				found.set(name, { source, name, text, filters, scope });
			} catch (error) {
				report(scope, describeError(error), true);
			}
		}
	}
	return { packages: [...found.values()], problems };
}

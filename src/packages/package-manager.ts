import { existsSync } from "node:fs";
import { join, relative, sep } from "node:path";
import { type JsonObject, readJsonObject, updateJsonFile } from "../config/json-file.js";
import type { Environment, Paths } from "../config/paths.js";
import type { SettingsStore } from "../config/settings-store.js";
import { PiError } from "../errors.js";
import { isRecord } from "../util/is-record.js";
import { nearest } from "../util/nearest.js";
import { type BenchClaim, readBenchClaim } from "./bench-claim.js";
import { type ConfiguredPackage, configuredPackages, type PackageScope, scopeFiles } from "./configured.js";
import { type Installed, installPackage, removeInstalled } from "./install.js";
import { loadPackage } from "./load-package.js";
import { type LockedPackage, readLockFile, updateLockFile } from "./lock-file.js";
import { installedModules, manifestText } from "./package-content.js";
import { describeResources } from "./resources.js";
import { isNamed, type PackageSource, packageName, parseSource, shortName } from "./source.js";

/** Where packages are managed. */
export interface PackageManagerOptions {
	paths: Paths;
	env: Environment;
	settings: Pick<SettingsStore, "layer">;
	signal?: AbortSignal;
}

/** The scopes whose packages are in settings. */
export type SavedScope = Exclude<PackageScope, "run">;

/** What a change did to one package. */
export interface PackageChange {
	name: string;
	scope: SavedScope;
	/** Version or commit before; null if it was not installed. */
	before: string | null;
	/** Version or commit now. */
	now: string | null;
	/** What it brings, such as `1 hook, 2 skills`. */
	brings: string;
	/** Number of dependencies. */
	dependencies: number;
	/** False if everything was as it is now. */
	isChanged: boolean;
	/** What it says that its context strategies save; a sentence if its `bench.json` is not valid, null without one. */
	bench: BenchClaim | string | null;
}

/** Installs, updates and removes packages of the settings. */
export class PackageManager {
	constructor(private readonly options: PackageManagerOptions) {}

	/**
	 * Downloads a package, locks it and adds it to the settings. One at a path stays where it is. Runs no code of it.
	 * @throws PiError `package_failed`, `bad_arguments` or `config_invalid`; nothing has changed then
	 */
	async install(text: string, scope: SavedScope): Promise<PackageChange> {
		const { paths } = this.options;
		const source = parseSource(text, { dir: paths.cwd, home: paths.home });
		readJsonObject(scopeFiles(scope, paths).settings);
		const written = source.kind === "path" ? this.#savedPath(source.path, scope) : text.trim();
		const change = await this.#bring(source, scope);
		await this.#changeSettings(scope, (entries) => {
			const at = entries.findIndex((entry) => this.#nameOf(entry, scope) === packageName(source));
			if (at < 0) return [...entries, written];
			return entries.map((entry, index) => (index === at ? withSource(entry, written) : entry));
		});
		return change;
	}

	/** Installs packages of the settings that are not there or are damaged, exactly as locked. */
	async restore(scope: SavedScope): Promise<PackageChange[]> {
		const { paths } = this.options;
		const changes: PackageChange[] = [];
		const dirs = { store: paths.packages, agentDir: paths.agentDir };
		for (const configured of this.#ofScope(scope)) {
			const locked = this.#lock(scope).get(configured.name);
			if (typeof (await loadPackage(configured, locked, dirs)) !== "string") continue;
			changes.push(await this.#bring(configured.source, scope, locked));
		}
		return changes;
	}

	/**
	 * Installs the newest version that the settings allow.
	 * @param word names one package; absent: all
	 * @throws PiError `bad_arguments` if no package has this name; `package_failed`
	 */
	async update(word: string | undefined, scope: SavedScope): Promise<PackageChange[]> {
		const packages = word === undefined ? this.#ofScope(scope) : [this.#find(word, scope)];
		const changes: PackageChange[] = [];
		for (const { source } of packages) if (source.kind !== "path") changes.push(await this.#bring(source, scope));
		return changes;
	}

	/** Removes a package from settings, lock file and disk. @returns its name @throws PiError `bad_arguments` if no package has this name */
	async remove(word: string, scope: SavedScope): Promise<ConfiguredPackage> {
		const { paths } = this.options;
		readJsonObject(scopeFiles(scope, paths).settings);
		const configured = this.#find(word, scope);
		const { lock } = scopeFiles(scope, paths);
		const locked = this.#lock(scope).get(configured.name);
		await this.#changeSettings(scope, (entries) =>
			entries.filter((entry) => this.#nameOf(entry, scope) !== configured.name),
		);
		if (!locked) return configured;
		await updateLockFile(lock, configured.name, null);
		await removeInstalled(locked.dir, { storeDir: paths.packages, keep: this.#lockedDirs() });
		return configured;
	}

	async #bring(source: PackageSource, scope: SavedScope, locked?: LockedPackage): Promise<PackageChange> {
		const { paths, env, signal } = this.options;
		const name = packageName(source);
		if (source.kind === "path") return this.#checkPath(source, scope);
		const before = this.#lock(scope).get(name);
		const installed = await installPackage(source, {
			storeDir: paths.packages,
			env,
			keep: this.#lockedDirs(),
			...(signal ? { signal } : {}),
			...(locked ? { locked } : {}),
		});
		await updateLockFile(scopeFiles(scope, paths).lock, name, installed.locked);
		const bench = readBenchClaim(installed.content.files, source, installed.resources.hooks);
		return { ...describeChange(name, scope, before, installed), bench };
	}

	async #checkPath(source: Extract<PackageSource, { kind: "path" }>, scope: SavedScope): Promise<PackageChange> {
		const { paths } = this.options;
		const name = packageName(source);
		if (!existsSync(source.path)) {
			throw new PiError("package_failed", `Cannot install ${name}: the directory does not exist`, {
				hint: "use npm:<name>, git:<url> or the path of a directory",
			});
		}
		const configured: ConfiguredPackage = { source, name, text: source.path, filters: {}, scope };
		const loaded = await loadPackage(configured, undefined, { store: paths.packages, agentDir: paths.agentDir });
		if (typeof loaded === "string") {
			throw new PiError("package_failed", loaded.replace(/^Package (.*?) was not loaded/, "Cannot install $1"), {
				hint: "check that it is a package for pi",
			});
		}
		const { version, resources, content } = loaded;
		return {
			name,
			scope,
			before: null,
			now: version,
			brings: describeResources(resources),
			dependencies: content.dependencies.length,
			isChanged: true,
			bench: readBenchClaim(content.files, source, resources.hooks),
		};
	}

	#ofScope(scope: SavedScope): ConfiguredPackage[] {
		const { settings, paths } = this.options;
		const only: Pick<SettingsStore, "layer"> = {
			layer: (path, source) => (source === scope ? settings.layer(path, source) : undefined),
		};
		return configuredPackages(only, paths).packages;
	}

	#find(word: string, scope: SavedScope): ConfiguredPackage {
		const { paths } = this.options;
		const packages = this.#ofScope(scope);
		const named = packages.filter(({ source }) => isNamed(source, word, { dir: paths.cwd, home: paths.home }));
		const found = named.length > 0 ? named : packages.filter((one) => this.#ownName(one, scope) === word);
		const [first, second] = found;
		if (first && second) {
			throw new PiError("bad_arguments", `${word} can be ${first.name} or ${second.name}`, {
				hint: "use the complete name",
			});
		}
		if (first) return first;
		const names = packages.flatMap((one) => [one.name, shortName(one.source), this.#ownName(one, scope) ?? one.name]);
		const [near] = nearest(word, names, 1);
		const where = scope === "project" ? "in this project" : "for all projects";
		throw new PiError("bad_arguments", `No package ${word} is installed ${where}`, {
			hint: near ? `did you mean ${near}?` : "pi list shows all packages",
		});
	}

	/** The name in the package.json of an installed package; null if none can be read. */
	#ownName({ name, source }: ConfiguredPackage, scope: SavedScope): string | null {
		const locked = this.#lock(scope).get(name);
		if (source.kind !== "path" && !locked) return null;
		const dir =
			source.kind === "path"
				? source.path
				: installedModules(join(this.options.paths.packages, locked?.dir ?? "")).root;
		try {
			return manifestText(readJsonObject(join(dir, "package.json")), "name");
		} catch {
			return null; // the package has other names
		}
	}

	#lock(scope: SavedScope): ReadonlyMap<string, LockedPackage> {
		return readLockFile(scopeFiles(scope, this.options.paths).lock).packages;
	}

	/** Directories of all packages that the user or this project has. */
	#lockedDirs(): Set<string> {
		const scopes: SavedScope[] = ["user", "project"];
		return new Set(scopes.flatMap((scope) => [...this.#lock(scope).values()].map(({ dir }) => dir)));
	}

	/** The name of the package that an entry of a settings file names; null for an invalid entry. */
	#nameOf(entry: unknown, scope: SavedScope): string | null {
		const { paths } = this.options;
		const text = isRecord(entry) ? entry.source : entry;
		try {
			return packageName(parseSource(String(text), { dir: scopeFiles(scope, paths).dir, home: paths.home }));
		} catch {
			return null;
		}
	}

	/** A path as the settings contain it: absolute, and in a project relative to it. */
	#savedPath(path: string, scope: SavedScope): string {
		const rel = relative(this.options.paths.cwd, path);
		const isInside = rel !== ".." && !rel.startsWith(`..${sep}`);
		return scope === "project" && isInside ? `./${rel.split(sep).join("/")}` : path;
	}

	async #changeSettings(scope: SavedScope, change: (entries: readonly unknown[]) => unknown[]): Promise<void> {
		const { settings } = scopeFiles(scope, this.options.paths);
		const mode = scope === "project" ? { mode: 0o644 } : {};
		await updateJsonFile(
			settings,
			(current: JsonObject) => {
				const packages = change(Array.isArray(current.packages) ? current.packages : []);
				const { packages: _before, ...others } = current;
				return packages.length > 0 ? { ...current, packages } : others;
			},
			mode,
		);
	}
}

function describeChange(
	name: string,
	scope: SavedScope,
	before: LockedPackage | undefined,
	{ locked, resources, content }: Installed,
): Omit<PackageChange, "bench"> {
	return {
		name,
		scope,
		before: before ? stateOf(before) : null,
		now: stateOf(locked),
		brings: describeResources(resources),
		dependencies: content.dependencies.length,
		isChanged: before?.dir !== locked.dir,
	};
}

/** The version, and the commit of a repository. */
function stateOf({ version, commit }: LockedPackage): string | null {
	const short = commit?.slice(0, 7);
	return version !== null && short !== undefined ? `${version} (${short})` : (version ?? short ?? null);
}

function withSource(entry: unknown, source: string): unknown {
	return isRecord(entry) ? { ...entry, source } : source;
}

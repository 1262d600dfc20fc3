import { join } from "node:path";
import type { Environment, Paths } from "../../config/paths.js";
import type { SettingsStore } from "../../config/settings-store.js";
import { describeError, PiError } from "../../errors.js";
import type { HookFile } from "../../hooks/discover.js";
import { hookName } from "../../hooks/hook-name.js";
import { type ConfiguredPackage, configuredPackages, scopeFiles } from "../../packages/configured.js";
import { installForRun } from "../../packages/install-for-run.js";
import { describePackage, type LoadedPackage, loadPackage } from "../../packages/load-package.js";
import { readLockFile } from "../../packages/lock-file.js";
import type { ResourceKind } from "../../packages/resources.js";
import { copyProjectCode } from "../../trust/copies.js";
import { CodeDecision, describeFile, type ProjectCodeOptions } from "../../trust/gate.js";
import { compareWithStore, loadTrust, type ProjectSet, untrustRoot } from "../../trust/store.js";

/** A file of an accepted package: the path to show, and that of the copy to read. */
export interface PackageFile {
	path: string;
	copy: string;
}

/** The files of packages that a session loads. */
export interface AcceptedPackages {
	/** With the scope `package`; `realPath` is the copy. */
	hooks: readonly HookFile[];
	tools: readonly HookFile[];
	agents: readonly PackageFile[];
	skills: readonly PackageFile[];
	prompts: readonly PackageFile[];
	themes: readonly PackageFile[];
}

export interface PackageGateOptions extends Pick<ProjectCodeOptions, "copyDir" | "trust" | "ask"> {
	paths: Paths;
	env: Environment;
	settings: Pick<SettingsStore, "layer">;
	/** Sources of `-e`. */
	run: readonly string[];
	/** False with `--no-hooks`: only packages of `-e`. */
	discovery: boolean;
	/** True: packages that are not trusted are only reported if nobody can be asked. */
	skipsUntrusted?: boolean;
	/** For a sub-session: the packages that its parent runs. */
	inherited?(): AcceptedPackages | null;
}

/** A configured package as it is on disk. */
export type PackageState =
	| { configured: ConfiguredPackage; loaded: LoadedPackage; set: ProjectSet; problem: null }
	/** One that cannot be loaded; without `configured`, an entry of the settings that names none. */
	| { configured: ConfiguredPackage | null; loaded: null; set: null; problem: string };

/** Receives a problem. @param isRequired the package is one of the user, whose hooks may decide about tool calls */
type PackageListener = (line: string, isRequired?: boolean) => void;

const NONE: AcceptedPackages = { hooks: [], tools: [], agents: [], skills: [], prompts: [], themes: [] };

/** The key of a package in the store of trusted contents. */
export function trustKey({ name, scope }: Pick<ConfiguredPackage, "name" | "scope">, cwd: string): string {
	return scope === "project" ? `package:${name} in ${cwd}` : `package:${name}`;
}

/**
 * Reads the configured packages, compares them with their lock files and decides for each whether it may run. Accepted ones are
 * copied, so that exactly the bytes run that were hashed and shown.
 * @see docs/packages.md
 */
export class PackageGate {
	readonly #decisions = new Map<string, CodeDecision>();
	#accepted: AcceptedPackages | null = null;

	constructor(private readonly options: PackageGateOptions) {}

	/** The result of the last `accept`. */
	get accepted(): AcceptedPackages | null {
		return this.#accepted;
	}

	/**
	 * Asks the user about each package that is new or has changed.
	 * @param onWarning receives a line for each package that is not loaded; `isRequired`: the user has it, and nobody decided against it
	 * @throws PiError `package_untrusted` if a package is not trusted and nobody can be asked
	 */
	async accept(onWarning: PackageListener): Promise<AcceptedPackages> {
		const { trust, inherited } = this.options;
		if (trust === false) this.#accepted = NONE;
		else if (inherited) this.#accepted = inherited() ?? NONE;
		else this.#accepted = await this.#accept(onWarning);
		return this.#accepted;
	}

	/** A line for each package, and one for each of its files that has changed since the user trusted it. */
	async describe(): Promise<string[]> {
		return (await this.states()).flatMap(({ configured, loaded, set, problem }) => {
			if (!loaded || !set) return problem === null ? [] : [problem];
			const open = set.files.filter(({ state }) => state !== "trusted");
			const width = Math.max(0, ...open.map(({ title, rel }) => (title ?? rel).length));
			const version = loaded.version === null ? "" : ` ${loaded.version}`;
			const state = open.length === 0 && set.trustedAt ? `trusted on ${set.trustedAt.slice(0, 10)}` : "not trusted";
			const files = set.trustedAt ? open.map((file) => `   ${describeFile(file, width)}`) : [];
			return [`${configured.name}${version}: ${state}`, ...files];
		});
	}

	/** Every configured package, as it is now. Installs nothing. */
	async states(): Promise<PackageState[]> {
		const { paths } = this.options;
		const problems: string[] = [];
		const states: PackageState[] = [];
		for (const configured of this.#configured((line) => problems.push(line))) {
			const lock = readLockFile(scopeFiles(configured.scope, paths).lock);
			const dirs = { store: paths.packages, agentDir: paths.agentDir };
			const loaded = await loadPackage(configured, lock.packages.get(configured.name), dirs);
			if (typeof loaded === "string")
				states.push({ configured, loaded: null, set: null, problem: lock.warning ?? loaded });
			else states.push({ configured, loaded, set: this.#describeSet(loaded), problem: null });
		}
		return [...states, ...problems.map((problem) => ({ configured: null, loaded: null, set: null, problem }))];
	}

	askAgain(): void {
		for (const decision of this.#decisions.values()) decision.askAgain();
	}

	/** Revokes the trust in all packages that are configured here. @returns false if none was trusted */
	async forget(): Promise<boolean> {
		let found = false;
		const { paths } = this.options;
		for (const configured of this.#configured(() => {})) {
			const key = trustKey(configured, paths.cwd);
			this.#decisions.get(key)?.forget();
			found = (await untrustRoot(paths.agentDir, key)) || found;
		}
		return found;
	}

	async #accept(onWarning: PackageListener): Promise<AcceptedPackages> {
		const { paths, copyDir, trust, ask } = this.options;
		const { agentDir } = paths;
		const accepted: AcceptedPackages[] = [];
		for (const loaded of await this.#load(onWarning)) {
			const { configured, content } = loaded;
			const key = trustKey(configured, paths.cwd);
			// A directory that the user names on the command line needs no question, as a hook file does not.
			const isNamed = configured.scope === "run" && configured.source.kind === "path";
			const decision = this.#decisions.get(key) ?? new CodeDecision({ agentDir, trust: trust || isNamed, ask });
			this.#decisions.set(key, decision);
			try {
				const isReported = ask !== undefined || this.options.skipsUntrusted === true;
				const set = this.#describeSet(loaded);
				let isAsked = false;
				const notes = () => {
					isAsked = true;
					return describePackage(loaded);
				};
				if (!(await decision.mayRun(set, isReported ? onWarning : () => {}, notes))) {
					if (isReported) continue;
					throw new PiError("package_untrusted", `Package ${configured.name} was not loaded: it is not trusted`, {
						hint: "start pi in a terminal and answer the question, or pass --trust to run it once",
					});
				}
				// The package's own files run from copies of what was shown; its dependencies are too many to copy.
				const changed = isAsked ? await content.findChanged() : [];
				if (changed.length > 0) {
					const reason = `it changed during the question: ${changed.join(", ")}`;
					onWarning(
						`Package ${configured.name} was not loaded: ${reason} · /reload asks again`,
						configured.scope !== "project",
					);
					continue;
				}
				const { root, files, nodeModules } = content;
				accepted.push(withCopies(loaded, copyProjectCode({ root, files }, copyDir, nodeModules)));
			} catch (error) {
				if (error instanceof PiError && error.code === "package_untrusted") throw error;
				onWarning(`Package ${configured.name} was not loaded: ${describeError(error)}`, configured.scope !== "project");
			}
		}
		const all = <K extends keyof AcceptedPackages>(kind: K) =>
			accepted.flatMap((one): AcceptedPackages[K][number][] => [...one[kind]]);
		return {
			hooks: all("hooks") as HookFile[],
			tools: all("tools") as HookFile[],
			agents: all("agents"),
			skills: all("skills"),
			prompts: all("prompts"),
			themes: all("themes"),
		};
	}

	#configured(onWarning: PackageListener): ConfiguredPackage[] {
		const { settings, paths, run, discovery } = this.options;
		const { packages, problems } = configuredPackages(settings, paths, run);
		for (const { text, scope, isUnusable } of problems) {
			onWarning(text, isUnusable && scope !== "project");
		}
		return packages.filter(({ scope }) => discovery || scope === "run");
	}

	async #load(onWarning: PackageListener): Promise<LoadedPackage[]> {
		const { paths, env } = this.options;
		const dirs = { store: paths.packages, agentDir: paths.agentDir };
		const packages: LoadedPackage[] = [];
		for (const configured of this.#configured(onWarning)) {
			const fail = (line: string) => onWarning(line, configured.scope !== "project");
			try {
				if (configured.scope === "run") await installForRun(configured, { paths, env });
				const lock = readLockFile(scopeFiles(configured.scope, paths).lock);
				if (lock.warning) onWarning(lock.warning);
				const loaded = await loadPackage(configured, lock.packages.get(configured.name), dirs);
				if (typeof loaded === "string") fail(loaded);
				else packages.push(loaded);
			} catch (error) {
				fail(describeError(error));
			}
		}
		return packages;
	}

	#describeSet({ configured, content, dependencies }: LoadedPackage): ProjectSet {
		const { paths } = this.options;
		const code = {
			root: trustKey(configured, paths.cwd),
			files: [...content.files, ...dependencies],
			unresolved: [...content.unresolved],
		};
		const set = compareWithStore(code, loadTrust(paths.agentDir));
		return { ...set, package: { name: configured.name, notes: [] } };
	}
}

/** The files that a package brings, with their copies. */
function withCopies(
	{ configured, content, resources }: LoadedPackage,
	copies: ReadonlyMap<string, string>,
): AcceptedPackages {
	const base = configured.source.kind === "path" ? content.root : configured.name;
	const list = (kind: ResourceKind): PackageFile[] =>
		resources[kind].flatMap((rel) => {
			const file = content.files.find((candidate) => candidate.rel === rel);
			const copy = file && copies.get(file.realPath);
			return copy === undefined
				? []
				: [{ path: configured.source.kind === "path" ? join(base, rel) : `${base}/${rel}`, copy }];
		});
	const required = configured.scope === "project" ? {} : ({ isRequired: true } as const);
	const code = (kind: ResourceKind, extra: Partial<HookFile> = {}) =>
		list(kind).map(
			({ path, copy }): HookFile => ({ path, realPath: copy, scope: "package", name: hookName(path), ...extra }),
		);
	return {
		hooks: [...code("hooks", required), ...code("extensions", { kind: "extension", ...required })],
		tools: code("tools"),
		agents: list("agents"),
		skills: list("skills"),
		prompts: list("prompts"),
		themes: list("themes"),
	};
}

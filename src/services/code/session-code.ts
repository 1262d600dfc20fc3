import { realpathSync, statSync } from "node:fs";
import type { CommandTrust } from "../../commands/command.js";
import type { Environment, Paths } from "../../config/paths.js";
import type { Settings } from "../../config/settings-schema.js";
import type { SettingsStore } from "../../config/settings-store.js";
import { describeError, PiError } from "../../errors.js";
import { findBundled } from "../../hooks/bundled-words.js";
import {
	type DiscoveredHooks,
	type DiscoverOptions,
	discoverHooks,
	type HookFile,
	isChosen,
} from "../../hooks/discover.js";
import type { FoundHooks } from "../../hooks/load.js";
import { type CustomTool, discoverTools, loadTools } from "../../hooks/load-tools.js";
import type { HookFactory } from "../../hooks/types.js";
import type { HandlerWatch } from "../../hooks/watchdog.js";
import type { AnyTool } from "../../tools/tool.js";
import { type AcceptedCode, ProjectGate, type TrustAnswer, withCopies } from "../../trust/gate.js";
import type { ProjectSet } from "../../trust/store.js";
import { needsTrust } from "./config-files.js";
import type { McpFiles } from "./mcp-files.js";
import type { AcceptedPackages, PackageGate } from "./package-code.js";
import { SessionTools } from "./session-tools.js";

export interface SessionCodeOptions {
	paths: Paths;
	/** A private directory for copies of accepted project code. */
	copyDir: string;
	/** Read again at each reload. */
	settings: Pick<Settings, "hooks" | "customTools" | "hookTimeout" | "packages">;
	/** The same settings, with their places. */
	store: Pick<SettingsStore, "layer">;
	/** For npm and git. */
	env: Environment;
	builtinTools: readonly AnyTool[];
	extraTools: readonly AnyTool[];
	/** Names of the tools to use; undefined: all. */
	toolNames: readonly string[] | undefined;
	/** Files named on the command line or by the program, and functions of the program. */
	explicit: {
		hooks: readonly (string | HookFactory)[];
		extensions: readonly string[];
		tools: readonly string[];
		/** Sources of packages for this session. */
		packages: readonly string[];
	};
	/** Uses skills and prompts of packages. @returns a line for each problem */
	usePackages(accepted: AcceptedPackages): Promise<string[]>;
	discoverHooks: boolean;
	/** Whether the settings turn bundled hooks on; false: only `explicit` does. */
	bundledHooks: boolean;
	/** Whether a file of `explicit` that cannot be used is an error. */
	requireNamed: boolean;
	/** Whether the project's code runs; undefined: if the user trusts it. */
	trust: boolean | undefined;
	ask: ((set: ProjectSet) => Promise<TrustAnswer>) | undefined;
	/** The files that define MCP servers; receives what the user decides on those of the project. */
	mcp: McpFiles;
	/** Watches tool files while they load. */
	watch: HandlerWatch | undefined;
	/** The session that started this one: it decides which code of the project runs. */
	parent: { readonly acceptedCode: AcceptedCode | null; readonly acceptedPackages: AcceptedPackages | null } | null;
}

/** The hooks and tools of a session that may run. */
export interface SessionCode {
	tools: SessionTools;
	/** Decides about the project's code and about packages. */
	trust: CommandTrust;
	/** The project's code that may run. */
	readonly accepted: AcceptedCode | null;
	/** The files of packages that may be used; null before they were found, and without packages. */
	readonly packages: AcceptedPackages | null;
	/** Finds the hooks, at the start and at each reload. Loads the project's tools along with its hooks. */
	findHooks(): Promise<FoundHooks>;
	/** The hook file at a path of the user's settings, which needs no trust. */
	locateHook(path: string): DiscoveredHooks;
	/** Loads the user's own tools again. A file that is broken now keeps its tools. @returns a line for each problem */
	rereadTools(): Promise<string[]>;
	/** True if the files of hooks and tools differ from those that `findHooks` found last. */
	hasChanged(): boolean;
	/** Problems so far, one line each. */
	warnings: string[];
}

/**
 * Loads the user's own tools. The project's code is not read before `findHooks`.
 * @throws PiError `tool_unknown`; `bad_arguments` for a named tool file that cannot be used, if that is required
 */
export async function findSessionCode(options: SessionCodeOptions): Promise<SessionCode> {
	const { paths, builtinTools, extraTools, toolNames, ask, parent } = options;
	const found = findTools(options, false);
	const { tools: own, errors } = await load(found.files, options);
	const refused = [...found.errors, ...errors].find(({ code }) => code === "bad_arguments");
	if (refused && options.requireNamed) throw refused;
	const tools = new SessionTools({
		builtins: builtinTools,
		own,
		names: toolNames,
		extra: extraTools,
		expectsMore:
			findProjectTools(options).length > 0 || mayRegisterTools(options) || hasPackages(options) || options.mcp.exist,
		mayJoin: (name) => options.mcp.exist && name.includes("_"),
	});
	const project = new ProjectGate({
		cwd: paths.cwd,
		agentDir: paths.agentDir,
		copyDir: options.copyDir,
		servers: { env: options.env, home: paths.home },
		trust: options.trust,
		...(ask ? { ask } : {}),
		...(parent ? { inherited: () => parent.acceptedCode } : {}),
	});
	const packages = new Packages(options);
	let seen = "";
	return {
		tools,
		trust: {
			async describe() {
				const gate = await packages.gate();
				return [...(await project.describe()), ...(gate ? await gate.describe() : [])];
			},
			askAgain() {
				project.askAgain();
				packages.loaded?.askAgain();
			},
			async forget() {
				const found = await project.forget();
				return ((await (await packages.gate())?.forget()) ?? false) || found;
			},
		},
		get accepted() {
			return project.accepted;
		},
		get packages() {
			return packages.loaded?.accepted ?? null;
		},
		findHooks: async () => {
			seen = describeCode(options);
			return findHooks(options, project, packages, tools);
		},
		locateHook: (path) =>
			discoverHooks({
				...searchPaths(options),
				...{ globalDir: "", projectDir: "", configured: [path], explicit: [], discovery: true },
			}),
		async rereadTools() {
			const found = findTools(options, false);
			const loaded = await load(found.files, options);
			const warnings = tools.useOwn(options.builtinTools, keepGood(tools.custom, loaded));
			return [...[...found.errors, ...loaded.errors].map(describeError), ...warnings];
		},
		hasChanged: () => seen !== describeCode(options),
		warnings: [...[...found.errors, ...errors].map(describeError), ...tools.warnings],
	};
}

/** True if files of hooks exist that may add models, and that the session may load. */
export function expectsHooks(options: SessionCodeOptions): boolean {
	return hasPackages(options) || discoverHooks(hookSearchPaths(options, true)).files.some(isChosen);
}

/** The gate of packages, whose code is loaded once a package is configured. */
class Packages {
	loaded: PackageGate | null = null;

	constructor(private readonly options: SessionCodeOptions) {}

	/** Null without packages. */
	async gate(): Promise<PackageGate | null> {
		if (this.loaded || !hasPackages(this.options)) return this.loaded;
		const { PackageGate } = await import("./package-code.js");
		const { paths, copyDir, trust, ask, store, env, explicit, discoverHooks: discovery, parent } = this.options;
		this.loaded = new PackageGate({
			...{ paths, copyDir, trust, env, discovery },
			settings: store,
			run: explicit.packages,
			...(ask ? { ask } : {}),
			...(parent ? { inherited: () => parent.acceptedPackages } : {}),
		});
		return this.loaded;
	}
}

/** True if a package is configured, also one that is not installed. */
function hasPackages({ settings, explicit, discoverHooks: discovery }: SessionCodeOptions): boolean {
	return explicit.packages.length > 0 || (discovery && settings.packages.length > 0);
}

/**
 * Finds the user's own hooks first: the questions about packages and about the project's code follow once they run.
 * `next` throws PiError `package_untrusted` if nobody can be asked about a package.
 */
function findHooks(
	options: SessionCodeOptions,
	trust: ProjectGate,
	packages: Packages,
	tools: SessionTools,
): FoundHooks {
	const { files, errors } = discoverHooks(hookSearchPaths(options, true));
	const isFirst = ({ scope }: HookFile) => scope === "bundled" || scope === "global";
	return {
		files: files.filter(isFirst),
		errors,
		async next() {
			const problems: PiError[] = [];
			const onWarning = (line: string) => problems.push(new PiError("hook_load_failed", line));
			const gate = await packages.gate();
			const ofPackages = await gate?.accept((line, isRequired) => {
				problems.push(new PiError(isRequired ? "package_unloaded" : "hook_load_failed", line));
			});
			if (ofPackages) for (const line of await options.usePackages(ofPackages)) onWarning(line);
			const toolFiles = findProjectTools(options);
			const isAsked =
				options.mcp.projectFiles.length > 0 ||
				toolFiles.length > 0 ||
				files.some(({ scope }) => scope === "project") ||
				needsTrust(options.paths.project.dir);
			const accepted = isAsked ? await trust.accept(onWarning) : null;
			await options.mcp.useProject(accepted);
			// A file that the user also names explicitly runs even if the project is not trusted.
			const allowed = accepted ? files : discoverHooks(hookSearchPaths(options, false)).files;
			const projectTools = accepted ? withCopies(toolFiles, accepted, onWarning) : [];
			const loaded = await load([...(ofPackages?.tools ?? []), ...projectTools], options);
			problems.push(...loaded.errors);
			for (const line of tools.useProject(keepGood(accepted ? tools.custom : [], loaded))) onWarning(line);
			const rest = allowed.filter((file) => !isFirst(file));
			const found = [...(ofPackages?.hooks ?? []), ...withCopies(rest, accepted, onWarning)];
			return { files: withoutNamedCopies(found), errors: problems };
		},
	};
}

/**
 * Leaves out hooks of the command line that are copies of others: an extension that starts another pi names its own file with
 * `--extension`, which is the copy that pi loads anyway.
 */
function withoutNamedCopies(files: readonly HookFile[]): HookFile[] {
	// The directory of the copies may be reached through a link; the paths of the command line are resolved.
	const copied = files.filter(({ scope }) => scope === "package" || scope === "project");
	const known = new Set(copied.map(({ realPath }) => realpathSync(realPath)));
	return files.filter(({ scope, realPath }) => scope !== "flag" || !known.has(realPath));
}

/** True if a hook other than the default ones is found: only when it runs are the names of its tools known. */
function mayRegisterTools(options: SessionCodeOptions): boolean {
	const { files } = discoverHooks(hookSearchPaths(options, true));
	return files.some(({ path }) => findBundled(path)?.isDefault !== true);
}

type LoadedTools = Awaited<ReturnType<typeof load>>;

/** The loaded tools, and those of before whose file did not load. */
function keepGood(before: readonly CustomTool[], { tools, errors }: LoadedTools): CustomTool[] {
	const isBroken = ({ path }: HookFile) => errors.some(({ message }) => message.startsWith(`Tool ${path}`));
	return [...tools, ...before.filter(({ file }) => isBroken(file))];
}

/** The versions of all files of hooks, tools and MCP servers, without what they import. */
function describeCode(options: SessionCodeOptions): string {
	const files = [...discoverHooks(hookSearchPaths(options, true)).files, ...findTools(options, true).files];
	const { packagesLock, project } = options.paths;
	const paths = [...files.map(({ realPath }) => realPath), ...options.mcp.paths, packagesLock, project.packagesLock];
	const versions = paths.map((path) => `${path} ${versionOf(path)}`);
	return [...versions, JSON.stringify(options.settings.packages)].join("\n");
}

function versionOf(path: string): string {
	const stats = statSync(path, { bigint: true, throwIfNoEntry: false });
	return stats ? `${stats.ino} ${stats.size} ${stats.mtimeNs}` : "";
}

function load(
	files: readonly HookFile[],
	{ paths, settings, watch }: SessionCodeOptions,
): ReturnType<typeof loadTools> {
	const { hookCache: cacheDir, cwd } = paths;
	return loadTools(files, { cacheDir, timeoutMs: settings.hookTimeout, cwd, ...(watch ? { watch } : {}) });
}

function findTools(options: SessionCodeOptions, withProject: boolean): ReturnType<typeof discoverTools> {
	const { paths, settings, explicit } = options;
	return discoverTools({
		...searchPaths(options),
		globalDir: paths.tools,
		projectDir: withProject ? paths.project.tools : "",
		configured: settings.customTools,
		explicit: explicit.tools,
		discovery: true,
	});
}

function hookSearchPaths(options: SessionCodeOptions, withProject: boolean): DiscoverOptions {
	const { paths, settings, explicit } = options;
	return {
		...searchPaths(options),
		globalDir: paths.hooks,
		projectDir: withProject ? paths.project.hooks : "",
		configured: settings.hooks,
		explicit: explicit.hooks,
		extensions: {
			globalDir: paths.extensions,
			projectDir: withProject ? paths.project.extensions : "",
			explicit: explicit.extensions,
		},
		discovery: options.discoverHooks,
		bundled: options.bundledHooks,
	};
}

function searchPaths({ paths }: SessionCodeOptions): Pick<DiscoverOptions, "cwd" | "homeDir" | "settingsDir"> {
	return { cwd: paths.cwd, homeDir: paths.home, settingsDir: paths.agentDir };
}

/** Tool files of the project that the user did not also name explicitly. */
function findProjectTools(options: SessionCodeOptions): HookFile[] {
	const own = new Set(findTools(options, false).files.map(({ realPath }) => realPath));
	return findTools(options, true).files.filter(({ scope, realPath }) => scope === "project" && !own.has(realPath));
}

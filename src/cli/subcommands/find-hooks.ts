import { readFileSync } from "node:fs";
import { basename, join, relative } from "node:path";
import { resolveUserPath } from "../../config/paths.js";
import { SettingsStore } from "../../config/settings-store.js";
import { describeError, PiError } from "../../errors.js";
import { bundledPath, findBundled } from "../../hooks/bundled-words.js";
import { discoverHooks, type HookFile, isChosen } from "../../hooks/discover.js";
import { grantedHandles, type HostHandleName } from "../../hooks/granted-handles.js";
import { hookName } from "../../hooks/hook-name.js";
import type { LoadedHook } from "../../hooks/hook-registry.js";
import { type LoadHooksOptions, type LoadHooksResult, loadHooks } from "../../hooks/load.js";
import { isRemoteSource, shortName } from "../../packages/source.js";
import { adaptExtension } from "../../session/hooks/adapt-extension.js";
import { copyProjectCode } from "../../trust/copies.js";
import { findProjectSet, isTrusted, loadTrust, type TrustState } from "../../trust/store.js";
import { statOrNull } from "../../util/fs.js";
import type { SubcommandOptions } from "../options.js";
import type { Location } from "./location.js";

/** A hook file and whether it may run. */
export interface FoundHook extends HookFile {
	/** `own`: a file of the user, which needs no trust. */
	trust: "own" | TrustState;
	/** False for project hooks unless all code of the project is trusted. */
	mayRun: boolean;
}

/** The hooks that a session at this location would discover. */
export interface FoundHooks {
	hooks: FoundHook[];
	/** One for each hook that may run. */
	attempts: LoadAttempt[];
	/** Paths of hooks that may not run. */
	untrusted: string[];
	/** Directories and files that cannot be read, one line each. */
	problems: string[];
}

/**
 * Finds the hook that a command names. A word is the name of a hook of the user, of pi or of the project if that is trusted, and
 * then that of a file with an ending, such as `notes.ts`; all other files need a path, such as `./notes`.
 * @throws PiError `hook_load_failed` when it does not exist or is not trusted
 */
export async function findHookFile(target: string, location: Location): Promise<HookFile> {
	if (isPath(target)) return findFile(target, location);
	const found = discover(location, { hooks: [], findHooks: true }).files;
	const isNamed = ({ name, path }: HookFile) => name === target || basename(path) === target;
	const own = found.find((file) => isNamed(file) && file.scope !== "project");
	if (own) return own;
	const bundled = findBundled(target) ?? findBundled(bundledPath(target));
	if (bundled) return findFile(bundledPath(bundled.name), location);
	if (SOURCE.test(target)) return findFile(target, location);
	const ofProject = found.find(isNamed);
	if (ofProject) return trustedHook(target, ofProject, location);
	const exists = statOrNull(join(location.paths.cwd, target)) !== null;
	throw new PiError("hook_load_failed", `There is no hook ${target}`, {
		hint: exists ? `use ./${target} for the file of this directory` : "pi hooks list shows all",
	});
}

const SOURCE = /\.[cm]?[jt]s$/;

function isPath(target: string): boolean {
	return /[\\/]/.test(target) || target.startsWith("~") || target.startsWith(".");
}

/** @throws PiError `hook_load_failed` */
function findFile(target: string, location: Location): HookFile {
	const isExtension = looksLikeExtension(resolveUserPath(target, location.paths.cwd, location.paths.home));
	const given = isExtension ? { hooks: [], extensions: [target] } : { hooks: [target] };
	const { files, errors } = discover(location, { ...given, findHooks: false });
	const [file] = files;
	if (!file) throw errors[0] ?? new PiError("hook_load_failed", `Hook ${target} does not exist`);
	return file;
}

/** @throws PiError `hook_load_failed` if the code of the project is not trusted */
async function trustedHook(target: string, file: HookFile, location: Location): Promise<HookFile> {
	const { hooks } = await findProjectHooks([file], location);
	const [hook] = hooks;
	if (hook?.mayRun) return hook;
	const path = relative(location.paths.cwd, file.path);
	throw new PiError("hook_load_failed", `Hook ${target} of this project is not trusted`, {
		hint: `pi hooks trust, or name its file: ./${path}`,
	});
}

/** What only extensions contain: the names of their API, its packages, and calls of its members. A compiled file has no types. */
const EXTENSION_SOURCE =
	/\bExtension(?:API|Factory)\b|["']@earendil-works\/pi-|\.register(?:Tool|Command|Shortcut|Flag|Provider|MessageRenderer|EntryRenderer)\(|\.on\(\s*["'](?:session_(?:start|shutdown)|before_agent_start)["']/;

/** True for a file in a directory `extensions`, or whose source is that of an extension. */
function looksLikeExtension(path: string): boolean {
	if (/[\\/]extensions[\\/](?:[^\\/]+|[^\\/]+[\\/]index\.[jt]s)$/.test(path)) return true;
	try {
		return EXTENSION_SOURCE.test(readFileSync(path, "utf8"));
	} catch {
		return false; // a directory, or a name
	}
}

/** The hook files of a location. */
export function discover(
	{ paths, settings }: Pick<Location, "paths" | "settings">,
	{ hooks, findHooks, extensions }: Pick<SubcommandOptions, "hooks" | "findHooks" | "extensions">,
) {
	return discoverHooks({
		globalDir: paths.hooks,
		projectDir: paths.project.hooks,
		cwd: paths.cwd,
		homeDir: paths.home,
		extensions: {
			globalDir: paths.extensions,
			projectDir: paths.project.extensions,
			explicit: (extensions ?? []).filter((value) => !isRemoteSource(value)),
		},
		configured: settings.hooks,
		settingsDir: paths.agentDir,
		explicit: hooks,
		discovery: findHooks,
		bundled: findHooks,
	});
}

/** Discovers hooks as a session would, and loads those that may run. */
export async function findHooks(
	location: Location,
	options: Pick<SubcommandOptions, "hooks" | "findHooks" | "extensions">,
): Promise<FoundHooks> {
	const { files, errors } = discover(location, options);
	const problems = errors.map(describeError);
	for (const source of options.extensions ?? [])
		if (isRemoteSource(source)) problems.push(`${source} is not loaded: install the package, or name a file of it`);
	const hasPackages = options.findHooks && location.settings.packages.length > 0;
	const ofPackages = hasPackages ? await findPackageHooks(location, problems) : [];
	const { hooks, warning } = await findProjectHooks(files, location);
	if (warning !== undefined) problems.push(warning);
	const isFirst = ({ scope }: HookFile) => scope === "bundled" || scope === "global";
	hooks.splice(hooks.findLastIndex(isFirst) + 1, 0, ...ofPackages);
	const attempts = await tryHooks(
		hooks.filter(({ mayRun }) => mayRun),
		location,
	);
	return { hooks, attempts, untrusted: hooks.filter(({ mayRun }) => !mayRun).map(({ path }) => path), problems };
}

/**
 * Finds a hook of an installed package by a word such as `pi-squeeze:squeeze`.
 * @returns null if the word has another form or names no package
 * @throws PiError `hook_load_failed` if the package is not trusted or has no such hook
 */
export async function findPackageHook(target: string, location: Location): Promise<HookFile | null> {
	const [, short = "", name] = /^([^:/\\]+):([^:/\\]+)$/.exec(target) ?? [];
	if (name === undefined || short === "pi") return null;
	const { findPackageStates } = await import("./list-packages.js");
	const states = await findPackageStates(location);
	const state = states.find(({ configured }) => configured && shortName(configured.source) === short);
	if (!state) return null;
	const problems: string[] = state.problem === null ? [] : [state.problem];
	const { configured, loaded } = state;
	// As the paths of the hooks of packages begin.
	const base = configured?.source.kind === "path" ? loaded?.content.root : configured?.name;
	const hooks = (await findPackageHooks(location, problems)).filter(({ path }) => path.startsWith(`${base}/`));
	const found = hooks.find((hook) => hookName(hook.path) === name);
	if (found) return found;
	const reason = problems.find((line) => configured && line.includes(configured.name));
	throw new PiError("hook_load_failed", `There is no hook ${target}`, {
		hint:
			reason ?? `the package has ${hooks.map((hook) => `${short}:${hookName(hook.path)}`).join(", ") || "no hooks"}`,
	});
}

/** Whether each file may run. A hook of the project runs from a copy of what was trusted, even if it has changed since. */
async function findProjectHooks(
	files: readonly HookFile[],
	{ paths, env, trust }: Location,
): Promise<{ hooks: FoundHook[]; warning?: string }> {
	const store = loadTrust(paths.agentDir);
	const project = files.some(({ scope }) => scope === "project")
		? await findProjectSet(paths.cwd, store, { env, home: paths.home })
		: null;
	const mayRunProject = trust || (project !== null && isTrusted(project));
	const copies = project && mayRunProject ? copyProjectCode(project, join(paths.agentDir, "cache", "project")) : null;
	const hooks = files.map((file): FoundHook => {
		if (file.scope !== "project") return { ...file, trust: "own", mayRun: true };
		const known = project?.files.find(({ realPath }) => realPath === file.realPath);
		const copy = copies?.get(file.realPath);
		return { ...file, realPath: copy ?? file.realPath, trust: known?.state ?? "new", mayRun: copy !== undefined };
	});
	return { hooks, ...(store.warning && project ? { warning: store.warning } : {}) };
}

/** The hooks of packages that the user trusts. */
async function findPackageHooks({ paths, env, trust }: Location, problems: string[]): Promise<FoundHook[]> {
	const { PackageGate } = await import("../../services/code/package-code.js");
	const gate = new PackageGate({
		...{ paths, env, run: [], discovery: true, skipsUntrusted: true },
		settings: new SettingsStore(paths),
		copyDir: paths.projectCache,
		trust: trust || undefined,
	});
	const { hooks } = await gate.accept((line) => problems.push(line));
	return hooks.map((file) => ({ ...file, trust: "trusted", mayRun: true }));
}

/**
 * Loads the hooks of a location outside of a session, unless none of them is a choice of the user.
 * @returns `notices`: a line for each hook that did not load or may not run
 */
export async function loadChosenHooks(
	location: Location,
	options: Pick<SubcommandOptions, "hooks" | "findHooks" | "extensions">,
): Promise<{ hooks: LoadedHook[]; notices: string[] }> {
	const hasPackages = options.findHooks && location.settings.packages.length > 0;
	if (!hasPackages && !discover(location, options).files.some(isChosen)) return { hooks: [], notices: [] };
	const { attempts, untrusted, problems } = await findHooks(location, options);
	const hooks = attempts.flatMap(({ hook }) => hook ?? []);
	const failures = attempts.flatMap(({ error }) => error ?? []);
	return {
		hooks,
		notices: [...problems, ...failures, ...untrusted.map((path) => `${path} is not trusted, so it is not loaded`)],
	};
}

/** The handles that the user's settings grant to a hook. */
function grantsOf({ settings, paths }: Location): (file: HookFile) => readonly HostHandleName[] {
	return (file) =>
		grantedHandles(settings.hookGrants, file, (path) => resolveUserPath(path, paths.agentDir, paths.home));
}

/** A loaded hook, or the reason why it failed to load. */
export interface LoadAttempt {
	file: HookFile;
	hook: LoadedHook | null;
	/** Path, line and reason; null when the hook loaded. */
	error: string | null;
}

/** Loads hook files with the loader of sessions. @param send receives the prompts that they send */
export async function loadHooksAt(
	location: Location,
	files: readonly HookFile[],
	send: LoadHooksOptions["send"],
): Promise<LoadHooksResult> {
	const { paths, settings, watch } = location;
	const loaded = await loadHooks(files, {
		cacheDir: paths.hookCache,
		adaptExtension,
		timeoutMs: settings.hookTimeout,
		send,
		grants: grantsOf(location),
		...(watch && { watch }),
	});
	watch?.addLoaded(loaded.hooks);
	return loaded;
}

/** Loads hook files with the loader of sessions, one after another. Prompts they send are dropped. */
export async function tryHooks(files: readonly HookFile[], location: Location): Promise<LoadAttempt[]> {
	const attempts: LoadAttempt[] = [];
	for (const file of files) {
		const { hooks, failures } = await loadHooksAt(location, [file], () => {});
		attempts.push({ file, hook: hooks[0] ?? null, error: failures[0] ? describeError(failures[0].error) : null });
	}
	return attempts;
}

import { readdirSync, readFileSync, realpathSync, type Stats, statSync } from "node:fs";
import { dirname, isAbsolute, join, resolve } from "node:path";
import { PiError } from "../errors.js";
import { findForeignWriter } from "../util/foreign-writers.js";
import { bundledFile, bundledPath, findBundled, isBundledWord, presentWord, selectBundled } from "./bundled-words.js";
import { hookName } from "./hook-name.js";

/**
 * Where a hook was found; also the order in which hooks load and run. Those of pi are not files of the user: a `builtin`
 * one belongs to a feature, a `bundled` one is an example that the user can turn on and off. One of a `package` runs after
 * the user's own. An `inline` one is a function of the program that uses the SDK; it runs among those of `flag`, in the
 * order in which the program lists them.
 */
export type HookScope = "builtin" | "bundled" | "global" | "package" | "project" | "settings" | "flag" | "inline";

/** A hook file that exists, a bundled hook or a function of the program. */
export interface HookFile {
	/** Absolute; links are not resolved. `pi:name` for a bundled hook, `inline:name` for a function, `npm:name/path` in a package. */
	path: string;
	realPath: string;
	scope: HookScope;
	/** File name without its extension, the folder's name for `<name>/index.ts`, or the name of the function. */
	name: string;
	/** The function of an `inline` hook. */
	factory?: InlineFactory;
	/** Written for the `ExtensionAPI`, see src/extensions. Absent: for the hook API. */
	kind?: "extension";
	/** In a package of the user: it may decide about tool calls, so that none runs without it. */
	isRequired?: true;
	/** The user or the program named it for this session. */
	isNamed?: true;
}

/** A function of the program as a hook: a `HookFactory`, whose type needs that of hook files. */
export type InlineFactory = (pi: never) => unknown;

/** Directories to search and files that are configured. */
export interface DiscoverOptions {
	/** `<agent directory>/hooks`. */
	globalDir: string;
	/** `<cwd>/.pi/hooks`. */
	projectDir: string;
	cwd: string;
	homeDir: string;
	/** `hooks` of the user's settings; relative paths are relative to `settingsDir`. */
	configured: readonly string[];
	settingsDir: string;
	/** `--hook` paths, relative to `cwd`, and functions of the program. */
	explicit: readonly (string | InlineFactory)[];
	/** Where extensions are. Absent: there are none. */
	extensions?: {
		/** `<agent directory>/extensions`. */
		globalDir: string;
		/** `<cwd>/.pi/extensions`. */
		projectDir: string;
		/** `--extension` paths, relative to `cwd`. */
		explicit: readonly string[];
	};
	/** False with `--no-hooks`: only explicit hooks. */
	discovery: boolean;
	/**
	 * Whether bundled hooks are on as `configured` says; false: only those that `explicit` names. Absent: the files are not
	 * hooks, and `pi:name` is a path like any other.
	 */
	bundled?: boolean;
}

/** The hook files found, and the errors of those that could not be read: `bad_arguments` for one that `explicit` names. */
export interface DiscoveredHooks {
	files: HookFile[];
	errors: PiError[];
}

/** True for a hook of the user, and for a bundled one that is on only because the user turned it on. */
export function isChosen({ scope, path }: HookFile): boolean {
	return scope !== "builtin" && !(scope === "bundled" && findBundled(path)?.isDefault === true);
}

/**
 * Hook files in load order: bundled, global, project, settings, `--hook`; by name in byte order within a directory. A file found
 * in several of them is listed once, at its first position.
 */
export function discoverHooks(options: DiscoverOptions): DiscoveredHooks {
	const files: HookFile[] = [];
	const errors: PiError[] = [];
	const found = new Map<string, HookFile>();
	const add = (path: string, scope: HookScope, kind?: HookFile["kind"]) => {
		const located = kind ? locateExtension(path) : [path];
		if (located.length === 0) throw new Error(`${path} has no extension`);
		for (const file of located) addFile({ ...locate(file, scope), ...(kind ? { kind } : {}) });
	};
	const addFile = (file: HookFile) => {
		const earlier = found.get(file.realPath);
		if (file.scope === "flag") (earlier ?? file).isNamed = true;
		if (earlier) return;
		found.set(file.realPath, file);
		files.push(file);
	};
	const addNamed = (path: string, base: string, scope: HookScope, kind?: HookFile["kind"]) => {
		const absolute = expand(path, base, options.homeDir);
		try {
			add(absolute, scope, kind);
		} catch (cause) {
			const code = scope === "flag" ? "bad_arguments" : "hook_load_failed";
			errors.push(new PiError(code, `Hook ${path} cannot be read`, { cause, hint: "check the path" }));
		}
	};
	const isPath = (path: string) => options.bundled === undefined || !isBundledWord(path);
	if (options.bundled !== undefined) {
		const configured = options.bundled ? options.configured : [];
		const named = options.explicit.filter(isText);
		errors.push(...selectBundled(configured, false).errors);
		for (const error of selectBundled(named, false).errors) {
			errors.push(new PiError("bad_arguments", error.message, error));
		}
		const { hooks, renamed } = selectBundled([...configured, ...named], options.bundled);
		errors.push(...renamed);
		for (const { name } of hooks) {
			const path = bundledPath(name);
			const isNamed = named.map(presentWord).includes(path) ? { isNamed: true as const } : {};
			files.push({ path, realPath: bundledFile(name), scope: "bundled", name, ...isNamed });
		}
	}
	if (options.discovery) {
		const addOwn = (dir: string, path: string, kind?: HookFile["kind"]) => {
			const located = kind ? locateExtension(path) : [path];
			const writer = located.map((file) => findForeignWriter(file, dirname(dir))).find((found) => found !== null);
			if (writer) {
				const message = `Hook ${path} was not loaded: ${writer.problem}`;
				errors.push(new PiError("hook_load_failed", message, { hint: writer.hint }));
			} else add(path, "global", kind);
		};
		const { extensions } = options;
		for (const path of listHookFiles(options.globalDir, errors)) addOwn(options.globalDir, path);
		if (extensions) {
			for (const path of listExtensions(extensions.globalDir, errors)) addOwn(extensions.globalDir, path, "extension");
		}
		for (const path of listHookFiles(options.projectDir, errors)) add(path, "project");
		if (extensions) {
			for (const path of listExtensions(extensions.projectDir, errors)) add(path, "project", "extension");
		}
		for (const path of options.configured.filter(isPath)) addNamed(path, options.settingsDir, "settings");
	}
	for (const hook of options.explicit) {
		if (typeof hook === "function") files.push(inlineHook(hook, files));
		else if (isPath(hook)) addNamed(hook, options.cwd, "flag");
	}
	for (const path of options.extensions?.explicit ?? []) addNamed(path, options.cwd, "flag", "extension");
	return { files, errors };
}

/** A function as a hook, with a name that no other inline hook has. */
function inlineHook(factory: InlineFactory, others: readonly HookFile[]): HookFile {
	const base = factory.name || "hook";
	const isTaken = (name: string) => others.some((file) => file.scope === "inline" && file.name === name);
	let name = base;
	for (let count = 2; isTaken(name); count++) name = `${base}-${count}`;
	const path = `inline:${name}`;
	return { path, realPath: path, scope: "inline", name, factory };
}

function isText(value: unknown): value is string {
	return typeof value === "string";
}

/** `*.ts` and `<name>/index.ts` of a directory, in byte order of their names; empty if it does not exist. */
function listHookFiles(dir: string, errors: PiError[] = []): string[] {
	return namesIn(dir, errors).flatMap((name) => {
		const path = join(dir, name);
		if (name.endsWith(".ts") && !name.endsWith(".d.ts")) return isFile(path) ? [path] : [];
		const index = join(path, "index.ts");
		return isFile(index) ? [index] : [];
	});
}

/** `*.ts`, `*.js` and directories of an extension in a directory, in byte order of their names. */
function listExtensions(dir: string, errors: PiError[]): string[] {
	return namesIn(dir, errors).flatMap((name) => {
		const path = join(dir, name);
		if (isFile(path)) return /\.[cm]?[jt]s$/.test(name) && !name.endsWith(".d.ts") ? [path] : [];
		return locateExtension(path);
	});
}

/** The files of an extension: itself, or what `pi.extensions` in the package.json of a directory names, or its index file. */
function locateExtension(path: string): string[] {
	if (stat(path)?.isDirectory() !== true) return [path];
	const named = readNamedExtensions(join(path, "package.json")).map((name) => join(path, name));
	const found = named.flatMap((file) => (isFile(file) ? [file] : INDEX_FILES.map((index) => join(file, index))));
	if (named.length > 0) return found.filter(isFile);
	return INDEX_FILES.map((index) => join(path, index))
		.filter(isFile)
		.slice(0, 1);
}

const INDEX_FILES = ["index.ts", "index.js"];

/** `pi.extensions` of a package.json: paths, of which globs are for packages to resolve. */
function readNamedExtensions(manifest: string): string[] {
	try {
		const { pi }: { pi?: { extensions?: unknown } } = JSON.parse(readFileSync(manifest, "utf8"));
		return Array.isArray(pi?.extensions) ? pi.extensions.filter(isText) : [];
	} catch {
		return []; // no package.json, or one that names nothing
	}
}

/** The names in a directory, in byte order; none if it does not exist. */
function namesIn(dir: string, errors: PiError[]): string[] {
	if (dir === "") return [];
	try {
		return readdirSync(dir).sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
	} catch (error) {
		const absent = error instanceof Error && "code" in error && (error.code === "ENOENT" || error.code === "ENOTDIR");
		if (!absent) errors.push(new PiError("hook_load_failed", `Hooks in ${dir} cannot be read`, { cause: error }));
		return [];
	}
}

function locate(path: string, scope: HookScope): HookFile {
	const stats = statSync(path);
	const file = stats.isDirectory() ? join(path, "index.ts") : path;
	if (!isFile(file)) throw new Error(`${file} is not a file`);
	return { path: file, realPath: realpathSync(file), scope, name: hookName(file) };
}

function expand(path: string, base: string, homeDir: string): string {
	if (path === "~" || path.startsWith("~/")) return join(homeDir, path.slice(1));
	return isAbsolute(path) ? path : resolve(base, path);
}

function isFile(path: string): boolean {
	return stat(path)?.isFile() === true;
}

function stat(path: string): Stats | null {
	try {
		return statSync(path);
	} catch {
		// Callers treat missing and unreadable alike; an error of a configured path is reported when it is opened.
		return null;
	}
}

import { readFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { errorText, inspectable, locate, PiError } from "../errors.js";
import { candidateNames } from "../trust/code-files.js";
import { scanImports } from "../trust/script-imports.js";
import { findForeignWriter } from "../util/foreign-writers.js";
import { statOrNull } from "../util/fs.js";
import { CompileCache } from "./compile-cache.js";
import { Compiler, createJiti } from "./compiler.js";
import { type Importer, loadSharedModules } from "./shared-modules.js";
import { SimpleModules } from "./simple-modules.js";
import type { SourceLocator } from "./source-locator.js";
import { copyRoot, type HookSource, positionOfError } from "./source-position.js";
import type { HandlerWatch } from "./watchdog.js";

/** A TypeScript file of a hook or tool. */
export interface ModuleFile {
	/** Path to show to the user. */
	path: string;
	/** Path of the compiled file: `path` with links resolved, or the trusted copy of a project's file. */
	realPath: string;
	/** Short name for messages. */
	name: string;
	/** Whose packages it imports: those of extensions, or those of hooks. */
	kind?: Importer;
	/** `global`: a file of the agent directory, which must import only what the user alone can change. */
	scope?: string;
}

/** Compiles and evaluates files of hooks and tools. */
export interface ModuleLoader {
	/** The default export of a file. @throws whatever compiling or evaluating it throws */
	loadDefault(file: ModuleFile): Promise<unknown>;
	/** Finds positions in the sources of a file and its imports. */
	locator(file: ModuleFile): SourceLocator | undefined;
}

/**
 * Creates a loader for these files. Packages that hooks and tools share with pi resolve to pi's own instances, wherever
 * the files are. Each loader evaluates files and their imports again, so that a reload picks up edits.
 * @param cacheDir for compiled files; made private (0700), and not used if that fails
 */
export async function createModuleLoader(files: readonly ModuleFile[], cacheDir: string): Promise<ModuleLoader> {
	const cache = new CompileCache(cacheDir);
	const simple = new Map<string, SimpleModules | null>();
	for (const { realPath, kind } of files) simple.set(realPath, SimpleModules.read(realPath, cache, kind));
	const others = files.filter(({ realPath }) => !simple.get(realPath));
	const jitis = new Map<string, Awaited<ReturnType<typeof loadWithJiti>>>();
	for (const group of new Set(others.map(groupOf))) {
		const own = others.filter((file) => groupOf(file) === group);
		const [{ kind, scope } = { kind: undefined }] = own;
		jitis.set(group, await loadWithJiti(own, cache, kind, scope === "global" ? checkWriters : undefined));
	}
	return {
		locator: (file) => simple.get(file.realPath) ?? jitis.get(groupOf(file))?.compiler,
		async loadDefault(file) {
			const modules = simple.get(file.realPath);
			if (file.scope === "global") for (const path of modules?.files ?? []) checkWriters(path);
			return modules ? modules.evaluateDefault() : jitis.get(groupOf(file))?.loadDefault(file.realPath);
		},
	};
}

/** Files that one jiti loads. */
function groupOf({ kind, scope }: ModuleFile): string {
	return `${kind ?? "hook"} ${scope === "global"}`;
}

/** @throws PiError `hook_load_failed` for a file that others can change */
function checkWriters(path: string): void {
	const writer = findForeignWriter(path, dirname(path));
	if (!writer) return;
	throw new PiError("hook_load_failed", `it imports ${path}, and ${writer.problem}`, { hint: writer.hint });
}

/** Prepares files for jiti, which can load everything, but takes longer to start than most hooks to load without it. */
async function loadWithJiti(
	files: readonly ModuleFile[],
	cache: CompileCache,
	importer: Importer,
	check?: (path: string) => void,
) {
	const compiler = new Compiler(cache);
	const virtualModules = await loadSharedModules(
		files.map(({ realPath }) => readSource(realPath)),
		importer,
	);
	const jiti = createJiti(compiler, virtualModules, { check });
	return {
		compiler,
		async loadDefault(path: string): Promise<unknown> {
			// Node loads the files that jiti does not compile.
			if (check) checkImports(path, check, new Set());
			return jiti.import<unknown>(path, { default: true });
		},
	};
}

/** Checks the files that relative imports name, directly or indirectly. */
function checkImports(path: string, check: (path: string) => void, seen: Set<string>): void {
	for (const specifier of scanImports(readSource(path)).relative) {
		for (const file of candidateNames(resolve(dirname(path), specifier))) {
			if (seen.has(file) || seen.size >= MAX_IMPORTS || statOrNull(file)?.isFile() !== true) continue;
			seen.add(file);
			check(file);
			checkImports(file, check, seen);
		}
	}
}

/** Maximum number of files of a hook that are checked before it loads; jiti checks all that it compiles. */
const MAX_IMPORTS = 1000;

/** Time limit and watchdog for loading a file. */
export interface LoadLimits {
	/** Limit for a factory, in ms. */
	timeoutMs: number;
	/** Detects files that block the event loop while they load. */
	watch?: HandlerWatch;
}

/** Minimum limit for the top level of a module, whatever `hookTimeout` is: its imports are compiled on first use. */
const MIN_MODULE_MS = 1000;

/**
 * Loads a file and passes its default export to `make`, both within their time limits.
 * @throws whatever the file and `make` throw; Error if one of them times out
 */
export async function loadWithin<T>(
	{ timeoutMs, watch }: LoadLimits,
	kind: "hook" | "tool",
	file: ModuleFile,
	loader: ModuleLoader,
	make: (exported: unknown) => Promise<T>,
): Promise<T> {
	watch?.add({ kind, path: file.path, realPath: file.realPath });
	const leave = watch?.enter(`${kind} ${file.path} while loading`, timeoutMs);
	try {
		const moduleMs = Math.max(timeoutMs, MIN_MODULE_MS);
		return await make(await withinTime(moduleMs, "its top level", loader.loadDefault(file)));
	} finally {
		leave?.();
	}
}

/**
 * Waits for a result for at most `timeoutMs`. The timer keeps Node alive, so that a timeout is always reported.
 * @param source names the origin of the result in the error
 * @throws Error on a timeout, else whatever rejects `made`
 */
export async function withinTime<T>(timeoutMs: number, source: string, made: T | Promise<T>): Promise<T> {
	let timer: NodeJS.Timeout | undefined;
	const late = new Promise<never>((_, reject) => {
		timer = setTimeout(() => reject(new Error(`${source} timed out after ${timeoutMs} ms`)), timeoutMs);
	});
	try {
		return await Promise.race([made, late]);
	} finally {
		clearTimeout(timer);
	}
}

/** The error for a file that failed to load, with path, position and reason; `bad_arguments` for one that was named. */
export function loadFailure(
	kind: "Hook" | "Tool",
	file: ModuleFile & HookSource & { isNamed?: true },
	thrown: unknown,
): PiError {
	const cause = inspectable(thrown);
	const { subject, at } = locate({ hookPath: file.path, ...positionOfError(cause, file) }, file.path);
	const reason = cause instanceof PiError && cause.hint ? `${cause.message} (${cause.hint})` : errorText(cause);
	const short = shorten(reason, file);
	// describeError appends a cause that the message does not contain: with a shortened one that would be a repetition.
	const isComplete = short.includes(errorText(cause));
	const code = file.isNamed ? "bad_arguments" : "hook_load_failed";
	return new PiError(code, `${kind} ${subject} did not load${at}: ${short}`, isComplete ? { cause } : {});
}

function readSource(path: string): string {
	try {
		return readFileSync(path, "utf8");
	} catch {
		return ""; // the import reports the error
	}
}

/** Removes repeated paths and the `Require stack` of a reason, and truncates it to 300 characters. */
function shorten(reason: string, file: ModuleFile): string {
	const inProject = reason.replaceAll(file.realPath, file.name).replaceAll(copyRoot(file), "");
	const text = inProject.split(" Require stack:")[0] ?? inProject;
	return text.length > 300 ? `${text.slice(0, 300)} …` : text;
}

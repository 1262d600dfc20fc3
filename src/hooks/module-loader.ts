import { readFileSync } from "node:fs";
import { errorText, inspectable, locate, PiError } from "../errors.js";
import { CompileCache } from "./compile-cache.js";
import { Compiler, createJiti } from "./compiler.js";
import { type Importer, loadHostModules } from "./host-modules.js";
import { SimpleModules } from "./simple-modules.js";
import type { SourceLocator } from "./source-locator.js";
import { copyRoot, type HookSource, placeOfError, SYNTAX_ERROR } from "./source-place.js";
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
	for (const { realPath, kind } of files) simple.set(realPath, await SimpleModules.read(realPath, cache, kind));
	const others = files.filter(({ realPath }) => !simple.get(realPath));
	const jitis = new Map<Importer, Awaited<ReturnType<typeof loadWithJiti>>>();
	for (const importer of new Set(others.map(({ kind }) => kind))) {
		const own = others.filter(({ kind }) => kind === importer);
		jitis.set(importer, await loadWithJiti(own, cache, importer));
	}
	return {
		locator: ({ realPath, kind }) => simple.get(realPath) ?? jitis.get(kind)?.compiler,
		async loadDefault({ realPath, kind }) {
			const modules = simple.get(realPath);
			return modules ? modules.evaluateDefault() : jitis.get(kind)?.loadDefault(realPath);
		},
	};
}

/** Prepares files for jiti, which can load everything, but takes longer to start than most hooks to load without it. */
async function loadWithJiti(files: readonly ModuleFile[], cache: CompileCache, importer: Importer) {
	const sources = files.map(({ realPath }) => ({ filename: realPath, source: readSource(realPath) }));
	const compiler = new Compiler(cache);
	const [virtualModules] = await Promise.all([
		loadHostModules(
			sources.map(({ source }) => source),
			importer,
		),
		compiler.prepare(sources),
	]);
	const jiti = createJiti({ virtualModules, transform: (options) => ({ code: compiler.compile(options) }) });
	return { compiler, loadDefault: (path: string) => jiti.import<unknown>(path, { default: true }) };
}

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

/** The error for a file that failed to load, with path, position and reason. */
export function loadFailure(kind: "Hook" | "Tool", file: ModuleFile & HookSource, thrown: unknown): PiError {
	const cause = inspectable(thrown);
	const { subject, at } = locate({ hookPath: file.path, ...placeOfError(cause, file) }, file.path);
	const reason = cause instanceof PiError && cause.hint ? `${cause.message} (${cause.hint})` : errorText(cause);
	const short = shorten(reason, file);
	// describeError appends a cause that the message does not contain: with a shortened one that would be a repetition.
	const isComplete = short.includes(errorText(cause));
	return new PiError("hook_load_failed", `${kind} ${subject} did not load${at}: ${short}`, isComplete ? { cause } : {});
}

function readSource(path: string): string {
	try {
		return readFileSync(path, "utf8");
	} catch {
		return ""; // the import reports the error
	}
}

/** The position at the end of a syntax error, which the place of the error repeats. */
const SYNTAX_POSITION = new RegExp(`^(${SYNTAX_ERROR}.*?) \\S+:\\d+:\\d+$`);

/** Removes repeated paths and the `Require stack` of a reason, and truncates it to 300 characters. */
function shorten(reason: string, file: ModuleFile): string {
	const inProject = reason.replaceAll(file.realPath, file.name).replaceAll(copyRoot(file), "");
	const text = (inProject.split(" Require stack:")[0] ?? inProject).replace(SYNTAX_POSITION, "$1");
	return text.length > 300 ? `${text.slice(0, 300)} …` : text;
}

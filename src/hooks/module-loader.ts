import { chmodSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { errorText, inspectable, PiError } from "../errors.js";
import { ensurePrivateDir } from "../util/fs.js";
import { loadHostModules } from "./host-modules.js";
import type { HandlerWatch } from "./watchdog.js";

/** A TypeScript file of a hook or tool. */
export interface ModuleFile {
	/** Path to show to the user. */
	path: string;
	/** Path of the compiled file: `path` with links resolved, or the trusted copy of a project's file. */
	realPath: string;
	/** Short name for messages. */
	name: string;
}

/** Compiles and evaluates files of hooks and tools. */
export interface ModuleLoader {
	/** The default export of a file. @throws whatever compiling or evaluating it throws */
	loadDefault(file: ModuleFile): Promise<unknown>;
}

/**
 * Creates a loader for these files. Packages that hooks and tools share with pi resolve to pi's own instances, wherever
 * the files are. Each loader evaluates files and their imports again, so that a reload picks up edits.
 * @param cacheDir for compiled files; made private (0700), and not used if that fails
 */
export async function createModuleLoader(files: readonly ModuleFile[], cacheDir: string): Promise<ModuleLoader> {
	const sources = files.map(({ realPath }) => readSource(realPath));
	const virtualModules = await loadHostModules(sources);
	// `require`, because `import` first scans all of jiti for its export names, which takes longer than running it.
	const { createJiti }: typeof import("jiti") = createRequire(import.meta.url)("jiti");
	const jiti = createJiti(import.meta.url, {
		moduleCache: false,
		fsCache: privateCache(cacheDir),
		tsconfigPaths: false,
		virtualModules,
	});
	return { loadDefault: (file) => jiti.import<unknown>(file.realPath, { default: true }) };
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

/** The error for a file that failed to load, with path, line and reason. */
export function loadFailure(kind: "Hook" | "Tool", file: ModuleFile, thrown: unknown): PiError {
	const cause = inspectable(thrown);
	const line = lineIn(cause, file);
	const where = line === null ? file.path : `${file.path}:${line}`;
	const reason = cause instanceof PiError && cause.hint ? `${cause.message} (${cause.hint})` : errorText(cause);
	const short = shorten(reason, file);
	// describeError appends a cause that the message does not contain: with a shortened one that would be a repetition.
	const isComplete = short.includes(errorText(cause));
	return new PiError("hook_load_failed", `${kind} ${where} did not load: ${short}`, isComplete ? { cause } : {});
}

/** A directory that only the user can write to, because jiti runs any cached file whose name and checksum match. */
function privateCache(dir: string): string | false {
	try {
		ensurePrivateDir(dir);
		chmodSync(dir, 0o700);
		return dir;
	} catch {
		return false; // owned by another user, or read-only: files are compiled each time
	}
}

function readSource(path: string): string {
	try {
		return readFileSync(path, "utf8");
	} catch {
		return ""; // the import reports the error
	}
}

/** The directory that holds the trusted copy of a project's file under its full path; empty for other files. */
function copyRoot({ path, realPath }: ModuleFile): string {
	return realPath.endsWith(path) ? realPath.slice(0, -path.length) : "";
}

/** The first line of a file that an error names, 1-based; null if it names none. */
export function lineIn(error: unknown, file: Pick<ModuleFile, "path" | "realPath">): number | null {
	// Lines of a bundled hook in the minified program mean nothing to a reader.
	if (!(error instanceof Error) || file.realPath.endsWith(".js")) return null;
	const text = `${error.message}\n${error.stack ?? ""}`;
	for (const path of [file.realPath, file.path]) {
		const at = text.indexOf(`${path}:`);
		const match = at < 0 ? null : /^:(\d+)/.exec(text.slice(at + path.length));
		if (match?.[1]) return Number(match[1]);
	}
	return null;
}

/** Removes repeated paths and the `Require stack` of a reason, and truncates it to 300 characters. */
function shorten(reason: string, file: ModuleFile): string {
	const inProject = reason.replaceAll(file.realPath, file.name).replaceAll(copyRoot(file), "");
	const text = inProject.split(" Require stack:")[0] ?? inProject;
	return text.length > 300 ? `${text.slice(0, 300)} …` : text;
}

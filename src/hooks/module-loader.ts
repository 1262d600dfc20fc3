import { chmodSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { errorText, inspectable, PiError } from "../errors.js";
import { ensurePrivateDir } from "../util/fs.js";
import { loadHostModules } from "./host-modules.js";
import type { HandlerWatch } from "./watchdog.js";

/** A TypeScript file that is run as part of the program. */
export interface ModuleFile {
	/** As the user knows it. */
	path: string;
	/** What is compiled: the file without links, or the accepted copy of a project's file. */
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
 * A loader for these files. Packages that hooks and tools share with the program resolve to the program's own instances,
 * wherever the files are. Each loader evaluates files and their imports anew, so that a reload sees edits.
 * @param cacheDir for compiled files; made private (0700), and not used where it cannot be
 */
export async function createModuleLoader(files: readonly ModuleFile[], cacheDir: string): Promise<ModuleLoader> {
	const sources = files.map(({ realPath }) => readSource(realPath));
	const virtualModules = await loadHostModules(sources);
	// Imported, all of jiti would first be searched for the names that it exports, which takes longer than running it.
	const { createJiti }: typeof import("jiti") = createRequire(import.meta.url)("jiti");
	const jiti = createJiti(import.meta.url, {
		moduleCache: false,
		fsCache: privateCache(cacheDir),
		tsconfigPaths: false,
		virtualModules,
	});
	return { loadDefault: (file) => jiti.import<unknown>(file.realPath, { default: true }) };
}

/** How a file is run as part of the program. */
export interface LoadLimits {
	/** ms that a factory may take. */
	timeoutMs: number;
	/** Watches over files while they are loaded. */
	watch?: HandlerWatch;
}

/** A module gets at least so many ms, whatever `hookTimeout` says: what it imports is compiled the first time. */
const MIN_MODULE_MS = 1000;

/**
 * Loads a file, then makes something of its default export. Neither may keep the program waiting, or from running.
 * @throws what the file and `make` throw; Error when one of them does not settle in time
 */
export async function loadWithin<T>(
	{ timeoutMs, watch }: LoadLimits,
	what: "hook" | "tool",
	file: ModuleFile,
	loader: ModuleLoader,
	make: (exported: unknown) => Promise<T>,
): Promise<T> {
	const leave = watch?.enter(`${what} ${file.path} at its load`, timeoutMs);
	try {
		const moduleMs = Math.max(timeoutMs, MIN_MODULE_MS);
		return await make(await withinTime(moduleMs, "its top level", loader.loadDefault(file)));
	} finally {
		leave?.();
	}
}

/**
 * What is made, waited for no longer than `timeoutMs`. The wait keeps the program alive: it is to end with a word.
 * @param what names what makes it
 * @throws also what making it throws
 */
export async function withinTime<T>(timeoutMs: number, what: string, made: T | Promise<T>): Promise<T> {
	let timer: NodeJS.Timeout | undefined;
	const late = new Promise<never>((_, reject) => {
		timer = setTimeout(() => reject(new Error(`${what} timed out after ${timeoutMs} ms`)), timeoutMs);
	});
	try {
		return await Promise.race([made, late]);
	} finally {
		clearTimeout(timer);
	}
}

/** Path, line and message of what went wrong when a file was loaded. */
export function loadFailure(what: "Hook" | "Tool", file: ModuleFile, thrown: unknown): PiError {
	const cause = inspectable(thrown);
	const line = cause instanceof Error ? lineIn(cause, file) : null;
	const where = line === null ? file.path : `${file.path}:${line}`;
	const reason = cause instanceof PiError && cause.hint ? `${cause.message} (${cause.hint})` : errorText(cause);
	const short = shorten(reason, file);
	// A cause that the message does not have word for word would be told a second time.
	const isWhole = short.includes(errorText(cause));
	return new PiError("hook_load_failed", `${what} ${where} did not load: ${short}`, isWhole ? { cause } : {});
}

/** Whoever can write there could plant code: what is compiled is told by a name and a checksum alone. */
function privateCache(dir: string): string | false {
	try {
		ensurePrivateDir(dir);
		chmodSync(dir, 0o700);
		return dir;
	} catch {
		return false; // another user's, or read-only: files are compiled each time
	}
}

function readSource(path: string): string {
	try {
		return readFileSync(path, "utf8");
	} catch {
		// The import reports it, with its reason.
		return "";
	}
}

/** The directory that a project's file was copied into, where it stands at its whole path; empty for other files. */
function copyRoot({ path, realPath }: ModuleFile): string {
	return realPath.endsWith(path) ? realPath.slice(0, -path.length) : "";
}

function lineIn(error: Error, file: ModuleFile): string | null {
	const text = `${error.message}\n${error.stack ?? ""}`;
	for (const path of [file.realPath, file.path]) {
		const at = text.indexOf(`${path}:`);
		const match = at < 0 ? null : /^:(\d+)/.exec(text.slice(at + path.length));
		if (match?.[1]) return match[1];
	}
	return null;
}

/** A parse error repeats the path and shows an excerpt: its first line without the path is enough. */
function shorten(reason: string, file: ModuleFile): string {
	const inProject = reason.replaceAll(file.realPath, file.name).replaceAll(copyRoot(file), "");
	const text = inProject.split(" Require stack:")[0] ?? inProject;
	return text.length > 300 ? `${text.slice(0, 300)} …` : text;
}

import { readFileSync } from "node:fs";
import { errorText, PiError } from "../errors.js";
import { loadHostModules } from "./host-modules.js";

/** A TypeScript file that is run as part of the program. */
export interface ModuleFile {
	/** As the user knows it. */
	path: string;
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
 * @param cacheDir a private directory (0700) for compiled files
 */
export async function createModuleLoader(files: readonly ModuleFile[], cacheDir: string): Promise<ModuleLoader> {
	const sources = files.map(({ realPath }) => readSource(realPath));
	const [{ createJiti }, virtualModules] = await Promise.all([import("jiti"), loadHostModules(sources)]);
	const jiti = createJiti(import.meta.url, {
		moduleCache: false,
		fsCache: cacheDir,
		tsconfigPaths: false,
		virtualModules,
	});
	return { loadDefault: (file) => jiti.import<unknown>(file.realPath, { default: true }) };
}

/** What a factory makes, waited for no longer than `timeoutMs`. @throws also what the factory throws */
export async function withinTime<T>(timeoutMs: number, made: T | Promise<T>): Promise<T> {
	let timer: NodeJS.Timeout | undefined;
	const late = new Promise<never>((_, reject) => {
		timer = setTimeout(() => reject(new Error(`its factory did not settle within ${timeoutMs} ms`)), timeoutMs);
		timer.unref();
	});
	try {
		return await Promise.race([made, late]);
	} finally {
		clearTimeout(timer);
	}
}

/** Path, line and message of what went wrong when a file was loaded. */
export function loadFailure(what: "Hook" | "Tool", file: ModuleFile, cause: unknown): PiError {
	const line = cause instanceof Error ? lineIn(cause, file) : null;
	const where = line === null ? file.path : `${file.path}:${line}`;
	const reason = cause instanceof PiError && cause.hint ? `${cause.message} (${cause.hint})` : errorText(cause);
	return new PiError("hook_load_failed", `${what} ${where} did not load: ${shorten(reason, file)}`, { cause });
}

function readSource(path: string): string {
	try {
		return readFileSync(path, "utf8");
	} catch {
		// The import reports it, with its reason.
		return "";
	}
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
	const text = reason.replaceAll(file.realPath, file.name).split(" Require stack:")[0] ?? reason;
	return text.length > 300 ? `${text.slice(0, 300)} …` : text;
}

import { createHash } from "node:crypto";
import { chmodSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire, SourceMap } from "node:module";
import { basename, join } from "node:path";
import type { Jiti, JitiOptions, TransformOptions } from "jiti";
import { ensurePrivateDir } from "../util/fs.js";
import type { compileFast } from "./fast-compile.js";
import type { Position, SourceLocator } from "./source-locator.js";

/** Change it when the same source compiles to something else. */
const CACHE_VERSION = 2;
/** The part of a compiled line before the code of the file: jiti puts the first line into the head of a function. */
const HEAD = "(async function (exports, require, module, __filename, __dirname, jitiImport, jitiESMResolve) { ";
const INLINE_MAP = /\n\/\/# sourceMappingURL=data:application\/json;[^,]*;base64,(\S+)\s*$/;

/** Compiles files of hooks and tools, and finds positions in their sources. */
export class Compiler implements SourceLocator {
	readonly #cacheDir: string | null;
	readonly #compiled = new Map<string, TransformOptions>();
	readonly #maps = new Map<string, SourceMap | null>();

	/** Compiles most files; null until a file is not in the cache. */
	#fast: typeof compileFast | null = null;

	/** @param cacheDir for compiled files; made private (0700), and not used if that fails */
	constructor(cacheDir: string) {
		this.#cacheDir = privateDir(cacheDir);
	}

	/** Loads the fast compiler if one of these files is not in the cache. */
	async prepare(files: readonly { filename: string; source: string }[]): Promise<void> {
		const isCached = (file: TransformOptions) => {
			const { path, mark } = this.#cached({ ...file, async: true });
			return path !== null && readIfPresent(path)?.endsWith(mark) === true;
		};
		if (!files.every(isCached)) this.#fast = (await import("./fast-compile.js")).compileFast;
	}

	/** Compiles a file, or takes it from the cache. */
	compile(options: TransformOptions): string {
		const { filename = "" } = options;
		this.#compiled.set(filename, options);
		this.#maps.delete(filename);
		const { path, mark } = this.#cached(options);
		const known = path && readIfPresent(path);
		if (known?.endsWith(mark)) return known;
		const fast = this.#fast?.(options);
		if (fast && path) writeIfPossible(`${path}.map`, JSON.stringify(fast.map) + mark);
		if (fast) this.#maps.set(filename, new SourceMap(fast.map));
		const code = fast?.code ?? transform(options, false);
		// jiti reports syntax errors in this form when it evaluates the code.
		if (path && !code.includes("__JITI_ERROR__")) writeIfPossible(path, code + mark);
		return code;
	}

	/** True for a file that was compiled here. */
	has(file: string): boolean {
		return this.#compiled.has(file);
	}

	/** The position in the source of a position in the compiled file. Compiles the file again, with a source map. */
	sourcePosition(file: string, position: Position): Position {
		const map = this.#map(file);
		if (!map) return position;
		const shift = position.line === 1 ? HEAD.length : 0;
		const found = map.findEntry(position.line - 1, Math.max(0, position.column - 1 - shift));
		if (!("originalLine" in found)) return position;
		return { line: found.originalLine + 1, column: found.originalColumn + 1 };
	}

	/** The map that the fast compiler wrote next to a cached file; null if Babel compiled it. */
	#readMap(options: TransformOptions): SourceMap | null {
		const { path, mark } = this.#cached(options);
		const text = path && readIfPresent(`${path}.map`);
		return text?.endsWith(mark) ? new SourceMap(JSON.parse(text.slice(0, -mark.length))) : null;
	}

	/** The cached file of a source, and the end that marks it as complete and current. */
	#cached({ filename = "", source, async: isAsync = false }: TransformOptions): { path: string | null; mark: string } {
		const name = `${basename(filename)}.${hash(filename)}${isAsync ? ".m" : ""}.js`;
		return {
			path: this.#cacheDir && join(this.#cacheDir, name),
			mark: `\n// ${hash(`${CACHE_VERSION} ${source}`)}\n`,
		};
	}

	#map(file: string): SourceMap | null {
		const known = this.#maps.get(file);
		if (known !== undefined) return known;
		const options = this.#compiled.get(file);
		const map = options ? (this.#readMap(options) ?? createSourceMap(options)) : null;
		this.#maps.set(file, map);
		return map;
	}
}

/** jiti. `require`, because `import` first scans all of jiti for its export names, which takes longer than running it. */
export function createJiti(options: JitiOptions, parent: string = import.meta.url) {
	const jiti: typeof import("jiti") = createRequire(import.meta.url)("jiti");
	return jiti.createJiti(parent, { moduleCache: false, fsCache: false, tsconfigPaths: false, ...options });
}

function createSourceMap(options: TransformOptions): SourceMap | null {
	const data = INLINE_MAP.exec(transform(options, true))?.[1];
	return data ? new SourceMap(JSON.parse(Buffer.from(data, "base64").toString())) : null;
}

/** Compilers by whether they add source maps. */
const babel = new Map<boolean, Jiti>();

/** Compiles with Babel. */
export function transform(options: TransformOptions, sourceMaps: boolean): string {
	// Without the Babel options of the loading jiti, which say nothing of source maps.
	const { babel: _babel, ...own } = options;
	const known = babel.get(sourceMaps) ?? createJiti({ sourceMaps });
	babel.set(sourceMaps, known);
	return known.transform(own);
}

function hash(text: string): string {
	return createHash("sha256").update(text).digest("hex").slice(0, 32);
}

/** A directory that only the user can write to, because pi runs any file in it that has the right name; else null. */
function privateDir(dir: string): string | null {
	try {
		ensurePrivateDir(dir);
		chmodSync(dir, 0o700);
		return dir;
	} catch {
		return null; // owned by another user, or read-only: files are compiled each time
	}
}

function readIfPresent(path: string): string | null {
	try {
		return readFileSync(path, "utf8");
	} catch {
		return null;
	}
}

function writeIfPossible(path: string, text: string): void {
	try {
		writeFileSync(path, text, { mode: 0o600 });
	} catch {
		// For example a full disk: the file is compiled again next time.
	}
}

import { createRequire, SourceMap } from "node:module";
import type { Jiti, JitiOptions, TransformOptions } from "jiti";
import type { CacheKey, CompileCache } from "./compile-cache.js";
import type { compileFast } from "./fast-compile.js";
import type { Position, SourceLocator } from "./source-locator.js";

/** The part of a compiled line before the code of the file: jiti puts the first line into the head of a function. */
const HEAD = "(async function (exports, require, module, __filename, __dirname, jitiImport, jitiESMResolve) { ";
const INLINE_MAP = /\n\/\/# sourceMappingURL=data:application\/json;[^,]*;base64,(\S+)\s*$/;

/** Compiles files of hooks and tools for jiti, and finds positions in their sources. */
export class Compiler implements SourceLocator {
	readonly #compiled = new Map<string, TransformOptions>();
	readonly #maps = new Map<string, SourceMap | null>();

	/** Compiles most files; null until a file is not in the cache. */
	#fast: typeof compileFast | null = null;

	constructor(private readonly cache: CompileCache) {}

	/** Loads the fast compiler if one of these files is not in the cache. */
	async prepare(files: readonly { filename: string; source: string }[]): Promise<void> {
		const isCached = (file: TransformOptions) => this.cache.read(cacheKey({ ...file, async: true })) !== null;
		if (!files.every(isCached)) this.#fast = (await import("./fast-compile.js")).compileFast;
	}

	/** Compiles a file, or takes it from the cache. */
	compile(options: TransformOptions): string {
		const { filename = "" } = options;
		this.#compiled.set(filename, options);
		this.#maps.delete(filename);
		const key = cacheKey(options);
		const known = this.cache.read(key);
		if (known !== null) return known;
		const fast = this.#fast?.(options);
		if (fast) {
			this.cache.write(mapKey(options), JSON.stringify(fast.map));
			this.#maps.set(filename, new SourceMap(fast.map));
		}
		const code = fast?.code ?? transform(options, false);
		// jiti reports syntax errors in this form when it evaluates the code.
		if (!code.includes("__JITI_ERROR__")) this.cache.write(key, code);
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
		const text = this.cache.read(mapKey(options));
		return text === null ? null : new SourceMap(JSON.parse(text));
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

function cacheKey({ filename = "", source, async: isAsync = false }: TransformOptions): CacheKey {
	return { filename, source, kind: isAsync ? ".m.js" : ".js" };
}

function mapKey({ filename = "", source, async: isAsync = false }: TransformOptions): CacheKey {
	return { filename, source, kind: isAsync ? ".m.js.map" : ".js.map" };
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

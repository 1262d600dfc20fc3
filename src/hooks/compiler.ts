import { createRequire } from "node:module";
import type { TransformOptions } from "jiti";
import type { CompileCache } from "./compile-cache.js";
import { type CompiledFile, compileFile, digestSources, sourcePosition } from "./compile-file.js";
import type { Position, SourceLocator } from "./source-locator.js";

/** Compiles files of hooks and tools for jiti, and finds positions in their sources. */
export class Compiler implements SourceLocator {
	readonly #compiled = new Map<string, CompiledFile>();

	constructor(private readonly cache?: CompileCache) {}

	/**
	 * Compiles a file, or takes it from the cache.
	 * @returns the body of a function with the parameters of jiti
	 * @throws CompileError for a syntax error
	 */
	compile({ filename = "", source, async: isAsync = false }: TransformOptions): string {
		const file = compileFile(filename, source, this.cache);
		this.#compiled.set(filename, file);
		return isAsync ? asyncModule(file) : syncModule(file);
	}

	/** True for a file that was compiled here. */
	has(file: string): boolean {
		return this.#compiled.has(file);
	}

	/** The position in the source of a position in the compiled file. */
	sourcePosition(file: string, position: Position): Position {
		const compiled = this.#compiled.get(file);
		return compiled ? sourcePosition(compiled, position) : position;
	}

	digest(file: string): string {
		const compiled = this.#compiled.get(file);
		return digestSources(compiled ? [compiled.source] : []);
	}
}

/** What compiled code needs of a module, made of what jiti provides: one line, in front of the code. */
const MODULE = `"use strict"; Object.defineProperty(exports, "__esModule", { value: true });
const __vite_ssr_exports__ = exports;
const __vite_ssr_exportAll__ = (other) => {
	for (const name of Object.keys(other)) {
		if (name === "default" || name === "__esModule" || Object.hasOwn(exports, name)) continue;
		Object.defineProperty(exports, name, { get: () => other[name], enumerable: true });
	}
};
const { env } = process;
const asModule = (value) => Object(value) === value ? value : { default: value };
const __vite_ssr_dynamic_import__ = async (name) => asModule(await jitiImport(name));
const __vite_ssr_import_meta__ = {
	get url() { return require("node:url").pathToFileURL(__filename).href; },
	filename: __filename,
	dirname: __dirname,
	env,
	resolve: jitiESMResolve,
};
`.replaceAll("\n", " ");

// The code is in a function of its own, where it may declare names such as `require` and `__dirname`.

function asyncModule({ code }: CompiledFile): string {
	return `${MODULE} const __vite_ssr_import__ = __vite_ssr_dynamic_import__; return (async () => {\n${code}\n})();`;
}

/** A module that a file requires, so that nobody waits for it. */
function syncModule({ code }: CompiledFile): string {
	// As many characters as before, so that positions stay the same.
	const waiting = code.replace(/\bawait (?=__vite_ssr_import__\()/g, "      ");
	return `${MODULE} const __vite_ssr_import__ = (name) => asModule(require(name)); (() => {\n${waiting}\n})();`;
}

interface LoaderOptions {
	/** Called with the path of each file before it is compiled. */
	check?: ((path: string) => void) | undefined;
	/** The path that imports start from. */
	parent?: string;
}

/** jiti. `require`, because `import` first scans all of jiti for its export names, which takes longer than running it. */
export function createJiti(compiler: Compiler, virtualModules: Record<string, unknown>, options: LoaderOptions = {}) {
	const { check, parent = import.meta.url } = options;
	const jiti: typeof import("jiti") = createRequire(import.meta.url)("jiti");
	return jiti.createJiti(parent, {
		...{ moduleCache: false, fsCache: false, tsconfigPaths: false, virtualModules },
		transform(file) {
			if (file.filename !== undefined) check?.(file.filename);
			return { code: compiler.compile(file) };
		},
	});
}

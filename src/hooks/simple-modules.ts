import { existsSync, readFileSync, realpathSync, statSync } from "node:fs";
import { isBuiltin, SourceMap, type SourceMapPayload } from "node:module";
import { dirname, extname, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { Script } from "node:vm";
import type { CacheKey, CompileCache } from "./compile-cache.js";
import type { CompiledModule } from "./compile-module.js";
import { type Importer, isHostModule, loadHostModule } from "./host-modules.js";
import type { Position, SourceLocator } from "./source-locator.js";

/** A compiled file. */
interface SimpleModule {
	path: string;
	code: string;
	start: StartModule;
	/** Relative specifiers and the paths of the files that they name. */
	files: ReadonlyMap<string, string>;
	maps(): SourceMapPayload[];
}

/** A module as a function. */
type StartModule = (
	exported: object,
	exportAll: (module: object) => void,
	load: (specifier: string) => Promise<object>,
	loadLater: (specifier: string) => Promise<object>,
	meta: { url: string; filename: string; dirname: string },
	filename: string,
	dirname: string,
) => Promise<void>;

/** The names of these parameters in the code of the compiler, which makes modules for Vite. */
const PARAMETERS =
	"__vite_ssr_exports__, __vite_ssr_exportAll__, __vite_ssr_import__, __vite_ssr_dynamic_import__, __vite_ssr_import_meta__, __filename, __dirname";

/** A module whose evaluation has begun. */
interface StartedModule {
	exported: object;
	done: Promise<void>;
}

/**
 * A file and the files that it imports, if they are TypeScript modules that need no packages but pi's. They run without
 * jiti, which takes longer to start than most hooks to load.
 */
export class SimpleModules implements SourceLocator {
	readonly #modules = new Map<string, SimpleModule>();

	private constructor(
		private readonly path: string,
		private readonly cache: CompileCache,
		private readonly importer: Importer,
	) {}

	/** Compiles a file and its imports, without evaluating them. @returns null if jiti has to load them */
	static async read(path: string, cache: CompileCache, importer?: Importer): Promise<SimpleModules | null> {
		const modules = new SimpleModules(path, cache, importer);
		return (await modules.#add(path, new Set())) ? modules : null;
	}

	/** Paths of all files. */
	get files(): Iterable<string> {
		return this.#modules.keys();
	}

	has(file: string): boolean {
		return this.#modules.has(file);
	}

	sourcePosition(file: string, position: Position): Position {
		const maps = this.#modules.get(file)?.maps() ?? [];
		// The code begins on the second line of the script.
		return maps.reduce(locate, { ...position, line: position.line - 1 });
	}

	/** Evaluates all files, each in a new instance. @returns the default export, or all exports without one */
	async evaluateDefault(): Promise<unknown> {
		const exported = await this.#evaluate(this.path, new Map(), new Set());
		return "default" in exported ? exported.default : exported;
	}

	/** @param importers files that wait for this one: in a cycle, an import does not wait for them */
	async #evaluate(path: string, started: Map<string, StartedModule>, importers: ReadonlySet<string>): Promise<object> {
		const module = started.get(path) ?? this.#start(path, started, importers);
		if (!importers.has(path)) await module.done;
		return module.exported;
	}

	#start(path: string, started: Map<string, StartedModule>, importers: ReadonlySet<string>): StartedModule {
		const module = this.#modules.get(path);
		if (!module) throw new Error(`${path} is not compiled`);
		const exported = Object.defineProperty({}, Symbol.toStringTag, { value: "Module" });
		const load = async (specifier: string, waiting: ReadonlySet<string>) => {
			const file = module.files.get(specifier);
			return file === undefined
				? loadPackage(specifier, this.importer, module.code)
				: this.#evaluate(file, started, waiting);
		};
		const exportAll = (other: object) => {
			for (const name of Object.keys(other)) {
				if (name === "default" || Object.hasOwn(exported, name)) continue;
				Object.defineProperty(exported, name, { get: () => Reflect.get(other, name), enumerable: true });
			}
		};
		const own = new Set([...importers, path]);
		const folder = dirname(path);
		const begun: StartedModule = { exported, done: Promise.resolve() };
		started.set(path, begun);
		begun.done = module.start(
			exported,
			exportAll,
			(specifier) => load(specifier, own),
			(specifier) => load(specifier, new Set()),
			{ url: pathToFileURL(path).href, filename: path, dirname: folder },
			path,
			folder,
		);
		return begun;
	}

	/** @param importers files that import this one @returns false if a file is not simple */
	async #add(path: string, importers: ReadonlySet<string>): Promise<boolean> {
		if (this.#modules.has(path) || importers.has(path)) return true;
		const compiled = await compile(path, this.cache);
		if (!compiled) return false;
		const files = new Map<string, string>();
		for (const specifier of [...compiled.imports, ...compiled.dynamicImports]) {
			if (isHostModule(specifier, this.importer) || isBuiltin(specifier)) continue;
			const file = resolveFile(path, specifier);
			if (file === null || !(await this.#add(file, new Set([...importers, path])))) return false;
			files.set(specifier, file);
		}
		const start = evaluateScript(path, compiled.code);
		if (start === null) return false;
		this.#modules.set(path, { path, code: compiled.code, start, files, maps: compiled.maps });
		return true;
	}
}

/** A module of pi or Node. One without a default export is its own, as for jiti. */
async function loadPackage(specifier: string, importer: Importer, code: string): Promise<object> {
	const module = isHostModule(specifier, importer)
		? await loadHostModule(specifier, importer, code)
		: await import(specifier);
	return "default" in module ? module : Object.create(module, { default: { value: module } });
}

function locate(position: Position, payload: SourceMapPayload): Position {
	const found = new SourceMap(payload).findEntry(position.line - 1, position.column - 1);
	return "originalLine" in found ? { line: found.originalLine + 1, column: found.originalColumn + 1 } : position;
}

/** The cached text of a file that jiti has to load. */
const NOT_SIMPLE = "";

type CachedModule = Omit<CompiledModule, "maps"> & Pick<SimpleModule, "maps">;

/** Compiles a file, or takes it from the cache; null if jiti has to load it. */
async function compile(filename: string, cache: CompileCache): Promise<CachedModule | null> {
	if (!/\.m?ts$/.test(filename)) return null;
	let source: string;
	try {
		source = readFileSync(filename, "utf8");
	} catch {
		return null; // jiti reports it
	}
	const key: CacheKey = { filename, source, kind: ".s.js" };
	const mapKey: CacheKey = { filename, source, kind: ".s.js.map" };
	const known = cache.read(key);
	if (known === NOT_SIMPLE) return null;
	if (known !== null) {
		const end = known.indexOf("\n");
		const imports: Pick<CompiledModule, "imports" | "dynamicImports"> = JSON.parse(known.slice(0, end));
		return { ...imports, code: known.slice(end + 1), maps: () => JSON.parse(cache.read(mapKey) ?? "[]") };
	}
	const compiled = (await loadCompiler())?.compileModule(filename, source);
	if (!compiled) {
		cache.write(key, NOT_SIMPLE);
		return null;
	}
	const { code, maps, ...imports } = compiled;
	cache.write(mapKey, JSON.stringify(maps));
	cache.write(key, `${JSON.stringify(imports)}\n${code}`);
	return { ...imports, code, maps: () => maps };
}

/** Null where the compiler, which is machine code, does not run. */
async function loadCompiler(): Promise<typeof import("./compile-module.js") | null> {
	try {
		return await import("./compile-module.js");
	} catch {
		return null;
	}
}

/** Null for code that is valid only with the options of jiti, which reports any error. */
function evaluateScript(filename: string, code: string): StartModule | null {
	try {
		const script = new Script(`(async (${PARAMETERS}) => { "use strict";\n${code}\n})`, { filename });
		return script.runInThisContext({ displayErrors: false });
	} catch {
		return null;
	}
}

/** The TypeScript file that a relative import names; null if it is another file, or if loaders could disagree. */
function resolveFile(importer: string, specifier: string): string | null {
	if (!/^\.\.?\//.test(specifier)) return null;
	const base = resolve(dirname(importer), specifier);
	const extension = extname(base);
	const isTypeScript = extension === ".ts" || extension === ".mts";
	const isCompiled = extension === ".js" || extension === ".mjs";
	const stem = isCompiled ? base.slice(0, -extension.length) : base;
	const file = isTypeScript ? base : `${stem}${extension === ".mjs" ? ".mts" : ".ts"}`;
	const rivals = isTypeScript ? [] : isCompiled ? [base] : [base, ...[".js", ".mjs", ".cjs"].map((end) => base + end)];
	if (!isFile(file) || rivals.some(isFile)) return null;
	return realpathSync(file) === file ? file : null;
}

function isFile(path: string): boolean {
	return existsSync(path) && statSync(path).isFile();
}

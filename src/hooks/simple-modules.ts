import { existsSync, readFileSync, realpathSync, statSync } from "node:fs";
import { isBuiltin } from "node:module";
import { dirname, extname, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { Script } from "node:vm";
import type { CompileCache } from "./compile-cache.js";
import { type CompiledFile, compileFile, digestSources, sourcePosition } from "./compile-file.js";
import { type Importer, isSharedModule, loadSharedModule } from "./shared-modules.js";
import type { Position, SourceLocator } from "./source-locator.js";

/** A compiled file. */
interface SimpleModule {
	compiled: CompiledFile;
	start: StartModule;
	/** Relative specifiers and the paths of the files that they name. */
	files: ReadonlyMap<string, string>;
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
	static read(path: string, cache: CompileCache, importer?: Importer): SimpleModules | null {
		const modules = new SimpleModules(path, cache, importer);
		return modules.#add(path, new Set()) ? modules : null;
	}

	/** Paths of all files. */
	get files(): Iterable<string> {
		return this.#modules.keys();
	}

	has(file: string): boolean {
		return this.#modules.has(file);
	}

	sourcePosition(file: string, position: Position): Position {
		const module = this.#modules.get(file);
		return module ? sourcePosition(module.compiled, position) : position;
	}

	digest(): string {
		return digestSources([...this.#modules.values()].map(({ compiled }) => compiled.source));
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
				? loadPackage(specifier, this.importer, module.compiled.code)
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
	#add(path: string, importers: ReadonlySet<string>): boolean {
		if (this.#modules.has(path) || importers.has(path)) return true;
		const compiled = compileSimple(path, this.cache);
		if (!compiled) return false;
		const files = new Map<string, string>();
		for (const specifier of [...compiled.imports, ...compiled.dynamicImports]) {
			if (isSharedModule(specifier, this.importer) || isBuiltin(specifier)) continue;
			const file = resolveFile(path, specifier);
			if (file === null || !this.#add(file, new Set([...importers, path]))) return false;
			files.set(specifier, file);
		}
		const start = evaluateScript(path, compiled.code);
		if (start === null) return false;
		this.#modules.set(path, { compiled, start, files });
		return true;
	}
}

/** A module of pi or Node. One without a default export is its own, as for jiti. */
async function loadPackage(specifier: string, importer: Importer, code: string): Promise<object> {
	const module = isSharedModule(specifier, importer)
		? await loadSharedModule(specifier, importer, code)
		: await import(specifier);
	return "default" in module ? module : Object.create(module, { default: { value: module } });
}

/** Null for a file that jiti has to load, or whose error it reports. */
function compileSimple(path: string, cache: CompileCache): CompiledFile | null {
	try {
		const compiled = compileFile(path, readFileSync(path, "utf8"), cache);
		return compiled.isSimple ? compiled : null;
	} catch {
		return null;
	}
}

/** Null for code that Node does not accept, which jiti reports. */
function evaluateScript(filename: string, code: string): StartModule | null {
	try {
		// A function of its own, which may declare names such as `__dirname`.
		const script = new Script(`(${PARAMETERS}) => (async () => { "use strict";\n${code}\n})()`, { filename });
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

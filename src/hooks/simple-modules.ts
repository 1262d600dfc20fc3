import { existsSync, readFileSync, realpathSync, statSync } from "node:fs";
import { createRequire, isBuiltin } from "node:module";
import { dirname, extname, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { Script } from "node:vm";
import type { CompileCache } from "./compile-cache.js";
import { isHostModule, loadHostModule } from "./host-modules.js";
import type { Position, SourceLocator } from "./source-locator.js";
import type { StrippedModule } from "./strip/strip-module.js";

/** A module whose code is its source with blanked types. */
interface SimpleModule {
	path: string;
	start: StartModule;
	/** Relative specifiers and the paths of the files that they name. */
	files: ReadonlyMap<string, string>;
}

/** A compiled module. The names of exports and imports are in its code. */
type StartModule = (
	exportAll: (getters: Record<string, () => unknown>) => void,
	get: (specifier: string) => unknown,
	load: (specifier: string) => Promise<unknown>,
	meta: { url: string; filename: string; dirname: string },
) => Promise<void>;

/**
 * A file and the files that it imports, if nothing but their types keeps them from running: no jiti, no package of their
 * own, no cycle. Every position in their stack traces is that in the source.
 */
export class SimpleModules implements SourceLocator {
	/** Imported files come before those that import them. */
	readonly #modules = new Map<string, SimpleModule>();
	/** Namespaces of pi's packages that the files import. */
	readonly #host = new Map<string, unknown>();

	private constructor(
		private readonly path: string,
		private readonly cache: CompileCache,
	) {}

	/** Compiles a file and its imports, without evaluating them. @returns null if jiti has to load them */
	static async read(path: string, cache: CompileCache): Promise<SimpleModules | null> {
		const modules = new SimpleModules(path, cache);
		return (await modules.#add(path, new Set())) ? modules : null;
	}

	has(file: string): boolean {
		return this.#modules.has(file);
	}

	sourcePosition(_file: string, position: Position): Position {
		return position;
	}

	/** Evaluates all files, each in a new instance. @returns the default export, or all exports without one */
	async evaluateDefault(): Promise<unknown> {
		const namespaces = new Map<string, object>();
		for (const module of this.#modules.values()) namespaces.set(module.path, await this.#evaluate(module, namespaces));
		const exported = namespaces.get(this.path);
		return exported && "default" in exported ? exported.default : exported;
	}

	async #evaluate({ path, start, files }: SimpleModule, namespaces: ReadonlyMap<string, object>): Promise<object> {
		const namespace = {};
		await start(
			(getters) => {
				for (const [name, get] of Object.entries(getters))
					Object.defineProperty(namespace, name, { get, enumerable: true });
			},
			(specifier) => {
				if (this.#host.has(specifier)) return this.#host.get(specifier);
				return namespaces.get(files.get(specifier) ?? "") ?? requireBuiltin(specifier);
			},
			(specifier) => (isHostModule(specifier) ? loadHostModule(specifier) : import(specifier)),
			{ url: pathToFileURL(path).href, filename: path, dirname: dirname(path) },
		);
		return namespace;
	}

	/** @param importers files that wait for this one @returns false if a file is not simple */
	async #add(path: string, importers: ReadonlySet<string>): Promise<boolean> {
		if (this.#modules.has(path)) return true;
		const stripped = importers.has(path) ? null : await compile(path, this.cache);
		if (stripped === null || (importers.size > 0 && stripped.hasMutableExports)) return false;
		if (!stripped.dynamicImports.every((name) => isHostModule(name) || isBuiltin(name))) return false;
		const files = new Map<string, string>();
		for (const specifier of stripped.imports) {
			if (isHostModule(specifier)) this.#host.set(specifier, await loadHostModule(specifier));
			else if (!isBuiltin(specifier)) {
				const file = resolveFile(path, specifier);
				if (file === null || !(await this.#add(file, new Set([...importers, path])))) return false;
				files.set(specifier, file);
			}
		}
		const start = evaluateScript(path, stripped);
		if (start === null) return false;
		this.#modules.set(path, { path, start, files });
		return true;
	}
}

const requireBuiltin = createRequire(import.meta.url);

/** Strips the types of a file, or takes the result from the cache; null if that is not enough. */
async function compile(path: string, cache: CompileCache): Promise<StrippedModule | null> {
	if (!/\.m?ts$/.test(path)) return null;
	let source: string;
	try {
		source = readFileSync(path, "utf8");
	} catch {
		return null; // jiti reports it
	}
	const key = { filename: path, source, kind: ".s.js" } as const;
	const known = cache.read(key);
	if (known !== null) {
		const facts = known.indexOf("\n");
		const { code: _, ...rest }: StrippedModule = JSON.parse(known.slice(0, facts));
		return { ...rest, code: known.slice(facts + 1) };
	}
	const { stripModule } = await import("./strip/strip-module.js");
	const stripped = stripModule(source);
	if (stripped) cache.write(key, `${JSON.stringify({ ...stripped, code: "" })}\n${stripped.code}`);
	return stripped;
}

/** Null for a syntax error, which jiti reports. */
function evaluateScript(filename: string, { head, code }: StrippedModule): StartModule | null {
	try {
		const script = new Script(head + code, { filename, columnOffset: -head.length });
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

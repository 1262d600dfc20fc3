import { readFileSync } from "node:fs";
import { isBuiltin } from "node:module";
import { pathToFileURL } from "node:url";
import { errorText, type SourcePosition } from "../errors.js";
import { escapePattern } from "../log/line-patterns.js";
import { compileFile } from "./compile-file.js";
import { Compiler, createJiti } from "./compiler.js";
import { type Importer, loadSharedModules } from "./shared-modules.js";

/** An import that fails, or that is undefined when the hook runs. */
export interface ImportProblem {
	place: SourcePosition;
	/** A sentence without a final period. */
	reason: string;
}

/** `const __vite_ssr_import_0__ = await __vite_ssr_import__("typebox"` in compiled code: the namespace and the module. */
const STATIC_IMPORT = /\bconst (__vite_ssr_import_\d+__) = await __vite_ssr_import__\("([^"]+)"/g;
const REQUIRE = /\brequire\("([^"]+)"\)/g;

/**
 * Finds imports of modules and of names that do not exist, in a file and the local files that it imports. Types do not
 * count. Evaluates the imported modules, each once.
 */
export async function findImportProblems(path: string, importer?: Importer): Promise<ImportProblem[]> {
	const problems: ImportProblem[] = [];
	const host = await loadSharedModules(["import(everything)"], importer);
	const files = new Set([path]);
	const jiti = createJiti(new Compiler(), host, { parent: path });
	/** Imports that share modules, so that each is evaluated once. */
	const openImports = async () =>
		(await jiti.evalModule("export const load = (module) => import(module);", {
			filename: `${path}.imports.mts`,
			async: true,
		})) as { load(module: string): Promise<unknown> };
	let imports: ReturnType<typeof openImports> | null = null;
	for (const file of files) {
		const source = readFileSync(file, "utf8");
		const { code, imports: named, dynamicImports } = compileFile(file, source);
		const required = [...code.matchAll(REQUIRE)].map(([, specifier = ""]) => specifier);
		const resolve = (specifier: string) => jiti.esmResolve(specifier, { parentURL: pathToFileURL(file), try: true });
		const report = (specifier: string, reason: string, name?: string) =>
			problems.push({ place: placeOf(file, source, specifier, name), reason });
		for (const specifier of new Set([...named, ...dynamicImports, ...required])) {
			if (Object.hasOwn(host, specifier) || isBuiltin(specifier)) continue;
			const found = resolve(specifier);
			if (found === undefined) report(specifier, `the module ${specifier} does not exist`);
			else if (/^(file:|\/)(?!.*\/node_modules\/).*\.[cm]?tsx?$/.test(found))
				files.add(found.replace(/^file:\/\//, ""));
		}
		for (const [, name = "", specifier = ""] of code.matchAll(STATIC_IMPORT)) {
			const used = namesOf(code, name);
			if (used.length === 0) continue;
			try {
				const load = async () => {
					imports ??= openImports();
					return (await imports).load(isBuiltin(specifier) ? specifier : (resolve(specifier) ?? specifier));
				};
				const namespace: unknown = Object.hasOwn(host, specifier) ? host[specifier] : await load();
				for (const missing of used.filter((used) => !hasExport(namespace, used))) {
					report(specifier, `${specifier} has no export ${missing}`, missing);
				}
			} catch (error) {
				// Modules that failed would be incomplete for the next file that imports them.
				imports = null;
				const reason = `the module ${specifier} does not load: ${errorText(error).split(" Require stack:")[0]}`;
				if (!problems.some(({ place }) => place.file === file && place.line === placeOf(file, source, specifier).line))
					report(specifier, reason);
			}
		}
	}
	return problems;
}

/** The names that compiled code reads from a namespace. The default export always exists: it is the module itself. */
function namesOf(code: string, namespace: string): string[] {
	const reads = [...code.matchAll(new RegExp(`(?<![\\w.])${namespace}\\.(\\w+)`, "g"))].map(([, name = ""]) => name);
	return [...new Set(reads)].filter((name) => name !== "default");
}

function hasExport(namespace: unknown, name: string): boolean {
	if ((typeof namespace !== "object" && typeof namespace !== "function") || namespace === null) return false;
	// The loader's namespace of a CommonJS module has its names without showing them.
	return name in namespace || Reflect.get(namespace, name) !== undefined;
}

/** Where a source names a module: in the statement that imports `name`, else where it does so first. */
function placeOf(file: string, source: string, specifier: string, name = ""): SourcePosition {
	const named = [...source.matchAll(new RegExp(`(["'])${escapePattern(specifier)}\\1`, "g"))].map(({ index }) => index);
	const imports = (at: number) => new RegExp(`^(?!\\s+type\\b).*\\b${name}\\b`, "s").test(statementBefore(source, at));
	const at = named.find(imports) ?? named[0] ?? 0;
	const before = source.slice(0, at).split("\n");
	return { file, line: before.length, column: (before.at(-1)?.length ?? 0) + 1 };
}

/** The text between `import` or `export` and a position. */
function statementBefore(source: string, at: number): string {
	return (
		source
			.slice(0, at)
			.split(/\b(?:import|export)\b/)
			.at(-1) ?? ""
	);
}

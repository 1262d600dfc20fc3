import type { SourceMapPayload } from "node:module";
import { moduleRunnerTransformSync, type SourceMap, transformSync } from "oxc-transform";

/** A module as the body of an async function with the parameters `MODULE_PARAMETERS`. */
export interface CompiledModule {
	code: string;
	/** Modules that the file imports. */
	imports: string[];
	/** Modules that it may load later. */
	dynamicImports: string[];
	/** Lead from a position in the code to that in the source, one after the other. */
	maps: SourceMapPayload[];
}

/** Code that only CommonJS modules have. */
const COMMONJS = /\bmodule\.exports\b|\bexports\.\w|\brequire\s*[(.]/;
const DECORATOR = /^[ \t]*@\w/m;
/** An import of a module whose name is computed, or a member of `import.meta` that only jiti provides. */
const UNKNOWN_IMPORT =
	/__vite_ssr_dynamic_import__\((?!"[^"\\]*"\))|__vite_ssr_import_meta__\.(?!(?:url|filename|dirname)\b)/;

/** Compiles a TypeScript module. @returns null for one that jiti has to load, such as CommonJS, or with a syntax error */
export function compileModule(filename: string, source: string): CompiledModule | null {
	if (COMMONJS.test(source) || DECORATOR.test(source)) return null;
	const script = transformSync(filename, source, { lang: "ts", sourcemap: true });
	if (script.errors.length > 0) return null;
	const { code, deps, dynamicDeps, errors, map } = moduleRunnerTransformSync(`${filename}.js`, script.code, {
		sourcemap: true,
	});
	if (errors.length > 0 || UNKNOWN_IMPORT.test(code)) return null;
	return { code, imports: deps, dynamicImports: dynamicDeps, maps: [map, script.map].flatMap(withoutSource) };
}

function withoutSource(map: SourceMap | undefined): SourceMapPayload[] {
	return map ? [{ file: "", sourceRoot: "", ...map, sourcesContent: [] }] : [];
}

import { createHash } from "node:crypto";
import { createRequire, SourceMap, type SourceMapPayload } from "node:module";
import type { OxcError, SourceMap as OxcSourceMap } from "oxc-transform";
import { PiError } from "../errors.js";
import type { CompileCache } from "./compile-cache.js";
import type { Position } from "./source-locator.js";
import { CompileError } from "./source-position.js";

/** A compiled file. */
export interface CompiledFile {
	/** What it was compiled from. */
	source: string;
	/** The body of an async function, with the names that the compiler gives to the parts of a module for Vite. */
	code: string;
	/** Modules that the file imports. */
	imports: readonly string[];
	/** Modules that it may load later. */
	dynamicImports: readonly string[];
	/** False for a file that only jiti can load, such as CommonJS. */
	isSimple: boolean;
	/** Lead from a position in the code to that in the source, one after the other. */
	maps(): readonly SourceMapPayload[];
}

/**
 * Compiles a TypeScript or JavaScript file, or takes it from the cache.
 * @throws CompileError for a syntax error; PiError `hook_load_failed` where the compiler, which is machine code, does not run
 */
export function compileFile(filename: string, source: string, cache?: CompileCache): CompiledFile {
	const key = { filename, source, kind: ".js" } as const;
	const mapKey = { filename, source, kind: ".js.map" } as const;
	const known = cache?.read(key) ?? null;
	if (known !== null) {
		const end = known.indexOf("\n");
		const facts: Pick<CompiledFile, "imports" | "dynamicImports" | "isSimple"> = JSON.parse(known.slice(0, end));
		return { ...facts, source, code: known.slice(end + 1), maps: () => JSON.parse(cache?.read(mapKey) ?? "[]") };
	}
	const { code, maps, ...facts } = compile(filename, source);
	cache?.write(mapKey, JSON.stringify(maps));
	cache?.write(key, `${JSON.stringify(facts)}\n${code}`);
	return { ...facts, source, code, maps: () => maps };
}

/** SHA-256, hex, of sources. */
export function digestSources(sources: readonly string[]): string {
	return createHash("sha256").update(JSON.stringify(sources)).digest("hex");
}

/** The position in the source of a position in a script whose second line is the first of the compiled code. */
export function sourcePosition(file: CompiledFile, position: Position): Position {
	return file.maps().reduce(locate, { ...position, line: position.line - 1 });
}

function locate(position: Position, payload: SourceMapPayload): Position {
	const found = new SourceMap(payload).findEntry(position.line - 1, position.column - 1);
	return "originalLine" in found ? { line: found.originalLine + 1, column: found.originalColumn + 1 } : position;
}

/** Code that only CommonJS modules have. */
const COMMONJS = /\bmodule\.exports\b|\bexports\.\w|\brequire\s*[(.]/;
/** An import of a module whose name is computed, or a member of `import.meta` that only jiti provides. */
const UNKNOWN_IMPORT =
	/__vite_ssr_dynamic_import__\((?!"[^"\\]*"\))|__vite_ssr_import_meta__\.(?!(?:url|filename|dirname)\b)/;

function compile(
	filename: string,
	source: string,
): Omit<CompiledFile, "maps" | "source"> & { maps: SourceMapPayload[] } {
	const { moduleRunnerTransformSync, transformSync } = loadOxc();
	const script = transformSync(filename, source, {
		sourcemap: true,
		// What Node 20 lacks of later versions is `using`.
		target: "es2025",
		decorator: { legacy: true, emitDecoratorMetadata: true },
	});
	check(filename, source, script.errors);
	const module = moduleRunnerTransformSync(`${filename}.js`, script.code, { sourcemap: true });
	check(filename, script.code, module.errors, withoutSource(script.map));
	return {
		// Node accepts it only at the start of a file.
		code: module.code.replace(/^#!.*/, ""),
		imports: module.deps,
		dynamicImports: module.dynamicDeps,
		isSimple: /\.m?ts$/.test(filename) && !COMMONJS.test(script.code) && !UNKNOWN_IMPORT.test(module.code),
		maps: [module.map, script.map].flatMap(withoutSource),
	};
}

/** `require`, so that jiti can compile an import while a file runs. */
function loadOxc(): typeof import("oxc-transform") {
	try {
		return createRequire(import.meta.url)("oxc-transform");
	} catch (cause) {
		throw new PiError("hook_load_failed", "the compiler oxc-transform does not run here", {
			cause,
			hint: "install pi again, with optional dependencies",
		});
	}
}

/** @param maps lead from the code to the source @throws CompileError for the first error */
function check(file: string, code: string, errors: readonly OxcError[], maps: readonly SourceMapPayload[] = []): void {
	const [error] = errors;
	if (!error) return;
	// oxc counts bytes.
	const before = Buffer.from(code).subarray(0, error.labels[0]?.start).toString().split("\n");
	const place = { line: before.length, column: (before.at(-1)?.length ?? 0) + 1 };
	throw new CompileError(error.message, { file, ...maps.reduce(locate, place) });
}

function withoutSource(map: OxcSourceMap | undefined): SourceMapPayload[] {
	return map ? [{ file: "", sourceRoot: "", ...map, sourcesContent: [] }] : [];
}

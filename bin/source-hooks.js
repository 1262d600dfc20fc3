// Node module hooks that load the TypeScript sources. @see https://nodejs.org/api/module.html#customization-hooks
import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { transform } from "rolldown/utils";
import { libraryPatches } from "./library-patches.js";

const { modules, patchedSource } = libraryPatches();

/** What bundled hooks import of pi; Node would resolve it to dist/. */
const HOOK_API = "@mariozechner/pi-coding-agent/hooks";
const hookApi = new URL("../src/hooks/index.ts", import.meta.url).href;

/** Resolves imports of .js to .ts files: the sources import each other by the names of their compiled output. */
export async function resolve(specifier, context, nextResolve) {
	if (specifier === HOOK_API) return nextResolve(hookApi, context);
	try {
		return await nextResolve(specifier, context);
	} catch (error) {
		if (error.code !== "ERR_MODULE_NOT_FOUND" || !/^\.{1,2}\/.*\.js$/.test(specifier)) throw error;
		return nextResolve(specifier.replace(/js$/, "ts"), context);
	}
}

/** Compiles TypeScript and replaces library modules. */
export async function load(url, context, nextLoad) {
	const path = url.startsWith("file:") ? fileURLToPath(url) : "";
	if (path.endsWith(".ts")) {
		const { code, errors } = await transform(path, await readFile(path, "utf8"), { sourcemap: false });
		if (errors.length > 0) throw errors[0];
		return { format: "module", source: code, shortCircuit: true };
	}
	const source = modules.test(path) ? await patchedSource(path, await readFile(path, "utf8")) : null;
	return source === null ? nextLoad(url, context) : { format: "module", source, shortCircuit: true };
}

// Node module hooks that load the TypeScript sources. @see https://nodejs.org/api/module.html#customization-hooks
import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { transform } from "rolldown/utils";
import { libraryPatches } from "./library-patches.js";

const { modules, patchedSource } = libraryPatches();

/** What bundled hooks import of pi; Node would resolve it to dist/ or to the library itself. */
const PI_MODULES = {
	"@mariozechner/pi-ai": new URL("../src/models/library.ts", import.meta.url).href,
	"@mariozechner/pi-coding-agent": new URL("../src/index.ts", import.meta.url).href,
	"@mariozechner/pi-coding-agent/hooks": new URL("../src/hooks/index.ts", import.meta.url).href,
};

/** Resolves imports of .js to .ts files: the sources import each other by the names of their compiled output. */
export async function resolve(specifier, context, nextResolve) {
	try {
		return await nextResolve(PI_MODULES[specifier] ?? specifier, context);
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
	const source = modules.test(path) ? patchedSource(path, await readFile(path, "utf8")) : null;
	return source === null ? nextLoad(url, context) : { format: "module", source, shortCircuit: true };
}

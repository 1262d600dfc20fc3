import { isBuiltin } from "node:module";
import { needMeter } from "../models/hook-meter.js";

/** What the compiler makes files import, in addition to what their sources name. */
const HELPERS: Readonly<Record<string, () => Promise<object>>> = {
	"@oxc-project/runtime/helpers/decorate": async () => (await loadHelpers()).decorate,
	"@oxc-project/runtime/helpers/decorateMetadata": async () => (await loadHelpers()).decorateMetadata,
	"@oxc-project/runtime/helpers/decorateParam": async () => (await loadHelpers()).decorateParam,
	"@oxc-project/runtime/helpers/usingCtx": async () => (await loadHelpers()).usingCtx,
};

async function loadHelpers() {
	return (await import("./compiled-helpers.js")).HELPERS;
}

/** pi's own packages and modules by the names under which hooks import them; hooks share these instances. */
const SHARED_MODULES: Readonly<Record<string, (code?: string) => Promise<object>>> = {
	"@mariozechner/pi-ai": loadPiAi,
	"@mariozechner/pi-tui": loadTerminalLibrary,
	"@mariozechner/pi-coding-agent": () => import("../index.js"),
	"@mariozechner/pi-coding-agent/hooks": () => import("./index.js"),
	typebox: () => import("typebox"),
	"typebox/value": () => import("typebox/value"),
	"@sinclair/typebox": () => import("typebox"),
	"@sinclair/typebox/value": () => import("typebox/value"),
	...HELPERS,
};

/** What extensions import instead of, or in addition to, the modules of hooks. */
const EXTENSION_MODULES: typeof SHARED_MODULES = {
	...SHARED_MODULES,
	"@mariozechner/pi-coding-agent": loadExtensionModule,
	"@earendil-works/pi-coding-agent": loadExtensionModule,
	"@mariozechner/pi-agent-core": async () => (await import("../extensions/libraries.js")).AGENT_CORE,
	"@earendil-works/pi-agent-core": async () => (await import("../extensions/libraries.js")).AGENT_CORE,
	"@mariozechner/pi-ai": loadModelLibrary,
	"@earendil-works/pi-ai": loadModelLibrary,
	"@earendil-works/pi-ai/compat": loadModelLibrary,
	"@mariozechner/pi-tui": loadExtensionTerminal,
	"@earendil-works/pi-tui": loadExtensionTerminal,
	"typebox/compile": () => import("typebox/compile"),
	"@sinclair/typebox/compile": () => import("typebox/compile"),
};

/** Who imports a package: a hook or a tool, or an extension. */
export type Importer = "extension" | undefined;

function modulesFor(importer: Importer): typeof SHARED_MODULES {
	return importer === "extension" ? EXTENSION_MODULES : SHARED_MODULES;
}

async function loadExtensionModule(code?: string): Promise<object> {
	return (await import("../extensions/coding-agent-module.js")).loadCodingAgent(code);
}

/** The functions that send requests, which are counted for the hook that calls them. */
function loadPiAi(): Promise<typeof import("../models/library.js")> {
	needMeter();
	return import("../models/library.js");
}

async function loadModelLibrary(): Promise<object> {
	const [{ modelLibrary }, library] = await Promise.all([import("../extensions/libraries.js"), loadPiAi()]);
	return modelLibrary(library);
}

async function loadExtensionTerminal(): Promise<object> {
	const [{ terminalLibrary }, library] = await Promise.all([
		import("../extensions/libraries.js"),
		loadTerminalLibrary(),
	]);
	return terminalLibrary(library);
}

type TerminalLibrary = typeof import("@mariozechner/pi-tui");

/** The terminal library, for hooks and to draw what they return. Its class of a screen was `TUI` before version 0.80. */
export async function loadTerminalLibrary(): Promise<TerminalLibrary & { TUI: TerminalLibrary["TuiMainScreen"] }> {
	const library = await import("@mariozechner/pi-tui");
	return { ...library, TUI: library.TuiMainScreen };
}

/** True for a package that hooks share with pi. */
export function isSharedModule(name: string, importer?: Importer): boolean {
	return Object.hasOwn(modulesFor(importer), name);
}

/**
 * Loads a package that hooks share with pi.
 * @param code of the file that imports it; absent if it is not known
 * @throws Error for another name
 */
export async function loadSharedModule(name: string, importer?: Importer, code?: string): Promise<object> {
	const load = isSharedModule(name, importer) ? modulesFor(importer)[name] : undefined;
	if (!load) throw new Error(`pi does not provide ${name}`);
	return load(code);
}

/** Type-only imports, which compiling removes. */
const TYPE_IMPORT = /^[ \t]*(?:import|export)\s+type\s[^;"'`]{0,10000}?from\s*["'][^"']*["']/gm;
const STATIC_IMPORT = /(?:from|import)\s*["']([^"']*)["']/g;
const OTHER_IMPORT = /\b(?:import|require)\s*\(/;

/**
 * The packages that hooks share with pi, wherever the hook file is. Loads only the packages that the sources name, and
 * all of them if the sources import files whose imports are unknown.
 */
export async function loadSharedModules(
	sources: readonly string[],
	importer?: Importer,
): Promise<Record<string, unknown>> {
	const code = sources.map((source) => source.replace(TYPE_IMPORT, ""));
	const named = new Set(code.flatMap((source) => [...source.matchAll(STATIC_IMPORT)].map(([, name = ""]) => name)));
	const mayNeedAll =
		code.some((source) => OTHER_IMPORT.test(source)) ||
		[...named].some((name) => !isSharedModule(name, importer) && !isBuiltin(name));
	const isWanted = (name: string) => mayNeedAll || named.has(name) || Object.hasOwn(HELPERS, name);
	const wanted = Object.entries(modulesFor(importer)).filter(([name]) => isWanted(name));
	const known = mayNeedAll ? undefined : code.join("\n");
	return Object.fromEntries(await Promise.all(wanted.map(async ([name, load]) => [name, await load(known)])));
}

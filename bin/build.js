#!/usr/bin/env node
// Builds dist/: one split CommonJS bundle for the program and the package entry points, and with --types the declarations.
import { cpSync, existsSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { rolldown } from "rolldown";
import { importsInScripts } from "./imports-in-scripts.js";
import { libraryPatches, libraryPatchesPlugin } from "./library-patches.js";
import { shortLines } from "./short-lines.js";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const dist = join(root, "dist");

/** Loaded before all other modules. */
const main = "src/main.ts";
/** Imports all of the terminal library. The screen needs these modules of it, and what they import. */
const PI_TUI_INDEX = "node_modules/@mariozechner/pi-tui/dist/index.js";
const PI_TUI = ["components/editor.js", "components/spacer.js", "terminal.js", "tui-main-screen.js"];

/** Stages of the start: name → entry modules, which are loaded together. */
const STAGES = {
	screen: [main, "src/cli/run-interactive.ts", ...PI_TUI.map((file) => join(dirname(PI_TUI_INDEX), file))],
	session: [main, "src/sdk/create-session.ts", "src/cli/session-options.ts", "src/hooks/watchdog.ts"],
	headless: [
		main,
		...["run-headless.ts", "run-plain.ts", "session-options.ts", "standard-io.ts"].map((file) => `src/cli/${file}`),
		"src/modes/print.ts",
	],
	"model-client": ["src/models/hook-requests.ts"],
};

/** Loaded with the first extension: its folder is one file, because each file takes Node a millisecond. */
const ADAPTER = ["src/extensions/adapter.ts", "src/extensions/libraries.ts"];

const PI_AI = "node_modules/@mariozechner/pi-ai/dist";
/** Loaded for the first request: small modules that most clients of providers need. */
const REQUEST = [
	"src/network/light-fetch.ts",
	...[
		"error-body.js",
		"hash.js",
		"headers.js",
		"json-parse.js",
		"pi-user-agent.js",
		"provider-env.js",
		"provider-retry.js",
	].map((file) => `${PI_AI}/utils/${file}`),
	...["sanitize-unicode.js", "transcript.js"].map((file) => `${PI_AI}/utils/${file}`),
	...[
		"transform-messages.js",
		"github-copilot-headers.js",
		"simple-options.js",
		"constrained-sampling.js",
		"openai-prompt-cache.js",
	].map((file) => `${PI_AI}/api/${file}`),
];

/**
 * Splits by stage: modules that exactly the same stages need share a file. So a stage reads a few files, and no module that
 * it does not need. Modules that no stage needs are split at dynamic imports.
 */
function splitByStage() {
	let stagesOf;
	let adapter;
	let request;
	return (id, graph) => {
		stagesOf ??= reach(graph, STAGES);
		adapter ??= reach(graph, { adapter: ADAPTER });
		request ??= reach(graph, { request: REQUEST });
		// Keeps other modules out of entry points, which must only export their own names.
		if (graph.getModuleInfo(id)?.isEntry) return null;
		const isAdapter = adapter.has(id) && dirname(id) === join(root, "src/extensions");
		return fileOf(stagesOf.get(id)) ?? request.get(id)?.[0] ?? (isAdapter ? "adapter" : null);
	};
}

/** The file of the modules that these stages need. Each start loads what screen and headless modes share, in one file. */
function fileOf(stages) {
	if (stages?.includes("screen") && stages.includes("headless")) return "base";
	// The client is loaded after a session, which has loaded what both need.
	return stages?.filter((stage) => stage !== "model-client" || stages.length === 1).join("-");
}

/** Module → stages that load it, in the order of `stages`. */
function reach(graph, stages) {
	const stagesOf = new Map();
	for (const [stage, roots] of Object.entries(stages)) {
		const seen = new Set(roots.map((path) => join(root, path)));
		for (const id of seen) {
			const module = graph.getModuleInfo(id);
			if (!module) continue; // built into Node, or optional
			if (id === join(root, PI_TUI_INDEX)) continue;
			stagesOf.set(id, [...(stagesOf.get(id) ?? []), stage]);
			for (const imported of module.importedIds) seen.add(imported);
		}
	}
	return stagesOf;
}

/** The bundled hooks. Each has a file with its own name, so that stack traces name the hook. */
const bundledHooks = Object.fromEntries(
	readdirSync(join(root, "hooks-examples"))
		.filter((file) => file.endsWith(".ts"))
		.map((file) => [`bundled/${basename(file, ".ts")}`, `hooks-examples/${file}`]),
);

const ENTRY = "entry:";
/**
 * Entry points of the package as modules of their own. The modules behind them are loaded by pi itself too: if they were
 * entries, they could not share a file with what they import, and the two files would import each other.
 */
const packageEntries = {
	name: "package-entries",
	resolveId: (id) => (id.startsWith(ENTRY) ? `\0${id}` : null),
	load: (id) =>
		id.startsWith(`\0${ENTRY}`) ? `export * from ${JSON.stringify(join(root, id.slice(ENTRY.length + 1)))};` : null,
};

const patches = libraryPatches();
/** Fails the build if a patched module is missing: the bundle would contain another copy of the library. */
const allPatched = {
	name: "all-patched",
	buildEnd() {
		const missing = patches.paths.filter((path) => !this.getModuleInfo(path));
		if (missing.length > 0) this.error(`Patched modules are not part of the bundle: ${missing.join(", ")}`);
	},
};
/** The lists of models stay files: pi reads that of a provider when it is first needed, see src/models/built-in-models.ts. */
const modelLists = {
	name: "model-lists",
	resolveId: {
		filter: { id: /^\.\/data\/.*\.json$/ },
		handler: (id) => ({ id: join(dist, "model-lists", basename(id)), external: "relative" }),
	},
};
const bundle = await rolldown({
	cwd: root,
	input: {
		main,
		index: `${ENTRY}src/index.ts`,
		hooks: `${ENTRY}src/hooks/index.ts`,
		testing: `${ENTRY}src/testing/index.ts`,
		// Run in worker threads, so their files need fixed names.
		"watchdog-worker": "src/hooks/watchdog-worker.ts",
		"scale-worker": "src/images/scale-worker.ts",
		"page-worker": "src/pages/page-worker.ts",
		...bundledHooks,
	},
	platform: "node",
	// Its paths name declarations.
	tsconfig: false,
	transform: { target: "node20" },
	resolve: {
		extensionAlias: { ".js": [".ts", ".js"] },
		alias: {
			"@mariozechner/pi-ai$": join(root, "src/models/library.ts"),
			"@mariozechner/pi-coding-agent/hooks": join(root, "src/hooks/index.ts"),
			"@mariozechner/pi-coding-agent$": join(root, "src/index.ts"),
		},
	},
	// Native, WebAssembly, or optional at run time.
	external: [/^(koffi|jiti|@vscode\/ripgrep|@silvia-odwyer\/photon-node|oxc-transform|@aws-sdk\/.*|@smithy\/.*)$/],
	plugins: [packageEntries, modelLists, libraryPatchesPlugin(patches), allPatched, importsInScripts, shortLines],
	// Bundled hooks import single functions of pi-ai: its index would load the rest, and a library of schemas, with them.
	// The index of pi-tui would load components that the screen does not use.
	treeshake: {
		moduleSideEffects: [{ test: /pi-(?:ai|tui)\/dist\/index\.js$|src\/models\/library\.ts$/, sideEffects: false }],
	},
	preserveEntrySignatures: "allow-extension",
	// Some modules are loaded statically in one mode and dynamically in another.
	checks: { ineffectiveDynamicImport: false },
});
rmSync(dist, { recursive: true, force: true });
await bundle.write({
	dir: dist,
	// CommonJS loads faster than ES modules, and Node 20 can keep compiled code only of such files.
	format: "cjs",
	exports: "named",
	entryFileNames: "[name].cjs",
	chunkFileNames: "[name].[hash].cjs",
	// Node prints the names of error classes.
	minify: { mangle: { reserved: ["PiError", "HookError"] } },
	charset: "ascii",
	codeSplitting: { includeDependenciesRecursively: false, groups: [{ name: splitByStage(), debugName: "stages" }] },
});
await bundle.close();
cpSync(join(root, "bin", "import.cjs"), join(dist, "import.cjs"));
cpSync(join(root, PI_AI, "providers/data"), join(dist, "model-lists"), { recursive: true });
// What npm run models has found since.
const updates = join(root, "src/models/shipped-updates.json");
if (existsSync(updates)) cpSync(updates, join(dist, "model-lists/shipped-updates.json"));

// bin/pi.cjs answers --help from this file, without loading the bundle.
const help = await rolldown({ input: join(root, "src/cli/help.ts") });
const [{ code: helpModule }] = (await help.generate()).output;
const { HELP_TEXT } = await import(`data:text/javascript,${encodeURIComponent(helpModule)}`);
writeFileSync(join(dist, "help.txt"), HELP_TEXT);
// Written last: bin/start.js uses it as the mark of a complete build.
cpSync(join(root, "CHANGELOG.md"), join(dist, "CHANGELOG.md"));

if (process.argv.includes("--types")) (await import("./build-types.js")).buildTypes();

#!/usr/bin/env node
// Builds dist/: one split bundle for the program and the package entries, and with --types the declarations.
import { cpSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { rolldown } from "rolldown";
import { libraryPatches, libraryPatchesPlugin } from "./library-patches.js";
import { nodeBuiltins } from "./node-builtins.js";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const dist = join(root, "dist");

/** Is there before all others. */
const main = "src/main.ts";
/** What is loaded together, by its first modules. */
const STAGES = {
	screen: [main, "src/cli/run-interactive.ts"],
	session: [main, "src/session/create-session.ts", "src/cli/session-options.ts", "src/hooks/watchdog.ts"],
	headless: [
		main,
		"src/cli/run-headless.ts",
		"src/cli/run-rpc.ts",
		"src/cli/run-plain.ts",
		"src/cli/standard-io.ts",
		"src/modes/print.ts",
	],
	models: ["node_modules/@mariozechner/pi-ai/dist/index.js"],
};

/**
 * Splits by stage: a file holds what exactly the same stages need. So a stage reads a handful of files, and nothing that
 * it does not need. What no stage needs is split at the dynamic imports.
 */
function splitByStage() {
	let stagesOf;
	return (id, graph) => {
		stagesOf ??= reach(graph);
		// An entry exports what it says and nothing else.
		return graph.getModuleInfo(id)?.isEntry ? null : (stagesOf.get(id)?.join("-") ?? null);
	};
}

/** Module → stages that load it, in the order of `STAGES`. */
function reach(graph) {
	const stagesOf = new Map();
	for (const [stage, roots] of Object.entries(STAGES)) {
		const seen = new Set(roots.map((path) => join(root, path)));
		for (const id of seen) {
			const module = graph.getModuleInfo(id);
			if (!module) continue; // one of Node's own, or optional
			stagesOf.set(id, [...(stagesOf.get(id) ?? []), stage]);
			for (const imported of module.importedIds) seen.add(imported);
		}
	}
	return stagesOf;
}

const patches = libraryPatches();
/** Refuses a build that left out a replaced module: the bundle would contain another copy, as the library has it. */
const allReplaced = {
	name: "all-replaced",
	buildEnd() {
		const missing = patches.paths.filter((path) => !this.getModuleInfo(path));
		if (missing.length > 0) this.error(`Replaced modules are not part of the bundle: ${missing.join(", ")}`);
	},
};
const bundle = await rolldown({
	cwd: root,
	input: {
		main,
		index: "src/index.ts",
		hooks: "src/hooks/index.ts",
		testing: "src/testing/index.ts",
		// Run as a thread of its own, so it needs a name.
		"watchdog-worker": "src/hooks/watchdog-worker.ts",
	},
	platform: "node",
	transform: { target: "node20" },
	resolve: { extensionAlias: { ".js": [".ts", ".js"] } },
	// Native or optional at run time; @opentelemetry/api is an optional peer that is never installed.
	external: [/^(koffi|jiti|@vscode\/ripgrep|@aws-sdk\/.*|@smithy\/.*|@opentelemetry\/api)$/],
	plugins: [libraryPatchesPlugin(patches), allReplaced, nodeBuiltins],
	preserveEntrySignatures: "allow-extension",
	// Some modules are loaded at the start in one mode and later in another.
	checks: { ineffectiveDynamicImport: false },
});
rmSync(dist, { recursive: true, force: true });
await bundle.write({
	dir: dist,
	minify: true,
	charset: "ascii",
	codeSplitting: { includeDependenciesRecursively: false, groups: [{ name: splitByStage(), debugName: "stages" }] },
});
await bundle.close();

// bin/pi.js answers --help from this file, without loading the bundle.
const help = await rolldown({ input: join(root, "src/cli/help.ts") });
const [{ code: helpModule }] = (await help.generate()).output;
const { HELP_TEXT } = await import(`data:text/javascript,${encodeURIComponent(helpModule)}`);
writeFileSync(join(dist, "help.txt"), HELP_TEXT);
// Last: bin/start.js takes it as the sign of a whole build.
cpSync(join(root, "CHANGELOG.md"), join(dist, "CHANGELOG.md"));

if (process.argv.includes("--types")) (await import("./build-types.js")).buildTypes();

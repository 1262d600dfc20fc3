#!/usr/bin/env node
// Builds dist/: one split bundle for the program and the package entries, and with --types the declarations.
import { spawnSync } from "node:child_process";
import { cpSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { isBuiltin } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { init, parse } from "es-module-lexer";
import { build } from "esbuild";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const dist = join(root, "dist");

/**
 * Turns imports of Node's own modules into require(). Imported as ES modules each of them costs a facade that touches
 * all its lazy parts (streams, web crypto), a sixth of the time to the first paint.
 */
async function requireBuiltins(code) {
	await init;
	const [imports] = parse(code);
	let out = "";
	let end = 0;
	for (const { n: name, d: dynamic, ss: from, se: to } of imports) {
		// The banner itself needs node:module.
		if (dynamic !== -1 || name === "node:module" || !isBuiltin(name)) continue;
		out += code.slice(end, from) + requireStatement(code.slice(from, to), name);
		end = to;
	}
	return out + code.slice(end);
}

/** `import a,{b as c}from"node:fs"` as `const a=…,{b:c}=…`. */
function requireStatement(statement, name) {
	const [, bindings = ""] = /^import\s*(.*?)\s*from/s.exec(statement) ?? [];
	const [, fallback, namespace, members] = /^([\w$]+)?\s*,?\s*(?:\*\s*as\s+([\w$]+))?(\{.*\})?$/s.exec(bindings) ?? [];
	const targets = [fallback, namespace, members?.replace(/\s+as\s+/g, ":")].filter(Boolean);
	const module = `__require("${name}")`;
	return targets.length > 0 ? `const ${targets.map((target) => `${target}=${module}`).join(",")}` : module;
}

/** pi-ai's list of models is data of half a megabyte: as JSON it is read in a fraction of the time that code takes. */
const modelsAsJson = {
	name: "models-as-json",
	setup(plugin) {
		plugin.onLoad({ filter: /pi-ai[\\/]dist[\\/]models\.generated\.js$/ }, async ({ path }) => {
			const { MODELS } = await import(pathToFileURL(path).href);
			return { contents: `export const MODELS = JSON.parse(${JSON.stringify(JSON.stringify(MODELS))});` };
		});
	},
};

/**
 * pi-tui measures a line with any style in it grapheme by grapheme, several times over. Nearly all lines hold nothing but
 * plain characters and styles: ours measures those in one pass, and leaves the others to it. And when it wraps text, it
 * follows the styles of each line for the sake of the next one, also where there is none.
 */
const quickWidth = {
	name: "quick-width",
	setup(plugin) {
		plugin.onLoad({ filter: /pi-tui[\\/]dist[\\/]utils\.js$/ }, ({ path }) => {
			const code = readFileSync(path, "utf8");
			const ours = JSON.stringify(join(root, "src/tui/simple-width.ts"));
			const measured = putFirst(
				code,
				"visibleWidth(str)",
				"const simple = simpleWidth(str);\nif (simple >= 0) return simple;",
			);
			const wrapped = putFirst(
				measured,
				"wrapTextWithAnsi(text, width)",
				'if (text && !text.includes("\\n")) return wrapSingleLine(text, width);',
			);
			return { contents: `import { simpleWidth } from ${ours};\n${wrapped}` };
		});
	},
};

/** Puts a statement first in a function that a module exports. @throws Error when there is no such function */
function putFirst(code, signature, statement) {
	const start = `export function ${signature} {\n`;
	if (!code.includes(start)) throw new Error(`This version of pi-tui has no function ${signature}`);
	return code.replace(start, () => `${start}${statement}\n`);
}

/**
 * pi-ai reads the arguments of a tool call from their beginning with each piece that comes, which takes minutes for those
 * of a megabyte. Ours says when. That of the end, which counts, stays as it is.
 */
const growingArguments = {
	name: "growing-arguments",
	setup(plugin) {
		const providers =
			/pi-ai[\\/]dist[\\/]providers[\\/](?:anthropic|openai-completions|openai-responses-shared|mistral|amazon-bedrock)\.js$/;
		const grown =
			/((\w+)\.(partial\w+) (?:\+= |= \(\2\.\3 (?:\?\?|\|\|) ""\) \+ ).*;\s+)(\2\.arguments = parseStreamingJson\(\2\.\3\));/;
		plugin.onLoad({ filter: providers }, ({ path }) => {
			const code = readFileSync(path, "utf8");
			if (!grown.test(code)) throw new Error(`This version of pi-ai reads arguments in another way: ${path}`);
			const ours = JSON.stringify(join(root, "src/util/growing-arguments.ts"));
			const read = code.replace(grown, "$1readGrowingArguments($2, () => { $4; });");
			return { contents: `import { readGrowingArguments } from ${ours};\n${read}` };
		});
	},
};

rmSync(dist, { recursive: true, force: true });
await build({
	absWorkingDir: root,
	entryPoints: {
		main: "src/main.ts",
		index: "src/index.ts",
		hooks: "src/hooks/index.ts",
		testing: "src/testing/index.ts",
		// Run as a thread of its own, so it needs a name.
		"watchdog-worker": "src/hooks/watchdog-worker.ts",
	},
	outdir: dist,
	bundle: true,
	splitting: true,
	format: "esm",
	platform: "node",
	target: "node20",
	minify: true,
	legalComments: "external",
	// Native or optional at run time; @opentelemetry/api is an optional peer that is never installed.
	external: ["koffi", "jiti", "@vscode/ripgrep", "@aws-sdk/*", "@smithy/*", "@opentelemetry/api"],
	plugins: [modelsAsJson, quickWidth, growingArguments],
	// CommonJS dependencies inside the bundle call require().
	banner: {
		js: 'import{createRequire}from"node:module";const __require=createRequire(import.meta.url),require=__require;',
	},
	logLevel: "warning",
});
// bin/pi.js answers --help from this file, without loading the bundle.
const help = await build({
	absWorkingDir: root,
	entryPoints: ["src/cli/help.ts"],
	bundle: true,
	format: "esm",
	write: false,
});
const { HELP_TEXT } = await import(`data:text/javascript,${encodeURIComponent(help.outputFiles[0].text)}`);
writeFileSync(join(dist, "help.txt"), HELP_TEXT);
for (const name of readdirSync(dist).filter((file) => file.endsWith(".js"))) {
	const file = join(dist, name);
	writeFileSync(file, await requireBuiltins(readFileSync(file, "utf8")));
}
// Last: bin/start.js takes it as the sign of a whole build.
cpSync(join(root, "CHANGELOG.md"), join(dist, "CHANGELOG.md"));

if (process.argv.includes("--types")) {
	const tsc = spawnSync(
		process.execPath,
		[join(root, "node_modules/typescript/bin/tsc"), "-p", join(root, "tsconfig.build.json")],
		{ cwd: root, stdio: "inherit" },
	);
	process.exitCode = tsc.status ?? 1;
}

// Writes dist/types/: the declarations of pi and of the packages that hooks import. They depend only on @types/node.
import { spawnSync } from "node:child_process";
import { copyFileSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const packages = join(root, "node_modules");
const types = join(root, "dist", "types");

/** Package entry point → its file among pi's own declarations, and whether hooks import it. */
const ENTRIES = {
	index: { file: "index.d.ts", forHooks: false },
	hooks: { file: "hooks/index.d.ts", forHooks: true },
	testing: { file: "testing/index.d.ts", forHooks: true },
};
/** Folder of dist/types → the source of its declarations and its entry points. */
const COPIED = {
	"pi-ai": { from: "@mariozechner/pi-ai/dist", entries: ["compat.d.ts"] },
	"pi-tui": { from: "@mariozechner/pi-tui/dist", entries: ["index.d.ts"] },
	marked: { from: "marked/lib", entries: ["marked.d.ts"], license: "marked/LICENSE" },
	typebox: {
		from: "typebox/build",
		entries: ["index.d.mts", "value/index.d.mts", "schema/static/index.d.mts"],
		license: "typebox/license",
	},
};
/** Imported package → its file in dist/types. The `imports` of package.json name the same files. */
const NAMES = {
	"@mariozechner/pi-ai": "pi-ai/compat.js",
	"@mariozechner/pi-tui": "pi-tui/index.js",
	typebox: "typebox/index.mjs",
	"typebox/value": "typebox/value/index.mjs",
};
/** The same for what only other declarations import: the parser of pi-tui, and of the schemas the types made from them. */
const OWN_NAMES = { marked: "marked/marked.js", "typebox/schema": "typebox/schema/static/index.mjs" };
/**
 * Replaces the packages of providers, which are hundreds of megabytes, and that of telemetry, which pi does not send. Only
 * options of single wire formats use their types; the rest is internal.
 */
const PROVIDERS = {
	"@anthropic-ai/sdk": "type Anthropic = object;",
	"@earendil-works/pi-telemetry": "type TelemetryContext = object;",
	"@google/genai":
		"type Content = unknown; type FinishReason = string; type FunctionCallingConfigMode = string; " +
		"type GoogleSdkThinkingLevel = string; type ThinkingConfig = object; " +
		"type Part = { thought?: boolean; thoughtSignature?: string };",
	openai:
		"declare namespace OpenAI.Chat.Completions { type ChatCompletionToolChoiceOption = " +
		'"none" | "auto" | "required" | object; }',
	"openai/resources/chat/completions.js": "type ChatCompletionMessageParam = unknown;",
	"openai/resources/responses/responses.js":
		"type OpenAITool = object; type ResponseInput = unknown[]; type ResponseStreamEvent = object; " +
		"type ResponseCreateParamsStreaming = { tool_choice?: string | object; " +
		'service_tier?: "auto" | "default" | "flex" | "scale" | "priority" | null };',
};
/** A module of pi-ai whose types are derived from the lists of models: 900 kB of JSON, of which types only use ids and APIs. */
const LISTS = "models.generated.d.ts";
/** An import from or export of another module: the text before the name, the quote, the name. */
const FROM = /(\bfrom\s*|\bimport\s*\(?\s*)(["'])([^"'\n]+)\2/g;
const NODE = /^(node:|events$)/;

/**
 * Replaces dist/types.
 * @throws Error if the sources do not compile, or if a declaration imports a package that pi does not install
 */
export function buildTypes() {
	const emitted = mkdtempSync(join(tmpdir(), "pi-types-"));
	try {
		const args = [
			join(packages, "typescript/bin/tsc"),
			"-p",
			join(root, "tsconfig.build.json"),
			"--outDir",
			emitted,
			"--checkers",
			"1",
		];
		if (spawnSync(process.execPath, args, { cwd: root, stdio: "inherit" }).status !== 0) {
			throw new Error("Cannot write declarations: the sources do not compile");
		}
		rmSync(types, { recursive: true, force: true });
		const entries = Object.values(ENTRIES).map(({ file }) => file);
		copyReachable(emitted, "pi", entries);
	} finally {
		rmSync(emitted, { recursive: true, force: true });
	}
	for (const [folder, { from, entries, license }] of Object.entries(COPIED)) {
		copyReachable(join(packages, from), folder, entries);
		if (license) copyFileSync(join(packages, license), join(types, folder, "LICENSE"));
	}
	writeEntries();
}

/** Copies the declarations that are reachable from the entry points; most of pi's own are not. */
function copyReachable(from, folder, entries) {
	const files = new Set(entries);
	for (const file of files) {
		const path = `${folder}/${file}`;
		const source = folder === "pi-ai" && file === LISTS ? listTypes(from) : readFileSync(join(from, file), "utf8");
		const text = withoutProviders(source).replace(FROM, (match, before, quote, name, at, whole) => {
			// Not a module that a comment names.
			if (/^\s*\/?\*/.test(whole.slice(whole.lastIndexOf("\n", at) + 1, at))) return match;
			if (name.startsWith(".")) {
				// Some packages name their sources, which older compilers do not find.
				const compiled = name.replace(/(?<!\.d)\.(m?)ts$/, ".$1js");
				files.add(join(dirname(file), compiled).replace(/\.(m?)js$/, ".d.$1ts"));
				return `${before}${quote}${compiled}${quote}`;
			}
			if (NODE.test(name)) return match;
			const known = { ...NAMES, ...OWN_NAMES }[name];
			if (known === undefined) throw new Error(`${path} imports ${name}, which pi does not install`);
			const target = relative(dirname(path), known).replaceAll("\\", "/");
			return `${before}${quote}${target.startsWith(".") ? target : `./${target}`}${quote}`;
		});
		mkdirSync(dirname(join(types, path)), { recursive: true });
		writeFileSync(join(types, path), withTabs(text.replace(SOURCE_MAP, "\n")));
	}
}
/** Indents with tabs, which makes declarations a fifth smaller. */
function withTabs(text) {
	return text.replace(/^(?: {4})+/gm, (spaces) => "\t".repeat(spaces.length / 4));
}

const SOURCE_MAP = /\n?\/\/# sourceMappingURL=\S*\s*$/;

function withoutProviders(text) {
	return text.replace(/^import .* from "([^"]+)";$/gm, (match, name) => PROVIDERS[name] ?? match);
}

/** The declaration of the lists of models, with the ids of each provider by API. */
function listTypes(from) {
	const data = join(from, "providers/data");
	const providers = readdirSync(data).filter((name) => !name.startsWith("."));
	const lists = providers.map((name) => {
		const provider = JSON.stringify(name.replace(/\.json$/, ""));
		const apis = Object.entries(JSON.parse(readFileSync(join(data, name), "utf8"))).map(([api, models]) => {
			const ids = Object.keys(models).map((id) => `${JSON.stringify(id)}: object`);
			return `${JSON.stringify(api)}: { ${ids.join("; ")} }`;
		});
		return `\t${provider}: ModelCatalog<{ ${apis.join("; ")} }, ${provider}>;`;
	});
	const head = 'import type { ModelCatalog } from "./model-catalog.js";';
	return `${head}\nexport declare const MODELS: {\n${lists.join("\n")}\n};\n`;
}

/**
 * Writes the files that `exports` of package.json names. Those for hooks declare the packages that pi provides to hooks, so
 * that imports resolve although the packages are not installed. Users of the SDK install the packages that they import.
 */
function writeEntries() {
	const node = '/// <reference types="node" />\n';
	for (const [name, { file, forHooks }] of Object.entries(ENTRIES)) {
		const reference = forHooks ? '/// <reference path="./packages.d.ts" />\n' : "";
		const exported = `export * from "./pi/${file.replace(/\.d\.ts$/, ".js")}";\n`;
		writeFileSync(join(types, `${name}.d.ts`), node + reference + exported);
	}
	// A module declaration cannot name files relatively, so the "imports" of package.json give them names.
	const { imports } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
	const declared = Object.entries(NAMES).map(([name, file]) => {
		const declarations = `./dist/types/${file.replace(/\.(m?)js$/, ".d.$1ts")}`;
		const [alias] = Object.entries(imports).find(([, { types }]) => types === declarations) ?? [];
		if (alias === undefined) throw new Error(`The imports of package.json do not name ${declarations}`);
		const hasDefault = /^export default /m.test(readFileSync(join(root, declarations), "utf8"));
		return `declare module "${name}" {\n\texport * from "${alias}";\n${hasDefault ? `\texport { default } from "${alias}";\n` : ""}}\n`;
	});
	writeFileSync(join(types, "packages.d.ts"), node + declared.join(""));
}

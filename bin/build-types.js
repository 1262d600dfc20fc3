// Writes dist/types/: the declarations of pi and of the packages that hooks import. They depend only on @types/node.
import { spawnSync } from "node:child_process";
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
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
	"pi-ai": { from: "@mariozechner/pi-ai/dist", entries: ["index.d.ts"] },
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
	"@mariozechner/pi-ai": "pi-ai/index.js",
	"@mariozechner/pi-tui": "pi-tui/index.js",
	typebox: "typebox/index.mjs",
	"typebox/value": "typebox/value/index.mjs",
};
/** The same for what only other declarations import: the parser of pi-tui, and of the schemas the types made from them. */
const OWN_NAMES = { marked: "marked/marked.js", "typebox/schema": "typebox/schema/static/index.mjs" };
/**
 * Replaces the packages of providers, which are hundreds of megabytes. Only two exported options of pi-ai use their types,
 * `client` and `serviceTier`; the rest is internal.
 */
const PROVIDERS = {
	"@anthropic-ai/sdk": "type Anthropic = object;",
	"@google/genai":
		"type Content = unknown; type FinishReason = string; type FunctionCallingConfigMode = string; " +
		"type Part = { thought?: boolean; thoughtSignature?: string };",
	"openai/resources/chat/completions.js": "type ChatCompletionMessageParam = unknown;",
	"openai/resources/responses/responses.js":
		'type ResponseCreateParamsStreaming = { service_tier?: "auto" | "default" | "flex" | "scale" | "priority" | null };',
};
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
		const text = withoutProviders(readFileSync(join(from, file), "utf8")).replace(
			FROM,
			(match, before, quote, name) => {
				if (name.startsWith(".")) {
					// Some declarations name sources, which only the compiler of their package accepts.
					const module = name.replace(/(?<!\.d)\.(m?)ts$/, ".$1js");
					files.add(join(dirname(file), module).replace(/\.(m?)js$/, ".d.$1ts"));
					return `${before}${quote}${module}${quote}`;
				}
				if (NODE.test(name)) return match;
				const known = { ...NAMES, ...OWN_NAMES }[name];
				if (known === undefined) throw new Error(`${path} imports ${name}, which pi does not install`);
				const target = relative(dirname(path), known).replaceAll("\\", "/");
				return `${before}${quote}${target.startsWith(".") ? target : `./${target}`}${quote}`;
			},
		);
		mkdirSync(dirname(join(types, path)), { recursive: true });
		writeFileSync(
			join(types, path),
			withTabs((file === "models.generated.d.ts" ? apisOnly(text) : text).replace(SOURCE_MAP, "\n")),
		);
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

/** Keeps the id and API of each model in the list, the only properties that types use: 1/15 of the text. */
function apisOnly(text) {
	return text.replace(/^ {12}(?!api: ).*\n/gm, "");
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

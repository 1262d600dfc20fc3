// What bin/build.js changes in the code that it bundles, for the sake of speed.
import { isBuiltin } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { init, parse } from "es-module-lexer";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");

/** Node does much of the work of a first require() again at each later one. */
const BUILTIN = `import { createRequire as builtinsFrom } from "node:module";
	const loadBuiltin = builtinsFrom(import.meta.url), builtins = {}, builtin = (name) => (builtins[name] ??= loadBuiltin(name));
`;

/**
 * Turns imports of Node's own modules into require(). Imported as ES modules each of them costs a facade that touches all
 * its lazy parts (streams, web crypto), a sixth of the time to the first paint.
 */
export const requireBuiltins = {
	name: "require-builtins",
	async renderChunk(code) {
		await init;
		const [imports] = parse(code);
		let out = BUILTIN;
		let end = 0;
		for (const { n: name, d: dynamic, ss: from, se: to } of imports) {
			// The facade of node:module is there anyway.
			if (dynamic !== -1 || name === "node:module" || !isBuiltin(name)) continue;
			out += code.slice(end, from) + requireStatement(code.slice(from, to), name);
			end = to;
		}
		return end === 0 ? null : out + code.slice(end);
	},
};

/** Modules of functions that no first paint calls: loaded with the first call. */
const LATE = new Set(["node:crypto"]);

/** `import a,{b as c}from"node:fs"` as `const a=…,{b:c}=…`. */
function requireStatement(statement, name) {
	const [, bindings = ""] = /^import\s*(.*?)\s*from/s.exec(statement) ?? [];
	const [, fallback, namespace, members] = /^([\w$]+)?\s*,?\s*(?:\*\s*as\s+([\w$]+))?(\{.*\})?$/s.exec(bindings) ?? [];
	const module = `builtin("${name}")`;
	if (LATE.has(name) && bindings === members) {
		const late = (_match, member, local = member) => `const ${local}=(...args)=>${module}.${member}(...args);`;
		return members.slice(1, -1).replace(/\s*([\w$]+)(?:\s+as\s+([\w$]+))?\s*,?/g, late);
	}
	const targets = [fallback, namespace, members?.replace(/\s+as\s+/g, ":")].filter(Boolean);
	return targets.length > 0 ? `const ${targets.map((target) => `${target}=${module}`).join(",")}` : module;
}

/** pi-ai's list of models is data of a third of a megabyte: read as JSON it costs a fraction of what code does. */
export const modelsAsJson = {
	name: "models-as-json",
	load: {
		filter: { id: /pi-ai[\\/]dist[\\/]models\.generated\.js$/ },
		async handler(path) {
			const { MODELS } = await import(pathToFileURL(path).href);
			this.emitFile({ type: "asset", fileName: "models.json", source: JSON.stringify(MODELS) });
			return `import { readFileSync } from "node:fs";
				export const MODELS = JSON.parse(readFileSync(new URL("models.json", import.meta.url), "utf8"));`;
		},
	},
};

/**
 * pi-tui measures a line with any style in it grapheme by grapheme, several times over. Nearly all lines hold nothing but
 * plain characters and styles: ours measures those in one pass, and leaves the others to it. When it wraps text, it
 * follows the styles of each line for the sake of the next one, also where there is none. And its pattern for emoji, read
 * at the start, is the dearest line of the whole program, 15 ms: it is made when an emoji is first met.
 */
export const quickWidth = {
	name: "quick-width",
	transform: {
		filter: { id: /pi-tui[\\/]dist[\\/]utils\.js$/ },
		handler(code) {
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
			return `import { simpleWidth } from ${ours};\n${emojiLater(wrapped)}`;
		},
	},
};

/** Puts a statement first in a function that a module exports. @throws Error when there is no such function */
function putFirst(code, signature, statement) {
	const start = `export function ${signature} {\n`;
	if (!code.includes(start)) throw new Error(`This version of pi-tui has no function ${signature}`);
	return code.replace(start, () => `${start}${statement}\n`);
}

/** Makes the pattern for emoji with its first use. @throws Error when there is no such pattern */
function emojiLater(code) {
	const now = "const rgiEmojiRegex = /^\\p{RGI_Emoji}$/v;";
	if (!code.includes(now)) throw new Error("This version of pi-tui finds emoji in another way");
	const later = `let emoji;
		const rgiEmojiRegex = { test: (text) => (emoji ??= new RegExp("^\\\\p{RGI_Emoji}$", "v")).test(text) };`;
	return code.replace(now, () => later);
}

const PROVIDERS =
	/pi-ai[\\/]dist[\\/]providers[\\/](?:anthropic|openai-completions|openai-responses-shared|mistral|amazon-bedrock)\.js$/;
const GROWN =
	/((\w+)\.(partial\w+) (?:\+= |= \(\2\.\3 (?:\?\?|\|\|) ""\) \+ ).*;\s+)(\2\.arguments = parseStreamingJson\(\2\.\3\));/;

/**
 * pi-ai reads the arguments of a tool call from their beginning with each piece that comes, which takes minutes for those
 * of a megabyte. Ours says when. That of the end, which counts, stays as it is.
 */
export const growingArguments = {
	name: "growing-arguments",
	transform: {
		filter: { id: PROVIDERS },
		handler(code, path) {
			if (!GROWN.test(code)) throw new Error(`This version of pi-ai reads arguments in another way: ${path}`);
			const ours = JSON.stringify(join(root, "src/util/growing-arguments.ts"));
			const read = code.replace(GROWN, "$1readGrowingArguments($2, () => { $4; });");
			return `import { readGrowingArguments } from ${ours};\n${read}`;
		},
	},
};

/** Node reads ASCII several times faster than text with a single other character in it. */
export const asciiOnly = {
	name: "ascii-only",
	generateBundle(_options, files) {
		const escaped = (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;
		for (const file of Object.values(files)) {
			if (file.type === "chunk") file.code = file.code.replace(/[^\0-\x7f]/g, escaped);
		}
	},
};

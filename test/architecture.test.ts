import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, posix, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const root = fileURLToPath(new URL("..", import.meta.url));

/** Units of src by rank. A unit may import units of earlier ranks, but not other units of its own rank. */
const RANKS: readonly (readonly string[])[] = [
	["errors"],
	["util"],
	["themes", "images", "pages"],
	["log", "config", "tools", "tui", "demo", "network"],
	["models", "trust"],
	["context", "agent", "resources", "usage"],
	["export", "mcp", "imports"],
	["hooks"],
	["extensions"],
	["packages"],
	["commands", "features"],
	["services"],
	["session"],
	["operations"],
	["replay"],
	["context-bench"],
	["sdk"],
	["modes", "testing"],
	["cli"],
	["main", "index"],
];
const MAX_LINES = 400;
const SCREEN_FOLDERS = ["src/tui/", "src/modes/interactive/"];
const SCREEN_PACKAGES = ["@mariozechner/pi-tui", "chalk"];
/** The only folder that may use private members of the terminal library. */
const INTERNALS = "src/tui/internals/";
/** Provides hooks with pi's own modules, including pi-tui and the package itself; each is loaded on demand. */
const SHARED_MODULES = "src/hooks/shared-modules.ts";
/** Import modules of pi-ai that the package exports only together with others. */
const LIBRARY_PARTS = ["src/util/pi-ai.ts", "src/models/library.ts"];
/** The types of the hook API name the components that hooks create; it loads nothing. */
const COMPONENT_TYPES = "src/hooks/types/ui.ts";
/** Loads the part of the screen that draws components as text, on demand. */
const TEXT_SCREEN_USER = "src/testing/create-hook-test.ts";
/** util/process.ts passes the environment on to child processes without reading it. */
const ENVIRONMENT_READERS = ["src/config/paths.ts", "src/main.ts", "src/util/process.ts"];
/** Entry points that run without a terminal. */
const SCREENLESS = [
	"src/index.ts",
	"src/hooks/index.ts",
	"src/testing/index.ts",
	"src/modes/print.ts",
	"src/modes/json.ts",
	"src/modes/rpc/rpc-server.ts",
];

interface Import {
	specifier: string;
	/** Path of a relative import from the root, else null. */
	target: string | null;
	typeOnly: boolean;
	dynamic: boolean;
}

interface SourceFile {
	/** Relative to the root, with `/`. */
	path: string;
	code: string;
	lines: number;
	imports: Import[];
}

const files = readdirSync(join(root, "src"), { recursive: true, withFileTypes: true })
	.filter((entry) => entry.isFile() && entry.name.endsWith(".ts"))
	.map((entry) => readSource(join(entry.parentPath, entry.name)));

function readSource(absolute: string): SourceFile {
	const path = relative(root, absolute).replaceAll("\\", "/");
	const text = readFileSync(absolute, "utf8");
	const code = text.replace(/\/\*[\s\S]*?\*\//g, "").replace(/^\s*\/\/.*$/gm, "");
	return { path, code, lines: text.trimEnd().split("\n").length, imports: findImports(path, code) };
}

function findImports(path: string, code: string): Import[] {
	const imports: Import[] = [];
	// A stray backtick in a string cannot hide an import, because imports come first in a file.
	const statements = withoutTemplates(code);
	const add = (specifier: string | undefined, typeOnly: boolean, dynamic: boolean) => {
		if (specifier === undefined) return;
		const target = specifier.startsWith(".") ? posix.join(dirname(path), specifier).replace(/\.js$/, ".ts") : null;
		imports.push({ specifier, target, typeOnly, dynamic });
	};
	for (const match of statements.matchAll(/^\s*(?:import|export)\s+(type\s)?[^;"']*?\sfrom\s+["']([^"']+)["']/gm)) {
		add(match[2], match[1] !== undefined, false);
	}
	for (const match of statements.matchAll(/^\s*import\s+["']([^"']+)["']/gm)) add(match[1], false, false);
	for (const match of code.matchAll(/\bimport\(\s*["']([^"']+)["']/g)) add(match[1], false, true);
	return imports;
}

/** Removes template literals, which may contain the sources of other programs. */
function withoutTemplates(code: string): string {
	return code.replace(/`(?:\\.|[^`\\])*`/gs, "``");
}

/** `src/modes/rpc/rpc-server.ts` → `modes`; `src/main.ts` → `main`. */
function unitOf(path: string): string {
	return (path.split("/")[1] ?? "").replace(/\.ts$/, "");
}

function rankOf(unit: string): number {
	return RANKS.findIndex((units) => units.includes(unit));
}

function isScreen(file: string): boolean {
	return SCREEN_FOLDERS.some((folder) => file.startsWith(folder));
}

test("every unit of src has a rank", () => {
	const unknown = files.filter((file) => rankOf(unitOf(file.path)) < 0).map((file) => file.path);
	expect(unknown).toEqual([]);
});

test("imports point to the own unit or to an earlier rank, including type imports", () => {
	const offenders = files.flatMap((file) =>
		file.imports.flatMap(({ target, dynamic }) => {
			if (target === null || (dynamic && file.path === SHARED_MODULES)) return [];
			const [from, to] = [unitOf(file.path), unitOf(target)];
			return from === to || rankOf(to) < rankOf(from) ? [] : [`${file.path} imports ${target}`];
		}),
	);
	expect(offenders).toEqual([]);
});

test("no import is circular, including type imports", () => {
	expect(findCycles()).toEqual([]);
});

/** The strongly connected components of static imports with several files (Tarjan's algorithm). */
function findCycles(): string[][] {
	const imports = new Map(
		files.map(({ path, imports: own }) => [path, own.filter(({ dynamic }) => !dynamic).map(({ target }) => target)]),
	);
	const order = new Map<string, number>();
	const open: string[] = [];
	const cycles: string[][] = [];
	/** @returns the order of the earliest open file that is reachable from `path` */
	const visit = (path: string): number => {
		const own = order.size;
		let earliest = own;
		order.set(path, own);
		open.push(path);
		for (const target of imports.get(path) ?? []) {
			if (target === null || !imports.has(target)) continue;
			const known = order.get(target);
			if (known === undefined) earliest = Math.min(earliest, visit(target));
			else if (open.includes(target)) earliest = Math.min(earliest, known);
		}
		if (earliest === own) {
			const cycle = open.splice(open.indexOf(path));
			if (cycle.length > 1) cycles.push(cycle.sort());
		}
		return earliest;
	};
	for (const path of imports.keys()) if (!order.has(path)) visit(path);
	return cycles;
}

test("only src/tui/internals uses private members of the terminal library", () => {
	const offenders = files
		.filter(({ path }) => isScreen(path) && !path.startsWith(INTERNALS))
		.flatMap(({ path, code }) => {
			const text = withoutStrings(code).replace(/^\s*(?:import|export)\b[^;]*?\bfrom\b[^;]*;/gm, "");
			const found = text.match(/\bReflect\.\w+|\bas (?!const\b)[\w{(["']+/g) ?? [];
			return found.map((use) => `${path}: ${use}`);
		});
	expect(offenders).toEqual([]);
});

/** Removes the content of strings, and comments at the end of lines. */
function withoutStrings(code: string): string {
	const plain = withoutTemplates(code).replace(/"(?:\\.|[^"\\\n])*"/g, '""');
	return plain.replace(/\s\/\/.*$/gm, "");
}

test("relative imports name an existing file with the extension .js", () => {
	const known = new Set(files.map((file) => file.path));
	const offenders = files.flatMap((file) =>
		file.imports
			.filter(({ target, specifier }) => target !== null && !(specifier.endsWith(".js") && known.has(target)))
			.filter(({ target }) => !(LIBRARY_PARTS.includes(file.path) && target?.startsWith("node_modules/")))
			.map(({ specifier }) => `${file.path} imports ${specifier}`),
	);
	expect(offenders).toEqual([]);
});

test("only the screen imports the terminal library, chalk and src/tui", () => {
	const offenders = files
		.filter((file) => !isScreen(file.path))
		.flatMap((file) =>
			file.imports
				.filter(({ specifier, target, dynamic, typeOnly }) => {
					if (target === "src/tui/text-screen.ts") return !(dynamic && file.path === TEXT_SCREEN_USER);
					if (target?.startsWith("src/tui/")) return true;
					const isPackage = SCREEN_PACKAGES.some((name) => specifier === name || specifier.startsWith(`${name}/`));
					const isAllowed = dynamic ? file.path === SHARED_MODULES : typeOnly && file.path === COMPONENT_TYPES;
					return isPackage && !isAllowed;
				})
				.map(({ specifier }) => `${file.path} imports ${specifier}`),
		);
	expect(offenders).toEqual([]);
});

test("entry points that run without a terminal load no screen", () => {
	const byPath = new Map(files.map((file) => [file.path, file]));
	const offenders: string[] = [];
	const visit = (path: string, trail: readonly string[], seen: Set<string>) => {
		const file = byPath.get(path);
		if (!file || seen.has(path)) return;
		seen.add(path);
		if (isScreen(path)) {
			offenders.push([...trail, path].join(" → "));
			return;
		}
		for (const { target, typeOnly, dynamic } of file.imports) {
			if (target !== null && !typeOnly && !dynamic) visit(target, [...trail, path], seen);
		}
	};
	for (const entry of SCREENLESS) visit(entry, [], new Set());
	expect(offenders).toEqual([]);
});

test("the plain mode loads no terminal library", () => {
	const byPath = new Map(files.map((file) => [file.path, file]));
	const seen = new Set<string>();
	const visit = (path: string): string[] => {
		const file = byPath.get(path);
		if (!file || seen.has(path)) return [];
		seen.add(path);
		const loaded = file.imports.filter(({ typeOnly, dynamic }) => !typeOnly && !dynamic);
		const packages = loaded.filter(({ specifier }) => SCREEN_PACKAGES.includes(specifier));
		return [
			...packages.map(({ specifier }) => `${path} imports ${specifier}`),
			...loaded.flatMap(({ target }) => (target === null ? [] : visit(target))),
		];
	};
	expect(visit("src/cli/run-plain.ts")).toEqual([]);
	expect([...seen].filter((path) => path.startsWith("src/tui/"))).toEqual([]);
	expect(seen).toContain("src/modes/plain/narrator.ts");
});

test(`no file of src is longer than ${MAX_LINES} lines`, () => {
	const offenders = files.filter((file) => file.lines > MAX_LINES).map((file) => `${file.path}: ${file.lines} lines`);
	expect(offenders).toEqual([]);
});

test("no file of src has a default export", () => {
	const offenders = files.filter((file) =>
		/^\s*export\s+(default\b|\{[^}]*\bas default\b)/m.test(withoutTemplates(file.code)),
	);
	expect(offenders.map((file) => file.path)).toEqual([]);
});

test("only config/paths.ts reads the environment, and main.ts passes it on", () => {
	const offenders = files.filter(
		(file) => !ENVIRONMENT_READERS.includes(file.path) && /\bprocess\s*\.\s*env\b/.test(file.code),
	);
	expect(offenders.map((file) => file.path)).toEqual([]);
});

test("no time limit is part of AbortSignal.any: Node 20 collects it as garbage before it is over", () => {
	const offenders = files.filter(({ code }) => /AbortSignal\.any\([^;]*AbortSignal\.timeout/.test(code));
	expect(offenders.map((file) => file.path)).toEqual([]);
});

test("tools reach the machine only through their machine", () => {
	const machine = /^node:(fs|child_process|os)\b/;
	const helpers = ["src/util/fs.ts", "src/util/process.ts", "src/util/reaper.ts"];
	/** Files of pi itself, on the machine where pi runs: the output of commands. */
	const ownFiles = ["src/tools/job-output.ts", "src/tools/output-recorder.ts"];
	const offenders = files
		.filter(
			({ path }) => path.startsWith("src/tools/") && !path.startsWith("src/tools/machine/") && !ownFiles.includes(path),
		)
		.flatMap(({ path, code, imports }) => {
			const direct = imports.filter(
				({ specifier, target, typeOnly }) =>
					machine.test(specifier) || (target !== null && helpers.includes(target) && !typeOnly),
			);
			// Errors are told apart by their codes.
			return direct
				.filter(
					({ target }) =>
						target !== "src/util/fs.ts" || !/import \{ (errnoCode|isNotFound) \} from "\.\.\/util\/fs\.js"/.test(code),
				)
				.map(({ specifier }) => `${path} imports ${specifier}`);
		});
	expect(offenders).toEqual([]);
	// The others get it from the session.
	const users = files.filter(({ imports }) =>
		imports.some(({ target }) => target === "src/tools/machine/local-machine.ts"),
	);
	expect(users.map(({ path }) => path).sort()).toEqual([
		"src/cli/subcommands/doctor.ts",
		"src/modes/interactive/screen-components.ts",
		"src/services/open-services.ts",
	]);
});

test("no code compares a model's id with a part of a family's name: the list of models has the facts", () => {
	const family = "(?:claude|sonnet|opus|haiku|fable|gpt|gemini|gemma|grok|deepseek|qwen|kimi|glm)";
	const comparisons = [
		new RegExp(`\\.(?:includes|startsWith|endsWith|indexOf|search|match|matchAll)\\([^)\\n]*${family}`, "gi"),
		new RegExp(`[=!]==\\s*["'\`][^"'\`\\n]*${family}`, "gi"),
		new RegExp(`\\/[^/\\s]*${family}[^/\\n]*\\/[a-z]*\\.(?:test|exec)\\(`, "gi"),
	];
	const found = files.flatMap(({ path, code }) =>
		comparisons.flatMap((comparison) => [...code.matchAll(comparison)].map(([text]) => `${path}: ${text}`)),
	);
	// Ollama reports this family of the model, whatever its id.
	expect(found).toEqual(['src/models/local-facts.ts: === "gpt']);
});

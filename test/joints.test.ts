import { readdirSync, readFileSync } from "node:fs";
import { basename, join, posix } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

/**
 * What holds the parts of src together, counted. A part may be good while its joints are not: a limit on lines is obeyed by
 * one more file, one more thunk or one more interface. Each count has a ceiling that only falls: whoever removes a joint
 * lowers it here, and nobody raises one.
 */
const CEILINGS = {
	"late bindings": 5,
	"interfaces that are named Deps": 23,
	"files of at most 50 lines with a single importer": 19,
	"methods that only call one of the same name": 180,
	"classes with more than 25 public members": 2,
	"file names that are used twice": 20,
	"files outside models that are named after a model": 18,
	"files that are named after a host": 0,
};

const root = fileURLToPath(new URL("..", import.meta.url));

interface SourceFile {
	/** Relative to the root, with `/`. */
	path: string;
	/** Without comments. */
	code: string;
	lines: number;
}

const files: SourceFile[] = readdirSync(join(root, "src"), { recursive: true, withFileTypes: true })
	.filter((entry) => entry.isFile() && entry.name.endsWith(".ts"))
	.map((entry) => {
		const path = posix.join(entry.parentPath.slice(root.length).replaceAll("\\", "/"), entry.name);
		const text = readFileSync(join(root, path), "utf8");
		const code = text.replace(/\/\*[\s\S]*?\*\//g, "").replace(/^\s*\/\/.*$/gm, "");
		return { path, code, lines: text.trimEnd().split("\n").length };
	});

/** The files that create the parts of a session and connect them. */
const CONNECTORS = ["src/services/open-services.ts", "src/sdk/create-session.ts"];

/** Names that a function mentions before it declares them, which only a later call can use; and functions that are replaced later. */
function lateBindings({ path, code }: SourceFile): string[] {
	if (!/^src\/(services|session|sdk)\//.test(path)) return [];
	const replaced = [...code.matchAll(/^\t+let (\w+)(?:: [^=]+)? = \([^)]*\)(?:: [^=]+)? =>/gm)].map(
		([, name = ""]) => name,
	);
	const early = CONNECTORS.includes(path) ? code.split(/^}/m).flatMap(namesBeforeTheirDeclaration) : [];
	return [...replaced, ...early].map((name) => `${path}: ${name}`);
}

function namesBeforeTheirDeclaration(text: string): string[] {
	const start = text.search(/^(?:export )?(?:async )?function /m);
	const body = start < 0 ? "" : text.slice(start);
	return [...body.matchAll(/^\tconst (\w+)(?:: [^=]+)? = /gm)].flatMap(({ 1: name = "", index }) => {
		const before = body.slice(body.indexOf("\n"), index).replace(/"[^"\n]*"/g, '""');
		return new RegExp(`(?<![.\\w])${name}(?![\\w:])`).test(before) ? [name] : [];
	});
}

function depsInterfaces({ path, code }: SourceFile): string[] {
	return [...code.matchAll(/^(?:export )?interface (\w+Deps)\b/gm)].map(([, name]) => `${path}: ${name}`);
}

/** The files that import each file. */
const importers = new Map<string, Set<string>>();
for (const { path, code } of files) {
	for (const [, specifier = ""] of code.matchAll(/(?:\bfrom|\bimport\(?)\s*["'](\.[^"']+)["']/g)) {
		const target = posix.join(posix.dirname(path), specifier).replace(/\.js$/, ".ts");
		importers.set(target, (importers.get(target) ?? new Set()).add(path));
	}
}

function isJoint({ path, lines, code }: SourceFile): boolean {
	const [importer, ...others] = importers.get(path) ?? [];
	// Neither a file that is loaded on demand nor one of several of a kind, which a list imports.
	const isDynamic = files.some((file) =>
		new RegExp(`import\\(["'][^"']*/${basename(path, ".ts")}\\.js["']\\)`).test(file.code),
	);
	const isListed = /\/(index|all)\.ts$/.test(importer ?? "");
	return lines <= 50 && importer !== undefined && others.length === 0 && !isDynamic && !isListed && code.trim() !== "";
}

/** What pi-tui wants of a component, whatever it contains. */
const COMPONENT = ["invalidate", "render", "handleInput"];

function forwarders({ path, code }: SourceFile): string[] {
	const methods = code.matchAll(
		/^\t(?:async )?(\w+)\([^\n]*\{\n\t\t(?:return |await )?this\.[\w#.]+\.\1\([^\n]*\);\n\t\}/gm,
	);
	const members = code.matchAll(/^\t+(\w+): (?:async )?\([^)\n]*\) => [\w.#]+(?:\(\))?\.\1\([^\n]*\),?$/gm);
	const found = [...methods, ...members].filter(([, name = ""]) => !COMPONENT.includes(name));
	return found.map(([, name]) => `${path}: ${name}`);
}

function crowdedClasses({ path, code }: SourceFile): string[] {
	return code.split(/^(?=(?:export )?(?:abstract )?class )/m).flatMap((text) => {
		const [, name] = /^(?:export )?(?:abstract )?class (\w+)/.exec(text) ?? [];
		if (name === undefined) return [];
		const [body = ""] = text.split(/^}/m);
		const declared =
			/^\t(?!private\b|protected\b|#|constructor\b|\}|\/)(?:static )?(?:readonly )?(?:async )?(?:get |set )?(\w+)(?=[(:;=<?]| =)/gm;
		const members = new Set([...body.matchAll(declared)].map(([, member]) => member));
		return members.size > 25 ? [`${path}: ${name} has ${members.size}`] : [];
	});
}

function repeatedNames(): string[] {
	const byName = new Map<string, string[]>();
	for (const { path } of files) byName.set(basename(path), [...(byName.get(basename(path)) ?? []), path]);
	return [...byName]
		.filter(([name, found]) => name !== "index.ts" && found.length > 1)
		.map(([, found]) => found.join(", "));
}

const FOUND: Record<keyof typeof CEILINGS, string[]> = {
	"late bindings": files.flatMap(lateBindings),
	"interfaces that are named Deps": files.flatMap(depsInterfaces),
	"files of at most 50 lines with a single importer": files.filter(isJoint).map(({ path }) => path),
	"methods that only call one of the same name": files.flatMap(forwarders),
	"classes with more than 25 public members": files.flatMap(crowdedClasses),
	"file names that are used twice": repeatedNames(),
	"files outside models that are named after a model": files
		.map(({ path }) => path)
		.filter((path) => !path.startsWith("src/models/") && /(^|-)models?(-|\.)/.test(basename(path))),
	"files that are named after a host": files
		.map(({ path }) => path)
		.filter((path) => /(^|-)hosts?(-|\.)/.test(basename(path))),
};

test.each(Object.entries(CEILINGS))("%s: exactly %i (lower the ceiling when you remove one)", (name, ceiling) => {
	const found = FOUND[name as keyof typeof CEILINGS];
	expect(found.length, `\n${found.join("\n")}`).toBe(ceiling);
});

import { builtinModules } from "node:module";

/** The imports of a source file. */
export interface ImportScan {
	/** All string literals that start with `./` or `../`: paths that the code could load. */
	relative: Set<string>;
	/** Relative paths in an import or require; these should exist. */
	imported: Set<string>;
	/** Paths in other string literals that end as files with code do, such as `/worker.js` after `__dirname`. */
	files: Set<string>;
	/** Specifiers of packages; that of the own package and those that start with `#` lead to files of it. */
	packages: Set<string>;
	/** Imports that cannot be followed: packages, absolute paths, specifiers computed at run time. */
	unresolved: { specifier: string; reason: string }[];
}

/** Modules that pi provides to hooks, tools and extensions. */
const PROVIDED: ReadonlySet<string> = new Set([
	...["@mariozechner", "@earendil-works"].flatMap((scope) =>
		["pi-coding-agent", "pi-ai", "pi-tui", "pi-agent-core"].map((name) => `${scope}/${name}`),
	),
	"@earendil-works/pi-ai/compat",
	"@mariozechner/pi-coding-agent/hooks",
	...["typebox", "@sinclair/typebox"].flatMap((name) => [name, `${name}/value`, `${name}/compile`]),
	...builtinModules,
]);

const RELATIVE_TEXT = /(["'`])(\.{1,2}(?:\/[^"'`\n]*)?)\1/g;
/** Parts of computed paths, such as `../..`; they name no file unless they are imported. */
const ONLY_DOTS = /^[./]*$/;
const FILE_TEXT = /["'`](?:\$\{\w{1,50}\})?([\w@/][\w@./-]{0,200}\.(?:[cm]?[jt]sx?|node|pyw?|sh))["'`]/g;
const STATIC_IMPORT = /\b(?:from|import)\s*(["'])([^"'\n]*)\1/g;
const LOADING_CALL = /\b(import|require)\s*\(/g;
const PLAIN_ARGUMENT = /\s*(["'`])([^"'`\n$]*)\1\s*[,)]/y;
const COMMENT = /\s*(?:\/\/[^\n]{0,500}\n|\/\*(?:[^*]|\*(?!\/)){0,500}\*\/)/y;

/**
 * Finds the imports of a script or module. It prefers false positives (strings in comments count), runs in linear time,
 * and reports imports that it cannot follow.
 */
export function scanImports(source: string): ImportScan {
	const scan: ImportScan = {
		relative: new Set(),
		imported: new Set(),
		files: new Set(),
		packages: new Set(),
		unresolved: [],
	};
	for (const [, , text = ""] of source.matchAll(RELATIVE_TEXT)) {
		if (!ONLY_DOTS.test(text)) scan.relative.add(text);
	}
	for (const [, text = ""] of source.matchAll(FILE_TEXT)) scan.files.add(text.replace(/^\/+/, ""));
	for (const [, , specifier = ""] of source.matchAll(STATIC_IMPORT)) addSpecifier(scan, specifier);
	for (const call of source.matchAll(LOADING_CALL)) {
		const specifier = plainArgument(source, call.index + call[0].length);
		if (specifier !== null) addSpecifier(scan, specifier);
		else addUnresolved(scan, `${call[1]}(…)`, "computed at run time");
	}
	return scan;
}

function addSpecifier(scan: ImportScan, specifier: string): void {
	if (specifier.includes("\\")) addUnresolved(scan, specifier, "contains escapes");
	else if (/^\.{1,2}(?:\/|$)/.test(specifier)) {
		scan.relative.add(specifier);
		scan.imported.add(specifier);
	} else if (/^(?:\/|file:|data:|https?:|[A-Za-z]:[\\/])/.test(specifier)) {
		addUnresolved(scan, specifier, "outside the project");
	} else if (!specifier.startsWith("node:") && !PROVIDED.has(specifier)) {
		scan.packages.add(specifier);
		addUnresolved(scan, specifier, "a package");
	}
}

function addUnresolved(scan: ImportScan, specifier: string, reason: string): void {
	const known = scan.unresolved.some((other) => other.specifier === specifier && other.reason === reason);
	if (!known && scan.unresolved.length < 100) scan.unresolved.push({ specifier: specifier.slice(0, 200), reason });
}

/** The argument of a call if it is a plain string literal, else null. */
function plainArgument(source: string, start: number): string | null {
	let at = start;
	for (let count = 0; count < 5; count++) {
		COMMENT.lastIndex = at;
		if (!COMMENT.test(source)) break;
		at = COMMENT.lastIndex;
	}
	PLAIN_ARGUMENT.lastIndex = at;
	return PLAIN_ARGUMENT.exec(source)?.[2] ?? null;
}

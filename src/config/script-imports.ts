import { join } from "node:path";

/** A module that Python code imports. */
export interface PythonImport {
	/** Number of leading dots: 0 for an absolute import, 1 for the directory of the importing file, 2 for its parent. */
	level: number;
	/** Dotted; empty for `from . import …`. */
	name: string;
	/** Names after `import`, which can be modules too. */
	members: string[];
}

/** What a script could load besides what its language's imports say. */
export interface ScriptScan {
	imports: PythonImport[];
	/** Relative paths. */
	paths: Set<string>;
}

/** No text can be split between two quantifiers in several ways, so that scanning takes linear time. */
const FROM_IMPORT = /^[ \t]*from[ \t]+(?=[.\w])(\.*)(\w[\w.]*)?[ \t]+import[ \t]+(\([^)]{0,2000}\)|[^\n;]*)/gm;
const IMPORT = /^[ \t]*import[ \t]+([\w.][^\n;]*)/gm;
const IMPORT_CALL = /\b(?:__import__|import_module|run_module)\([ \t]{0,20}["']([\w.]+)["']/g;
const RUN_MODULE = /(?:^|\s)-m[ \t]{0,20}([A-Za-z_][\w.]*)/g;
/** Start a path in a script's own directory, or one that only the shell knows. */
const SHELL_VALUE = /\$(?:\w{1,100}|\{[^}\n]{0,200}\}|\([^()\n]{0,200}\))/g;
const SHELL_WORD = /[\w.@+/-]{1,500}/g;

/** Maximum number of packages in a module's name. */
const MAX_DEPTH = 30;

/** The language of a script by its name or first line; null for other files. */
export function scriptLanguage(path: string, source: string): "python" | "shell" | null {
	if (/\.pyw?$/.test(path)) return "python";
	if (/\.(?:ba|da|k|z)?sh$/.test(path)) return "shell";
	const firstLine = /^#![^\n]{0,200}/.exec(source)?.[0] ?? "";
	if (/python/.test(firstLine)) return "python";
	return /\b(?:ba|da|k|z)?sh\b/.test(firstLine) ? "shell" : null;
}

/** Finds the imports of Python code. Standard modules and installed packages are included. */
export function scanPython(source: string): ScriptScan {
	// A line can be continued with a backslash, and hold several statements.
	const lines = source.replace(/\\\r?\n/g, " ").replaceAll(";", "\n");
	const imports: PythonImport[] = [];
	for (const [, dots = "", name = "", members = ""] of lines.matchAll(FROM_IMPORT)) {
		imports.push({ level: dots.length, name, members: namesIn(members) });
	}
	for (const [, names = ""] of lines.matchAll(IMPORT)) {
		for (const name of namesIn(names)) imports.push({ level: 0, name, members: [] });
	}
	for (const [, name = ""] of source.matchAll(IMPORT_CALL)) imports.push({ level: 0, name, members: [] });
	return { imports, paths: new Set() };
}

/** Finds the words of a shell script, which can be paths, and the Python modules that it runs with `-m`. */
export function scanShell(source: string): ScriptScan {
	const imports = [...source.matchAll(RUN_MODULE)].map(([, name = ""]) => ({ level: 0, name, members: [] }));
	const words = source.replace(SHELL_VALUE, "").match(SHELL_WORD) ?? [];
	const paths = words.map((word) => word.replace(/^\/+/, "")).filter((word) => /\w/.test(word));
	return { imports, paths: new Set(paths) };
}

/** The first word of each item of a list such as `a.b as c, d`. */
function namesIn(list: string): string[] {
	const items = list.replace(/#[^\n]*/g, "").split(",");
	return items.flatMap((item) => /[\w.]+/.exec(item)?.[0] ?? []);
}

/** The files that Python could load for an import. @param roots directories of absolute imports */
export function pythonFiles({ level, name, members }: PythonImport, dir: string, roots: Iterable<string>): string[] {
	const starts = level === 0 ? [dir, ...roots] : [join(dir, ...Array<string>(level - 1).fill(".."))];
	const names = [name, ...members.map((member) => (name === "" ? member : `${name}.${member}`))];
	return starts.flatMap((start) => names.flatMap((dotted) => moduleFiles(start, dotted)));
}

/** A module with the packages that contain it. */
function moduleFiles(start: string, dotted: string): string[] {
	const parts = dotted.split(".", MAX_DEPTH).filter((part) => part !== "");
	const packages = [...parts.keys(), parts.length].map((count) => join(start, ...parts.slice(0, count), "__init__.py"));
	return [
		...packages,
		...(parts.length > 0 ? [`${join(start, ...parts)}.py`] : []),
		join(start, ...parts, "__main__.py"),
	];
}

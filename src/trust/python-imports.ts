/** A module that Python code imports. */
export interface PythonImport {
	/** Number of leading dots: 0 for an absolute import, 1 for the directory of the importing file, 2 for its parent. */
	level: number;
	/** Dotted; empty for `from . import …`. */
	name: string;
	/** Names after `import`, which can be modules too. */
	members: string[];
}

/** What Python code can load. */
export interface PythonScan {
	/** Standard modules and installed packages are included. */
	imports: PythonImport[];
	/** Paths of code in texts, such as that of `runpy.run_path`. */
	files: string[];
	/** Paths that could be directories, from that of the file, its parents or where the code runs, if the code changes the directories that are searched for imports. */
	dirs: string[];
}

/** No text can be split between two quantifiers in several ways, so that scanning takes linear time. */
const FROM_IMPORT = /^[ \t]*from[ \t]+(?=[.\w])(\.*)(\w[\w.]*)?[ \t]+import[ \t]+(\([^)]{0,2000}\)|[^\n;]*)/gm;
const IMPORT = /^[ \t]*import[ \t]+([\w.][^\n;]*)/gm;
const IMPORT_CALL =
	/\b(?:__import__|import_module|run_module)\(\s{0,20}["']([\w.]{1,300})["'](?:\s{0,20},\s{0,20}(?:package\s{0,20}=\s{0,20})?["']([\w.]{1,300})["'])?/g;
const CODE_PATH = /["']([^"'\n]{1,300}\.(?:pyw?|pyz|zip|egg|so|sh|[cm]?js))["']/gi;
const CHANGES_PATH = /\bsys\.path\b|\bfrom[ \t]{1,20}sys[ \t]{1,20}import\b|\baddsitedir\b|\bPYTHONPATH\b/;
const PATH_TEXT = /["']([\w./-]{1,200})["']/g;
/** A second one leaves the directory of the file. */
const PARENT = /\b(?:dirname|parent|pardir)\b/g;
const MODULE = /^[A-Za-z_][\w.]*$/;

/** Whether a file is Python code, by its name or first line. @param start its first bytes as text */
export function isPython(path: string, start: string): boolean {
	return /\.pyw?$/.test(path) || /^#![^\n]{0,200}python/.test(start);
}

/** Finds the imports of Python code, and the code that its texts name. */
export function scanPython(source: string): PythonScan {
	// A line can be continued with a backslash, and hold several statements.
	const lines = source.replace(/\\\r?\n/g, " ").replaceAll(";", "\n");
	const imports: PythonImport[] = [];
	for (const [, dots = "", name = "", members = ""] of lines.matchAll(FROM_IMPORT)) {
		imports.push({ level: dots.length, name, members: namesIn(members) });
	}
	for (const [, names = ""] of lines.matchAll(IMPORT)) {
		for (const name of namesIn(names)) imports.push({ level: 0, name, members: [] });
	}
	for (const [, name = "", parent] of source.matchAll(IMPORT_CALL)) imports.push(importedBy(name, parent));
	const files = [...source.matchAll(CODE_PATH)].map(([, path = ""]) => path);
	return { imports, files: [...new Set(files)], dirs: CHANGES_PATH.test(source) ? dirsIn(source) : [] };
}

function dirsIn(source: string): string[] {
	const dirs = [...source.matchAll(PATH_TEXT)].map(([, text = ""]) => text);
	const isAbove = /\bparents\b/.test(source) || [...source.matchAll(PARENT)].length > 1;
	return [...new Set([...dirs, ...(isAbove ? ["..", "../.."] : [])])];
}

/** The import of a call such as `import_module(".b", "a")`. @param parent the package from which dots start; absent: that of the file */
function importedBy(name: string, parent: string | undefined): PythonImport {
	const level = /^\.*/.exec(name)?.[0].length ?? 0;
	const rest = name.slice(level);
	if (level === 0 || parent === undefined) return { level, name: rest, members: [] };
	const packages = parent.split(".");
	const above = packages.slice(0, Math.max(0, packages.length - level + 1));
	return { level: 0, name: [...above, rest].join("."), members: [] };
}

/** The modules that the arguments of a command run, as `-m module`, `-um module`, `-mmodule` or `module:app`. */
export function modulesRun(args: readonly string[]): string[] {
	return args.flatMap((arg, index) => {
		const option = /^-[A-Za-z]{0,10}?m(.*)$/.exec(arg)?.[1];
		const name = option === "" ? (args[index + 1] ?? "") : (option ?? /^([\w.]+):[A-Za-z_][\w.]*$/.exec(arg)?.[1]);
		return name !== undefined && MODULE.test(name) ? [name] : [];
	});
}

/** The first word of each item of a list such as `a.b as c, d`. */
function namesIn(list: string): string[] {
	const items = list.replace(/#[^\n]*/g, "").split(",");
	return items.flatMap((item) => /[\w.]+/.exec(item)?.[0] ?? []);
}

/** A module that Python code imports. */
export interface PythonImport {
	/** Number of leading dots: 0 for an absolute import, 1 for the directory of the importing file, 2 for its parent. */
	level: number;
	/** Dotted; empty for `from . import …`. */
	name: string;
	/** Names after `import`, which can be modules too. */
	members: string[];
}

/** No text can be split between two quantifiers in several ways, so that scanning takes linear time. */
const FROM_IMPORT = /^[ \t]*from[ \t]+(?=[.\w])(\.*)(\w[\w.]*)?[ \t]+import[ \t]+(\([^)]{0,2000}\)|[^\n;]*)/gm;
const IMPORT = /^[ \t]*import[ \t]+([\w.][^\n;]*)/gm;
const IMPORT_CALL = /\b(?:__import__|import_module|run_module)\([ \t]{0,20}["']([\w.]+)["']/g;
const MODULE = /^[A-Za-z_][\w.]*$/;

/** Whether a file is Python code, by its name or first line. @param start its first bytes as text */
export function isPython(path: string, start: string): boolean {
	return /\.pyw?$/.test(path) || /^#![^\n]{0,200}python/.test(start);
}

/** Finds the imports of Python code. Standard modules and installed packages are included. */
export function scanPython(source: string): PythonImport[] {
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
	return imports;
}

/** The modules that the arguments of a command run, as `-m module` or `-mmodule`. */
export function modulesRun(args: readonly string[]): string[] {
	return args.flatMap((arg, index) => {
		const name = arg === "-m" ? (args[index + 1] ?? "") : /^-m(.+)$/.exec(arg)?.[1];
		return name !== undefined && MODULE.test(name) ? [name] : [];
	});
}

/** The first word of each item of a list such as `a.b as c, d`. */
function namesIn(list: string): string[] {
	const items = list.replace(/#[^\n]*/g, "").split(",");
	return items.flatMap((item) => /[\w.]+/.exec(item)?.[0] ?? []);
}

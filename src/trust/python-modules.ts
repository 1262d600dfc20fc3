import { readdirSync, type Stats } from "node:fs";
import { join, resolve, sep } from "node:path";
import { realPathOrNull } from "../util/fs.js";
import { type PythonImport, scanPython } from "./python-imports.js";

/** The collected files of a project. */
export interface CollectedFiles {
	/** Adds a file with what it imports, unless it is outside the project. */
	queue(path: string): void;
	/** Whether a path leads to the inside of the project. */
	isInside(path: string): boolean;
	/** Whether a file belongs to the project, also as a link to the outside. */
	isOwn(path: string): boolean;
	/** Existing files that a name without an extension could mean. */
	candidates(base: string): string[];
	/** Notes that a path which a server in `dir` names is not among the files. */
	report(dir: string, path: string, reason: string): void;
	/** Notes that what servers run is not covered. */
	note(what: string, reason: string): void;
	/** Ends the collection: its list would be incomplete. */
	stop(reason: string): void;
	isStopped(): boolean;
}

/** Files that Python imports by their names. */
const IMPORTABLE = /\.(?:pyw?|pyc|so|pyd)$/i;
/** Directories that Python can import, as packages. */
const PACKAGE = /^(?!__pycache__$)[A-Za-z_]\w*$/;
/** Installed packages, thousands of files. */
const INSTALLED = new Set(["site-packages", "dist-packages"]);
/** Maximum number of directories in which imports are searched. */
const MAX_PATHS = 50;

/**
 * Finds the modules of a project that Python code could load. The standard library and installed packages import modules by
 * name, too, and Python searches the directory of the script first. Therefore every module in a directory that is searched
 * counts, and the `__init__` of every package there, whether or not the code names it.
 */
export class PythonModules {
	/** Directories that are searched for absolute imports: of scripts, and those in PYTHONPATH. */
	readonly #paths = new Set<string>();
	/** Directories whose modules were added: paths and imported packages. */
	readonly #added = new Set<string>();

	/**
	 * @param root real path of the project
	 * @param dirs the directories that servers name; imports are searched there, too
	 * @param look returns what is at a path
	 */
	constructor(
		private readonly root: string,
		private readonly files: CollectedFiles,
		private readonly dirs: ReadonlySet<string>,
		private readonly look: (path: string) => Stats | null,
	) {}

	/** Adds the modules of a directory that is searched for all imports. */
	addPath(dir: string): void {
		const real = realPathOrNull(dir);
		if (real === null || this.#paths.has(real) || !this.#isOwn(real)) return;
		this.#paths.add(real);
		if (this.#paths.size > MAX_PATHS) this.files.stop(`MCP servers that name more than ${MAX_PATHS} directories`);
		this.addDirectory(real);
	}

	/** Adds all modules of a directory, and the `__init__` of its packages. */
	addDirectory(dir: string): void {
		const real = realPathOrNull(dir);
		if (real === null || this.#added.has(real) || !this.#isOwn(real)) return;
		this.#added.add(real);
		if (real.split(sep).some((name) => INSTALLED.has(name))) {
			this.files.report(dir, dir, "installed packages, not checked");
			return;
		}
		for (const name of namesIn(dir)) {
			if (this.files.isStopped()) return;
			const path = join(dir, name);
			if (IMPORTABLE.test(name)) this.addFile(path);
			else if (PACKAGE.test(name) && this.look(path)?.isDirectory()) {
				const starts = namesIn(path).filter((file) => file.startsWith("__init__.") && IMPORTABLE.test(file));
				for (const start of starts) this.addFile(join(path, start));
			}
		}
	}

	/**
	 * Adds the modules and the files that Python code names.
	 * @param dir that of the code
	 */
	follow(dir: string, source: string): void {
		const { imports, files, dirs } = scanPython(source);
		for (const file of files) {
			for (const start of this.#starts(dir)) this.addFile(resolve(start, file));
		}
		for (const name of dirs) {
			for (const start of [...this.#starts(dir), join(dir, ".."), join(dir, "../..")]) {
				const path = resolve(start, name);
				if (this.files.isStopped()) return;
				if (this.look(path)?.isDirectory()) this.addPath(path);
			}
		}
		for (const each of imports) {
			if (this.files.isStopped()) return;
			this.addImport(each, dir);
		}
	}

	/** Adds the files that Python could load for an import. @param dir that of the importing file */
	addImport({ level, name, members }: PythonImport, dir: string): void {
		const starts = level === 0 ? this.#starts(dir) : [join(dir, ...Array<string>(level - 1).fill(".."))];
		const names = members.length === 0 ? [name] : members.map((member) => (name === "" ? member : `${name}.${member}`));
		for (const start of starts) {
			if (level > 0) this.addFile(join(start, "__init__.py"));
			for (const dotted of names) {
				if (this.files.isStopped()) return;
				this.#addModule(start, dotted);
			}
		}
	}

	addFile(path: string): void {
		if (this.look(path)?.isFile()) this.files.queue(path);
	}

	#starts(dir: string): Set<string> {
		return new Set([dir, ...this.dirs, ...this.#paths]);
	}

	/** Adds a module with the packages that contain it. */
	#addModule(start: string, dotted: string): void {
		let dir = start;
		for (const part of dotted.split(".")) {
			if (part === "") continue;
			this.addFile(join(dir, `${part}.py`));
			dir = join(dir, part);
			if (!this.look(dir)?.isDirectory()) return;
			this.addFile(join(dir, "__init__.py"));
			// A package may load its modules by computed names, as `from package import *` does.
			this.addDirectory(dir);
		}
		this.addFile(join(dir, "__main__.py"));
	}

	#isOwn(real: string): boolean {
		return `${real}${sep}`.startsWith(this.root + sep);
	}
}

function namesIn(dir: string): string[] {
	try {
		return readdirSync(dir).sort();
	} catch {
		return []; // nothing can be imported from it either
	}
}

import type { Stats } from "node:fs";
import { basename, delimiter, join, resolve, sep } from "node:path";
import { statOrNull } from "../util/fs.js";
import { isRecord } from "../util/is-record.js";
import { modulesRun, type PythonImport, scanPython } from "./python-imports.js";

/** The collected files of a project. */
export interface CollectedFiles {
	/** Adds a file with what it imports, unless it is outside the project. */
	queue(path: string): void;
	isInside(path: string): boolean;
	/** Existing files that a name without an extension could mean. */
	candidates(base: string): string[];
	/** Notes that a path which a server in `dir` names is not among the files. */
	report(dir: string, path: string, reason: string): void;
	/** Ends the collection: its list would be incomplete. */
	stop(reason: string): void;
	isStopped(): boolean;
}

/** Maximum number of directories from which paths and Python modules of servers start. */
const MAX_DIRS = 50;
/** Maximum number of paths that are looked up: about 0.5 s. */
const MAX_LOOKUPS = 200_000;
/** Data that servers read or write: no code, and changed by them. */
const DATA = /\.(?:log|txt|md|csv|tsv|jsonl|db|db3|sqlite3?|duckdb|parquet)$/i;
/** Files with secrets, which are not read. */
const ENVIRONMENT = /^\.env(?:\.|$)/;

/** Finds the files of a project that its MCP servers could run: those that their commands name, and Python modules. */
export class ServerCode {
	/** Directories in which the commands run, and from which their paths and Python modules start. */
	readonly #dirs = new Set<string>();
	readonly #looked = new Map<string, Stats | null>();

	/** @param root real path of the project */
	constructor(
		private readonly root: string,
		private readonly files: CollectedFiles,
	) {}

	/** Adds the files of all servers that a configuration defines. @param config the text of a `.mcp.json` or `mcp.json` */
	addServers(config: string): void {
		let parsed: unknown;
		try {
			parsed = JSON.parse(config.replace(/^\ufeff/, ""));
		} catch {
			return; // it defines no servers
		}
		const servers = isRecord(parsed) && isRecord(parsed.mcpServers) ? Object.values(parsed.mcpServers) : [];
		for (const server of servers.filter(isRecord)) this.#addServer(server);
	}

	/** Adds the modules of the project that Python code imports. @param dir that of the code */
	followPython(dir: string, source: string): void {
		for (const each of scanPython(source)) {
			if (this.files.isStopped()) return;
			this.#addImport(each, dir);
		}
	}

	/** What is at a path; null for nothing. Hostile files could name any number of paths: too many stop the collection. */
	look(path: string): Stats | null {
		const known = this.#looked.get(path);
		if (known !== undefined) return known;
		if (this.#looked.size >= MAX_LOOKUPS) {
			this.files.stop(`MCP servers whose files name more than ${MAX_LOOKUPS} paths`);
			return null;
		}
		const stats = statOrNull(path);
		this.#looked.set(path, stats);
		return stats;
	}

	#addServer({ cwd, command, args, env }: Record<string, unknown>): void {
		const base = typeof cwd === "string" ? resolve(this.root, cwd) : this.root;
		const all: unknown[] = [command, ...(Array.isArray(args) ? args : [])];
		const words = all.filter((word) => typeof word === "string" && word !== "") as string[];
		const path = isRecord(env) && typeof env.PYTHONPATH === "string" ? env.PYTHONPATH : "";
		// A directory can be that of the command, such as that of uv --directory.
		const named = [...path.split(delimiter), ...words.map(argumentValue)].map((name) => resolve(base, name));
		const dirs = new Set([base, ...named.filter((dir) => this.look(dir)?.isDirectory() && this.files.isInside(dir))]);
		for (const dir of dirs) this.#dirs.add(dir);
		if (this.#dirs.size > MAX_DIRS) this.files.stop(`MCP servers that name more than ${MAX_DIRS} directories`);
		for (const word of words) {
			for (const name of new Set([word, argumentValue(word)])) this.#addArgument(name, dirs);
			// Python code, as after -c.
			if (/\s/.test(word)) this.followPython(base, word);
		}
		for (const name of modulesRun(words)) this.#addImport({ level: 0, name, members: [] }, base);
	}

	#addArgument(name: string, dirs: Iterable<string>): void {
		for (const dir of dirs) {
			if (this.files.isStopped()) return;
			for (const path of this.files.candidates(resolve(dir, name))) {
				const isManifest = path.endsWith(`${sep}package.json`) && !name.endsWith("package.json");
				if (isManifest || DATA.test(path) || !this.files.isInside(path)) continue;
				if (ENVIRONMENT.test(basename(path))) this.files.report(dir, path, "not read: it may hold secrets");
				else this.files.queue(path);
			}
			this.#addFile(join(resolve(dir, name), "__main__.py"));
		}
	}

	/** Adds the files that Python could load for an import. @param dir that of the importing file */
	#addImport({ level, name, members }: PythonImport, dir: string): void {
		const starts = level === 0 ? [dir, ...this.#dirs] : [join(dir, ...Array<string>(level - 1).fill(".."))];
		const names = members.length === 0 ? [name] : members.map((member) => (name === "" ? member : `${name}.${member}`));
		for (const start of starts) {
			if (level > 0) this.#addFile(join(start, "__init__.py"));
			for (const dotted of names) {
				if (this.files.isStopped()) return;
				this.#addModule(start, dotted);
			}
		}
	}

	/** Adds a Python module with the packages that contain it. */
	#addModule(start: string, dotted: string): void {
		let dir = start;
		for (const part of dotted.split(".")) {
			if (part === "") continue;
			this.#addFile(join(dir, `${part}.py`));
			dir = join(dir, part);
			if (!this.look(dir)?.isDirectory()) return;
			this.#addFile(join(dir, "__init__.py"));
		}
		this.#addFile(join(dir, "__main__.py"));
	}

	#addFile(path: string): void {
		if (this.look(path)?.isFile()) this.files.queue(path);
	}
}

/** The value of an argument such as --config=./server.json; another argument itself. */
function argumentValue(word: string): string {
	return word.slice(word.indexOf("=") + 1);
}

import { createHash } from "node:crypto";
import { readdirSync, realpathSync, type Stats, statSync } from "node:fs";
import { basename, delimiter, dirname, extname, join, relative, resolve, sep } from "node:path";
import { errorText } from "../errors.js";
import { readRegularFile, realPathOrNull } from "../util/fs.js";
import { isRecord } from "../util/is-record.js";
import { scanImports } from "./project-imports.js";
import { isPython, modulesRun, type PythonImport, scanPython } from "./python-imports.js";

/** A file of the project that pi would load, with the hashed bytes: run these instead of reading the file again. */
export interface CodeFile {
	/** Path relative to the project's root, with `/`. */
	rel: string;
	realPath: string;
	bytes: Buffer;
	/** Hex, of `bytes`. */
	sha256: string;
	/** Bytes. */
	size: number;
}

/** An import that is not among the collected files. */
export interface UnresolvedImport {
	/** Path of the importing file, relative to the project's root. */
	from: string;
	specifier: string;
	reason: string;
}

/** The code that pi would load from a project. */
export interface ProjectCode {
	/** Real path of the project. */
	root: string;
	/** Sorted by `rel`. */
	files: CodeFile[];
	unresolved: UnresolvedImport[];
	/** Why the list is incomplete; such a project is never trusted. */
	incomplete?: string;
}

const MAX_FILES = 1000;
const MAX_FILE_BYTES = 2 * 1024 * 1024;
const MAX_TOTAL_BYTES = 32 * 1024 * 1024;
/** Maximum number of directories from which paths and Python modules of servers start. */
const MAX_SERVER_DIRS = 50;
/** Maximum number of paths that are looked up for servers: about 0.5 s. */
const MAX_LOOKUPS = 200_000;
/** Data that servers read or write: no code, and changed by them. */
const DATA = /\.(?:log|txt|md|csv|tsv|jsonl|db|db3|sqlite3?|duckdb|parquet)$/i;
/** Files with secrets, which are not read. */
const ENVIRONMENT = /^\.env(?:\.|$)/;
const SOURCE = /\.[cm]?[jt]sx?$/;
const EXTENSIONS = [".ts", ".mts", ".cts", ".tsx", ".js", ".mjs", ".cjs", ".jsx", ".json"];
/** Files of the project that define MCP servers, relative to its root. */
const SERVER_FILES = [".mcp.json", ".pi/mcp.json"];
const SKIPPED_DIRS = new Set(["node_modules", ".git"]);

/**
 * Reads every file under `.pi/hooks`, `.pi/extensions`, `.pi/tools` and `.pi/agents`, the files that define MCP servers and those that their
 * commands name, and, transitively, the files of the project that all of them import by relative paths; for servers in Python, all modules of the
 * project that they import. Each file is read once. Installed packages (`node_modules`) are not read; an import of one is
 * listed as unresolved.
 */
export async function collectProjectCode(cwd: string): Promise<ProjectCode> {
	const root = realpathSync(cwd);
	const collector = new Collector(root);
	await collector.addServers();
	for (const dir of ["hooks", "extensions", "tools", "agents"])
		collector.addDirectory(join(root, ".pi", dir), new Set());
	await collector.readAll();
	return collector.result();
}

/** Real paths of the files that define the project's MCP servers, or that their commands run, as `collectProjectCode` finds them. */
export async function findServerFiles(cwd: string): Promise<string[]> {
	const collector = new Collector(realpathSync(cwd));
	await collector.addServers();
	return collector.result().files.map((file) => file.realPath);
}

class Collector {
	/** By real path. */
	readonly #files = new Map<string, CodeFile>();
	readonly #unresolved: UnresolvedImport[] = [];
	readonly #waiting: { path: string; realPath: string }[] = [];
	readonly #seen = new Set<string>();
	/** Directories in which the commands of servers run, and from which their paths and Python modules start. */
	readonly #serverDirs = new Set<string>();
	/** What was looked up for servers, by path. */
	readonly #looked = new Map<string, Stats | null>();
	#bytes = 0;
	#incomplete: string | undefined;

	constructor(private readonly root: string) {}

	/** Queues all files under a directory. Links are followed, each directory is visited once. */
	addDirectory(dir: string, visited: Set<string>): void {
		const real = realPathOrNull(dir);
		if (real === null || visited.has(real)) return;
		visited.add(real);
		let names: string[];
		try {
			names = readdirSync(dir).sort();
		} catch (error) {
			this.#report(dir, dir, errorText(error));
			return;
		}
		for (const name of names) {
			const path = join(dir, name);
			const stats = statOrNull(path);
			if (!stats) this.#report(path, name, "a broken link");
			else if (stats.isDirectory()) {
				if (!SKIPPED_DIRS.has(name)) this.addDirectory(path, visited);
			} else this.#queue(path);
			if (this.#incomplete) return;
		}
	}

	/** Reads the files that define MCP servers, and the files of the project that their commands name. */
	async addServers(): Promise<void> {
		for (const name of SERVER_FILES) {
			const path = join(this.root, name);
			if (statOrNull(path)) this.#queue(path);
		}
		await this.readAll();
		for (const { bytes } of [...this.#files.values()]) this.#queueCommands(bytes.toString("utf8"));
		await this.readAll();
		this.#serverDirs.clear();
		this.#looked.clear();
	}

	async readAll(): Promise<void> {
		for (let next = this.#waiting.shift(); next && !this.#incomplete; next = this.#waiting.shift()) {
			await this.#read(next.path, next.realPath);
		}
	}

	result(): ProjectCode {
		const files = [...this.#files.values()].sort((a, b) => (a.rel < b.rel ? -1 : 1));
		return { root: this.root, files, unresolved: this.#unresolved, incomplete: this.#incomplete };
	}

	#queue(path: string): void {
		const real = realPathOrNull(path);
		if (real === null || this.#seen.has(real)) return;
		if (this.#seen.size >= MAX_FILES) {
			this.#incomplete = `more than ${MAX_FILES} files`;
			return;
		}
		this.#seen.add(real);
		this.#waiting.push({ path, realPath: real });
	}

	#queueCommands(text: string): void {
		let config: unknown;
		try {
			config = JSON.parse(text.replace(/^\ufeff/, ""));
		} catch {
			return; // it defines no servers
		}
		const servers = isRecord(config) && isRecord(config.mcpServers) ? Object.values(config.mcpServers) : [];
		for (const server of servers.filter(isRecord)) this.#queueServer(server);
	}

	#queueServer({ cwd, command, args, env }: Record<string, unknown>): void {
		const base = typeof cwd === "string" ? resolve(this.root, cwd) : this.root;
		const all: unknown[] = [command, ...(Array.isArray(args) ? args : [])];
		const words = all.filter((word) => typeof word === "string" && word !== "") as string[];
		const path = isRecord(env) && typeof env.PYTHONPATH === "string" ? env.PYTHONPATH : "";
		// A directory can be that of the command, such as that of uv --directory.
		const named = [...path.split(delimiter), ...words.map(argumentValue)].map((name) => resolve(base, name));
		const dirs = new Set([base, ...named.filter((dir) => this.#look(dir)?.isDirectory() && this.#isInside(dir))]);
		for (const dir of dirs) this.#serverDirs.add(dir);
		if (this.#serverDirs.size > MAX_SERVER_DIRS) {
			this.#incomplete = `MCP servers that name more than ${MAX_SERVER_DIRS} directories`;
		}
		for (const word of words) {
			for (const name of new Set([word, argumentValue(word)])) this.#queueArgument(name, dirs);
			// Python code, as after -c.
			if (/\s/.test(word)) this.#followPython(base, word);
		}
		for (const name of modulesRun(words)) this.#queueImport({ level: 0, name, members: [] }, base);
	}

	#queueArgument(name: string, dirs: Iterable<string>): void {
		for (const dir of dirs) {
			if (this.#incomplete) return;
			for (const path of this.#candidates(resolve(dir, name))) {
				const isManifest = path.endsWith(`${sep}package.json`) && !name.endsWith("package.json");
				if (isManifest || DATA.test(path) || !this.#isInside(path)) continue;
				if (ENVIRONMENT.test(basename(path))) this.#report(dir, this.#rel(path), "not read: it may hold secrets");
				else this.#queue(path);
			}
			this.#queueFile(join(resolve(dir, name), "__main__.py"));
		}
	}

	/** Queues the files of the project that Python could load for an import. @param dir that of the importing file */
	#queueImport({ level, name, members }: PythonImport, dir: string): void {
		const starts = level === 0 ? [dir, ...this.#serverDirs] : [join(dir, ...Array<string>(level - 1).fill(".."))];
		const names = members.length === 0 ? [name] : members.map((member) => (name === "" ? member : `${name}.${member}`));
		for (const start of starts) {
			if (level > 0) this.#queueFile(join(start, "__init__.py"));
			for (const dotted of names) {
				if (this.#incomplete) return;
				this.#queueModule(start, dotted);
			}
		}
	}

	/** Queues a Python module with the packages that contain it. */
	#queueModule(start: string, dotted: string): void {
		let dir = start;
		for (const part of dotted.split(".")) {
			if (part === "") continue;
			this.#queueFile(join(dir, `${part}.py`));
			dir = join(dir, part);
			if (!this.#look(dir)?.isDirectory()) return;
			this.#queueFile(join(dir, "__init__.py"));
		}
		this.#queueFile(join(dir, "__main__.py"));
	}

	#queueFile(path: string): void {
		if (this.#look(path)?.isFile() && this.#isInside(path)) this.#queue(path);
	}

	/** Like `statOrNull`, for paths that the files of servers name: hostile ones could name any number. */
	#look(path: string): Stats | null {
		const known = this.#looked.get(path);
		if (known !== undefined) return known;
		if (this.#looked.size >= MAX_LOOKUPS) {
			this.#incomplete = `MCP servers whose files name more than ${MAX_LOOKUPS} paths`;
			return null;
		}
		const stats = statOrNull(path);
		this.#looked.set(path, stats);
		return stats;
	}

	/** Every file that an import of `base` could load; several if loaders disagree. */
	#candidates(base: string): string[] {
		const isOfServer = this.#serverDirs.size > 0;
		return candidateNames(base).filter((name) => (isOfServer ? this.#look(name) : statOrNull(name))?.isFile() === true);
	}

	async #read(path: string, real: string): Promise<void> {
		let bytes: Buffer;
		try {
			bytes = await readRegularFile(path, { maxBytes: MAX_FILE_BYTES });
		} catch (error) {
			// An unread file is not trusted and never loaded; reporting it is enough.
			this.#report(path, this.#rel(path), errorText(error));
			return;
		}
		this.#bytes += bytes.length;
		if (this.#bytes > MAX_TOTAL_BYTES) {
			this.#incomplete = `more than ${MAX_TOTAL_BYTES / 1024 / 1024} MB`;
			return;
		}
		const sha256 = createHash("sha256").update(bytes).digest("hex");
		this.#files.set(real, { rel: this.#rel(path), realPath: real, bytes, sha256, size: bytes.length });
		const isOfServer = this.#serverDirs.size > 0;
		if (SOURCE.test(real)) this.#follow(path, real, bytes.toString("utf8"));
		else if (isOfServer && isPython(real, bytes.toString("utf8", 0, 300)))
			this.#followPython(dirname(real), bytes.toString("utf8"));
		else if (path.endsWith(`${sep}package.json`)) this.#followMain(path, bytes.toString("utf8"));
	}

	#follow(path: string, real: string, source: string): void {
		const scan = scanImports(source);
		for (const { specifier, reason } of scan.unresolved) this.#report(path, specifier, reason);
		// Some loaders resolve imports from the link, others from its target: cover both.
		const bases = new Set([dirname(path), dirname(real)]);
		for (const specifier of scan.relative) {
			const targets = [...bases].flatMap((base) => this.#candidates(resolve(base, specifier)));
			const inside = targets.filter((target) => this.#isInside(target));
			for (const target of inside) this.#queue(target);
			if (!scan.imported.has(specifier)) continue;
			if (targets.length === 0) this.#report(path, specifier, "not found");
			else if (inside.length < targets.length) this.#report(path, specifier, "outside the project");
		}
	}

	#followPython(dir: string, source: string): void {
		for (const each of scanPython(source)) {
			if (this.#incomplete) return;
			this.#queueImport(each, dir);
		}
	}

	/** The import of a directory loads the `main` of its package.json. */
	#followMain(path: string, text: string): void {
		try {
			const manifest: unknown = JSON.parse(text);
			const main = isRecord(manifest) ? manifest.main : undefined;
			if (typeof main !== "string") return;
			for (const target of this.#candidates(resolve(dirname(path), main))) {
				if (this.#isInside(target)) this.#queue(target);
			}
		} catch {
			// Invalid JSON: loaders find no entry point in it either.
		}
	}

	#isInside(path: string): boolean {
		return realPathOrNull(path)?.startsWith(this.root + sep) === true;
	}

	#rel(path: string): string {
		return relative(this.root, path).split(sep).join("/");
	}

	#report(path: string, specifier: string, reason: string): void {
		this.#unresolved.push({ from: this.#rel(path), specifier, reason });
	}
}

/** The value of an argument such as --config=./server.json; another argument itself. */
function argumentValue(word: string): string {
	return word.slice(word.indexOf("=") + 1);
}

/** The paths of every file that an import of `base` could load. */
function candidateNames(base: string): string[] {
	const extension = extname(base);
	const stem = base.slice(0, base.length - extension.length);
	return [
		base,
		...EXTENSIONS.map((other) => base + other),
		...EXTENSIONS.map((other) => join(base, `index${other}`)),
		join(base, "package.json"),
		// TypeScript files are imported by the name of their compiled output.
		...(/^\.[cm]?jsx?$/.test(extension) ? [stem + extension.replace("j", "t"), `${stem}.tsx`] : []),
	];
}

/** null for missing files and for invalid names, which untrusted sources may contain. */
function statOrNull(path: string): Stats | null {
	try {
		return statSync(path, { throwIfNoEntry: false }) ?? null;
	} catch {
		return null;
	}
}

import { createHash } from "node:crypto";
import { readdirSync, realpathSync } from "node:fs";
import { dirname, extname, join, relative, resolve, sep } from "node:path";
import { runEnvironment } from "../config/paths.js";
import { errorText } from "../errors.js";
import { readRegularFile, readRegularFileSync, realPathOrNull, statOrNull } from "../util/fs.js";
import { isRecord } from "../util/is-record.js";
import { packageTargets } from "./package-imports.js";
import { isPython } from "./python-imports.js";
import type { CollectedFiles } from "./python-modules.js";
import { scanImports } from "./script-imports.js";
import { ServerCode, type ServerContext } from "./server-code.js";
import { isLarge, MAX_FILE_BYTES, readServerFile } from "./server-file.js";

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
	/** Whether the files of MCP servers are the reason. */
	isIncompleteForServers?: boolean;
}

const MAX_FILES = 1000;
/** Of a file of a server: its digest is computed again before each start. */
const MAX_LARGE_BYTES = 512 * 1024 * 1024;
const MAX_TOTAL_BYTES = 32 * 1024 * 1024;
/** In the files of servers: each is searched in a package.json. */
const MAX_PACKAGE_IMPORTS = 10_000;
/** Scripts and programs whose language is not read. */
const OTHER = /\.(?:sh|bash|zsh|fish|rb|pl|php|lua|jar|r|ps1|bat|cmd)$/i;
const SHELL = /\.(?:sh|bash|zsh|fish)$/i;
const SOURCE = /\.[cm]?[jt]sx?$/;
const EXTENSIONS = [".ts", ".mts", ".cts", ".tsx", ".js", ".mjs", ".cjs", ".jsx", ".json"];
/** Files of the project that define MCP servers, relative to its root. */
const SERVER_FILES = [".mcp.json", ".pi/mcp.json"];
/** Directory of the files with commands that the bundled hook `claude-hooks` runs. */
const COMMAND_DIR = ".pi/claude-hooks";
const SKIPPED_DIRS = new Set(["node_modules", ".git"]);

/**
 * Reads every file under `.pi/hooks`, `.pi/extensions`, `.pi/tools`, `.pi/agents` and `.pi/claude-hooks`, the files that define MCP servers
 * and those that the commands of both name, and, transitively, the files of the project that all of them import by relative paths; for servers in Python, all modules of the
 * project that they import. Each file is read once. Installed packages (`node_modules`) are not read; an import of one is
 * listed as unresolved.
 */
export async function collectProjectCode(cwd: string, context: ServerContext = runEnvironment()): Promise<ProjectCode> {
	const root = realpathSync(cwd);
	const collector = new Collector(root, context);
	await collector.addServers();
	await collector.addCommands();
	for (const dir of ["hooks", "extensions", "tools", "agents"])
		collector.addDirectory(join(root, ".pi", dir), new Set());
	await collector.readAll();
	return collector.result();
}

/**
 * Real paths of the files that define the project's MCP servers, or that their commands run, as `collectProjectCode` finds them.
 * @throws Error if there are more files than can be checked
 */
export async function findServerFiles(cwd: string, context: ServerContext = runEnvironment()): Promise<string[]> {
	const collector = new Collector(realpathSync(cwd), context);
	await collector.addServers();
	return collector.paths("MCP servers");
}

/** Like `findServerFiles`, for the files that commands of hooks run. @param config JSON with each `command` @throws as it */
export async function findCommandFiles(cwd: string, config: string, context: ServerContext): Promise<string[]> {
	const collector = new Collector(realpathSync(cwd), context);
	await collector.addNamed((code) => code.addCommands(config));
	return collector.paths("hook commands");
}

class Collector {
	/** By real path. */
	readonly #files = new Map<string, CodeFile>();
	readonly #unresolved: UnresolvedImport[] = [];
	readonly #waiting: { path: string; realPath: string }[] = [];
	readonly #seen = new Set<string>();
	/** Finds the code of servers while that is read. */
	#servers: ServerCode | null = null;
	/** Contents of package.json files, by path. */
	readonly #manifests = new Map<string, unknown>();
	#packageImports = 0;
	#bytes = 0;
	#incomplete: string | undefined;
	#isIncompleteForServers = false;

	constructor(
		private readonly root: string,
		private readonly context: ServerContext,
	) {}

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
		await this.addNamed((code, configs) => {
			for (const config of configs) code.addServers(config);
		});
	}

	/** Reads the files with commands of hooks, and the files of the project that these name. */
	async addCommands(): Promise<void> {
		this.addDirectory(join(this.root, COMMAND_DIR), new Set());
		await this.addNamed((code, configs) => {
			for (const config of configs) code.addCommands(config);
		});
	}

	/** Reads the queued files, and what is added to `code`. @param add receives their texts */
	async addNamed(add: (code: ServerCode, configs: readonly string[]) => void): Promise<void> {
		const before = new Set(this.#files.keys());
		await this.readAll();
		const added = [...this.#files].filter(([path]) => !before.has(path));
		const configs = added.map(([, { bytes }]) => bytes.toString("utf8"));
		const files: CollectedFiles = {
			queue: (path) => this.#queueInside(path),
			isInside: (path) => this.#isInside(path),
			isOwn: (path) => this.#isOwn(path),
			candidates: (base) => this.#candidates(base),
			report: (dir, path, reason) => this.#report(dir, this.#rel(path), reason),
			note: (what, reason) => this.#report(this.root, what, reason),
			stop: (reason) => {
				this.#incomplete ??= reason;
			},
			isStopped: () => this.#incomplete !== undefined,
		};
		this.#servers = new ServerCode(this.root, files, this.context);
		add(this.#servers, configs);
		await this.readAll();
		this.#servers = null;
		this.#isIncompleteForServers = this.#incomplete !== undefined;
	}

	async readAll(): Promise<void> {
		for (let next = this.#waiting.shift(); next && !this.#incomplete; next = this.#waiting.shift()) {
			await this.#read(next.path, next.realPath);
		}
	}

	result(): ProjectCode {
		const files = [...this.#files.values()].sort((a, b) => (a.rel < b.rel ? -1 : 1));
		return {
			root: this.root,
			files,
			unresolved: this.#unresolved,
			incomplete: this.#incomplete,
			isIncompleteForServers: this.#isIncompleteForServers,
		};
	}

	/** Real paths of the files. @throws Error if the list is incomplete */
	paths(what: string): string[] {
		const { files, incomplete } = this.result();
		if (incomplete !== undefined)
			throw new Error(`The files of the project's ${what} cannot be checked: it has ${incomplete}`);
		return files.map((file) => file.realPath);
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

	/** Queues a file unless it is outside the project. */
	#queueInside(path: string): void {
		if (this.#isOwn(path)) this.#queue(path);
	}

	/** Every file that an import of `base` could load; several if loaders disagree. */
	#candidates(base: string): string[] {
		const look = (name: string) => (this.#servers ? this.#servers.look(name) : statOrNull(name));
		// pi loads no compiled modules, but Node does.
		const compiled = this.#servers ? [`${base}.node`, join(base, "index.node")] : [];
		return [...candidateNames(base), ...compiled].filter((name) => look(name)?.isFile() === true);
	}

	async #read(path: string, real: string): Promise<void> {
		let bytes: Buffer;
		try {
			if (this.#servers && isLarge(path)) {
				this.#addLarge(path, real);
				return;
			}
			bytes = await readRegularFile(path, { maxBytes: MAX_FILE_BYTES });
		} catch (error) {
			// An unread file of hooks is not trusted and never loaded, but a server may read its files.
			if (this.#servers) this.#incomplete ??= `a file that cannot be read: ${this.#rel(path)}`;
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
		const text = bytes.toString("utf8");
		this.#servers?.followManifest(path, text);
		if (SOURCE.test(real)) this.#follow(path, real, text);
		else if (path.endsWith(`${sep}package.json`)) this.#followMain(path, text);
		else if (this.#servers && !real.endsWith(".json")) this.#followServer(path, real, text);
	}

	/** Adds a file that is too large to be shown, such as a compiled server, by its digest. */
	#addLarge(path: string, real: string): void {
		if ((statOrNull(path)?.size ?? 0) > MAX_LARGE_BYTES) {
			this.#incomplete ??= `a file of more than ${MAX_LARGE_BYTES / 1024 / 1024} MB`;
			return;
		}
		const bytes = readServerFile(path);
		const sha256 = createHash("sha256").update(bytes).digest("hex");
		const size = statOrNull(path)?.size ?? 0;
		this.#files.set(real, { rel: this.#rel(path), realPath: real, bytes, sha256, size });
		this.#report(path, "other files", `not checked, because it is larger than ${MAX_FILE_BYTES / 1024 / 1024} MB`);
	}

	/** Follows a file of a server with any name: an interpreter needs none. */
	#followServer(path: string, real: string, text: string): void {
		const start = text.slice(0, 300);
		const isOther = /^#!/.test(start) ? !/python|node|bun|deno|tsx/.test(start.split("\n")[0] ?? "") : OTHER.test(real);
		if (isOther || start.includes("\0")) this.#report(path, "other files", "not checked in this language");
		if (text.slice(0, 8000).includes("\0")) return;
		const isShell = start.startsWith("#!")
			? /^#![^\n]{0,200}sh\b/.test(start)
			: SHELL.test(real) || (extname(real) === "" && this.#servers?.isShellScript(real) === true);
		if (isShell) this.#servers?.followShell(real, text);
		this.#servers?.followPython(real, text, isPython(real, start));
		if (!isPython(real, start)) this.#follow(path, real, text, false);
	}

	/** @param isSource false: it may be in another language, so that no import is known to be one */
	#follow(path: string, real: string, source: string, isSource = true): void {
		const scan = scanImports(source);
		if (!isSource) scan.imported.clear();
		// Some loaders resolve imports from the link, others from its target: cover both.
		const bases = new Set([dirname(path), dirname(real)]);
		this.#servers?.addFiles(bases, scan.files);
		const own = new Set([...scan.packages].filter((specifier) => this.#followPackage(bases, specifier)));
		for (const { specifier, reason } of isSource ? scan.unresolved : []) {
			if (!own.has(specifier)) this.#report(path, specifier, reason);
		}
		for (const specifier of scan.relative) {
			const targets = [...bases].flatMap((base) => this.#candidates(resolve(base, specifier)));
			const inside = targets.filter((target) => this.#isOwn(target));
			for (const target of inside) this.#queue(target);
			if (!scan.imported.has(specifier)) continue;
			if (targets.length === 0) this.#report(path, specifier, "not found");
			else if (inside.length < targets.length) this.#report(path, specifier, "outside the project");
		}
	}

	/** Adds the files that a server's import of a package loads from the project, by the nearest package.json. @returns whether it has any */
	#followPackage(bases: Iterable<string>, specifier: string): boolean {
		if (!this.#servers) return false;
		let isOwn = false;
		for (const path of new Set([...bases].map((base) => this.#nearestManifest(base)))) {
			const targets = path === null ? [] : packageTargets(this.#readManifest(path), specifier);
			if (path === null || targets.length === 0) continue;
			isOwn = true;
			this.#queueInside(path);
			for (const target of targets) {
				for (const file of this.#candidates(resolve(dirname(path), target))) this.#queueInside(file);
			}
		}
		if (++this.#packageImports > MAX_PACKAGE_IMPORTS) {
			this.#incomplete ??= `more than ${MAX_PACKAGE_IMPORTS} imports of packages`;
		}
		return isOwn;
	}

	#readManifest(path: string): unknown {
		const known = this.#manifests.get(path);
		if (known !== undefined) return known;
		let manifest: unknown = null;
		try {
			manifest = JSON.parse(readRegularFileSync(path, { maxBytes: MAX_FILE_BYTES }).toString("utf8"));
		} catch {
			// Node finds no targets in it either.
		}
		this.#manifests.set(path, manifest);
		return manifest;
	}

	#nearestManifest(dir: string): string | null {
		for (let at = dir; `${at}${sep}`.startsWith(this.root + sep); at = dirname(at)) {
			const path = join(at, "package.json");
			if (this.#servers?.look(path)?.isFile()) return path;
		}
		return null;
	}

	/** The import of a directory loads the `main` of its package.json. */
	#followMain(path: string, text: string): void {
		try {
			const manifest: unknown = JSON.parse(text);
			this.#servers?.addScripts(path, manifest);
			const main = isRecord(manifest) ? manifest.main : undefined;
			if (typeof main !== "string") return;
			for (const target of this.#candidates(resolve(dirname(path), main))) this.#queueInside(target);
		} catch {
			// Invalid JSON: loaders find no entry point in it either.
		}
	}

	#isInside(path: string): boolean {
		return realPathOrNull(path)?.startsWith(this.root + sep) === true;
	}

	/**
	 * Whether a file belongs to the project. A server reads its files in the project: a link there that leads out of it counts
	 * with the contents of its target, because it could replace a trusted file.
	 */
	#isOwn(path: string): boolean {
		return this.#isInside(path) || (this.#servers !== null && resolve(path).startsWith(this.root + sep));
	}

	#rel(path: string): string {
		return relative(this.root, path).split(sep).join("/");
	}

	#report(path: string, specifier: string, reason: string): void {
		this.#unresolved.push({ from: this.#rel(path), specifier, reason });
	}
}

/** The paths of every file that an import of `base` could load. */
export function candidateNames(base: string): string[] {
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

import { createHash } from "node:crypto";
import { readdirSync, realpathSync, type Stats, statSync } from "node:fs";
import { dirname, extname, join, relative, resolve, sep } from "node:path";
import { errorText } from "../errors.js";
import { readRegularFile } from "../util/fs.js";
import { isJsonObject } from "./json-file.js";
import { scanImports } from "./project-imports.js";

/** A file of the project that pi would load, with the bytes that were hashed: load these, not the file again. */
export interface CodeFile {
	/** Path from the project's root, with `/`. */
	rel: string;
	realPath: string;
	bytes: Buffer;
	/** Hex, of `bytes`. */
	sha256: string;
	/** Bytes. */
	size: number;
}

/** Something that a file loads and that is not among the files. */
export interface UnresolvedImport {
	/** Path from the project's root. */
	from: string;
	specifier: string;
	reason: string;
}

/** All code that a project brings. */
export interface ProjectCode {
	/** Real path of the project. */
	root: string;
	/** Sorted by `rel`. */
	files: CodeFile[];
	unresolved: UnresolvedImport[];
	/** Why the list is not whole; such a project is never trusted. */
	incomplete?: string;
}

const MAX_FILES = 1000;
const MAX_FILE_BYTES = 2 * 1024 * 1024;
const MAX_TOTAL_BYTES = 32 * 1024 * 1024;
const SOURCE = /\.[cm]?[jt]sx?$/;
const EXTENSIONS = [".ts", ".mts", ".cts", ".tsx", ".js", ".mjs", ".cjs", ".jsx", ".json"];
const SKIPPED_DIRS = new Set(["node_modules", ".git"]);

/**
 * Reads every file under `.pi/hooks` and `.pi/tools` and what they import from inside the project by relative paths,
 * transitively. Each file is read once. Installed packages (`node_modules`) are not read: importing one is listed as
 * unresolved.
 */
export async function collectProjectCode(cwd: string): Promise<ProjectCode> {
	const root = realpathSync(cwd);
	const collector = new Collector(root);
	for (const dir of ["hooks", "tools"]) collector.addDirectory(join(root, ".pi", dir), new Set());
	await collector.readAll();
	return collector.result();
}

class Collector {
	/** By real path. */
	readonly #files = new Map<string, CodeFile>();
	readonly #unresolved: UnresolvedImport[] = [];
	readonly #waiting: { path: string; realPath: string }[] = [];
	readonly #seen = new Set<string>();
	#bytes = 0;
	#incomplete: string | undefined;

	constructor(private readonly root: string) {}

	/** Queues all files under a directory, through links, each directory once. */
	addDirectory(dir: string, visited: Set<string>): void {
		const real = realPath(dir);
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
			if (!stats) this.#report(path, name, "a link that leads nowhere");
			else if (stats.isDirectory()) {
				if (!SKIPPED_DIRS.has(name)) this.addDirectory(path, visited);
			} else this.#queue(path);
			if (this.#incomplete) return;
		}
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
			...(this.#incomplete && { incomplete: this.#incomplete }),
		};
	}

	#queue(path: string): void {
		const real = realPath(path);
		if (real === null || this.#seen.has(real)) return;
		if (this.#seen.size >= MAX_FILES) {
			this.#incomplete = `more than ${MAX_FILES} files`;
			return;
		}
		this.#seen.add(real);
		this.#waiting.push({ path, realPath: real });
	}

	async #read(path: string, real: string): Promise<void> {
		let bytes: Buffer;
		try {
			bytes = await readRegularFile(path, { maxBytes: MAX_FILE_BYTES });
		} catch (error) {
			// Not trusted, so not loaded either; the list says so.
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
		if (SOURCE.test(real)) this.#follow(path, real, bytes.toString("utf8"));
		else if (path.endsWith(`${sep}package.json`)) this.#followMain(path, bytes.toString("utf8"));
	}

	#follow(path: string, real: string, source: string): void {
		const scan = scanImports(source);
		for (const { specifier, reason } of scan.unresolved) this.#report(path, specifier, reason);
		// Whether a loader goes by the link or by what it points at, both must be covered.
		const bases = new Set([dirname(path), dirname(real)]);
		for (const specifier of scan.relative) {
			const targets = [...bases].flatMap((base) => candidates(resolve(base, specifier)));
			const inside = targets.filter((target) => this.#isInside(target));
			for (const target of inside) this.#queue(target);
			if (!scan.imported.has(specifier)) continue;
			if (targets.length === 0) this.#report(path, specifier, "not found");
			else if (inside.length < targets.length) this.#report(path, specifier, "outside the project");
		}
	}

	/** A directory that is imported leads to the `main` of its package.json. */
	#followMain(path: string, text: string): void {
		try {
			const manifest: unknown = JSON.parse(text);
			const main = isJsonObject(manifest) ? manifest.main : undefined;
			if (typeof main !== "string") return;
			for (const target of candidates(resolve(dirname(path), main))) {
				if (this.#isInside(target)) this.#queue(target);
			}
		} catch {
			// Not JSON: no loader finds an entry in it either.
		}
	}

	#isInside(path: string): boolean {
		const real = realPath(path);
		return real !== null && (real === this.root || real.startsWith(this.root + sep));
	}

	#rel(path: string): string {
		return relative(this.root, path).split(sep).join("/");
	}

	#report(path: string, specifier: string, reason: string): void {
		this.#unresolved.push({ from: this.#rel(path), specifier, reason });
	}
}

/** Every file that an import of `base` could mean; more than one when loaders disagree. */
function candidates(base: string): string[] {
	const extension = extname(base);
	const stem = base.slice(0, base.length - extension.length);
	const names = [
		base,
		...EXTENSIONS.map((other) => base + other),
		...EXTENSIONS.map((other) => join(base, `index${other}`)),
		join(base, "package.json"),
		// TypeScript is imported by the name of what it compiles to.
		...(/^\.[cm]?jsx?$/.test(extension) ? [stem + extension.replace("j", "t"), `${stem}.tsx`] : []),
	];
	return names.filter((name) => statOrNull(name)?.isFile() === true);
}

/** Null for what is not there and for names that no file can have: the sources that name them are anybody's. */
function statOrNull(path: string): Stats | null {
	try {
		return statSync(path);
	} catch {
		return null;
	}
}

function realPath(path: string): string | null {
	try {
		return realpathSync(path);
	} catch {
		return null;
	}
}

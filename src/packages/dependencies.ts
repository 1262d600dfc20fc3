import { createHash } from "node:crypto";
import {
	closeSync,
	lstatSync,
	mkdirSync,
	readFileSync,
	readlinkSync,
	readSync,
	realpathSync,
	writeFileSync,
} from "node:fs";
import { dirname, join, sep } from "node:path";
import { openRegularFileSync } from "../util/fs.js";
import { isRecord } from "../util/is-record.js";
import { TimeSlices } from "../util/time-slices.js";
import { digest, entriesOf, pathIn } from "./package-files.js";

/** An installed dependency of a package. */
export interface Dependency {
	/** Path for people: `node_modules/left-pad`, `node_modules/@scope/name`, `node_modules/.bin`. */
	name: string;
	version: string | null;
	/** Bytes of all its files. */
	size: number;
	/** The version, and a line for each file, sorted by path: its SHA-256 and path, or the target of a link. */
	listing: string;
	/** Of `listing`. */
	sha256: string;
	/** Links to places outside of the `node_modules` directory, whose files are not checked: their paths and targets. */
	leaving: readonly string[];
}

/** A `node_modules` directory. */
export interface NodeModules {
	path: string;
	/** What `Dependency.name` begins with. */
	label: string;
	/** The directories that count, relative to `path`. Absent: all. */
	only?: readonly string[];
}

/** What was read of a dependency, by its directory. It is the same as long as the stamp is. */
type DependencyCache = Map<string, { stamp: string; dependency: Dependency }>;

/** A file that changed this recently may change again without a difference in its times: its dependency is not cached. */
const SETTLED_MS = 2000;

/**
 * Describes every dependency in `node_modules` directories: all files, so that each one that could be loaded counts. Files are
 * read only if the inode, size or times of one in the same dependency differ from those in the cache. Other work of the process
 * runs in between.
 * @param cacheFile only a cache; nothing depends on it being writable
 */
export async function readDependencies(dirs: readonly NodeModules[], cacheFile: string): Promise<Dependency[]> {
	const slices = new TimeSlices();
	const digester = new FileDigester(slices);
	const known = readCache(cacheFile);
	const used: DependencyCache = new Map();
	const dependencies: Dependency[] = [];
	for (const dir of dirs) {
		for (const path of dependencyDirs(dir)) {
			const found = await findFiles(path, dir.path, slices);
			const cached = known.get(path);
			const dependency = cached?.stamp === found.stamp ? cached.dependency : await describe(path, dir, found, digester);
			dependencies.push(dependency);
			if (found.isSettled) used.set(path, { stamp: found.stamp, dependency });
		}
	}
	const isSame = known.size === used.size && [...used].every(([path, { stamp }]) => known.get(path)?.stamp === stamp);
	if (!isSame) writeCache(cacheFile, used);
	return dependencies.sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** `node_modules/x`, `node_modules/@scope/x`, and folders such as `.bin` and `.pnpm`. */
function dependencyDirs({ path, only }: NodeModules): string[] {
	if (only) return only.map((dir) => join(path, dir));
	return entriesOf(path).flatMap(({ name }) => {
		const dir = join(path, name);
		return name.startsWith("@") ? entriesOf(dir).map((entry) => join(dir, entry.name)) : [dir];
	});
}

/** A file of a dependency, or its line in the listing if it is something else. */
type Found = { path: string; rel: string; size: number } | { line: string };

interface FoundFiles {
	/** In order of their paths. */
	files: Found[];
	/** Links that leave `node_modules`. */
	leaving: string[];
	/** A digest of everything that changes when one of the files does. */
	stamp: string;
	/** Whether all files changed long enough ago for the stamp to be reliable. */
	isSettled: boolean;
}

/** Finds the files of a dependency without reading them. @param root the `node_modules` directory */
async function findFiles(path: string, root: string, slices: TimeSlices): Promise<FoundFiles> {
	const files: Found[] = [];
	const leaving: string[] = [];
	const stamps: string[] = [];
	const settledBefore = Date.now() - SETTLED_MS;
	let isSettled = true;
	const addLine = (line: string) => {
		files.push({ line });
		stamps.push(line);
	};
	const visit = async (at: string, rel: string): Promise<void> => {
		if (slices.isOver) await slices.next();
		for (const entry of entriesOf(at)) {
			// A junction of Windows is a link as well.
			const [child, childRel] = [at + sep + entry.name, rel === "" ? entry.name : `${rel}/${entry.name}`];
			if (entry.isDirectory()) await visit(child, childRel);
			else add(child, childRel);
		}
	};
	const add = (at: string, rel: string) => {
		const stats = lstatSync(at);
		if (stats.isSymbolicLink()) {
			const { target, isInside } = readLink(at, root);
			addLine(`link ${rel} -> ${target}`);
			if (!isInside) leaving.push(`${rel} → ${target}`);
		} else if (stats.isFile()) {
			const { dev, ino, size, mode, mtimeMs, ctimeMs } = stats;
			stamps.push(`${rel} ${dev} ${ino} ${size} ${mode} ${mtimeMs} ${ctimeMs}`);
			if (ctimeMs > settledBefore) isSettled = false;
			files.push({ path: at, rel, size });
		} else addLine(`other ${rel}`);
	};
	if (lstatSync(path).isDirectory()) await visit(path, "");
	else add(path, ".");
	return { files, leaving, stamp: digest([...stamps, ...leaving].join("\n")), isSettled };
}

async function describe(
	path: string,
	{ path: root, label }: NodeModules,
	{ files, leaving }: FoundFiles,
	digester: FileDigester,
): Promise<Dependency> {
	const lines: string[] = [];
	let size = 0;
	for (const file of files) {
		if ("line" in file) lines.push(file.line);
		else {
			lines.push(`${await digester.digest(file.path)} ${file.rel}`);
			size += file.size;
		}
	}
	const version = versionOf(path);
	const listing = `version ${version ?? "unknown"}\n${lines.join("\n")}\n`;
	return { name: `${label}/${pathIn(root, path)}`, version, size, listing, sha256: digest(listing), leaving };
}

/** The files that differ between two listings of a dependency, by their paths. */
export function changedIn(before: string, now: string): string[] {
	const read = (listing: string) =>
		new Map(
			listing.split("\n").flatMap((line) => {
				const [, state = "", path = ""] = /^([0-9a-f]{64}|link|other) (.+)$/.exec(line) ?? [];
				const [rel = "", target = ""] = state === "link" ? path.split(" -> ") : [path];
				return rel === "" ? [] : [[rel, `${state} ${target}`] as const];
			}),
		);
	const [old, current] = [read(before), read(now)];
	return [...new Set([...old.keys(), ...current.keys()])].filter((rel) => old.get(rel) !== current.get(rel));
}

function readLink(path: string, root: string): { target: string; isInside: boolean } {
	const target = readlinkSync(path);
	try {
		return { target, isInside: realpathSync(path).startsWith(realpathSync(root) + sep) };
	} catch {
		return { target, isInside: true }; // a broken link loads nothing
	}
}

function versionOf(path: string): string | null {
	try {
		const manifest: unknown = JSON.parse(readFileSync(join(path, "package.json"), "utf8"));
		return isRecord(manifest) && typeof manifest.version === "string" ? manifest.version : null;
	} catch {
		return null; // .bin, or a directory without package.json
	}
}

const CACHE_VERSION = 2;

function readCache(path: string): DependencyCache {
	const cache: DependencyCache = new Map();
	try {
		const content: unknown = JSON.parse(readFileSync(path, "utf8"));
		if (!isRecord(content) || content.version !== CACHE_VERSION || !isRecord(content.dependencies)) return cache;
		for (const [dir, value] of Object.entries(content.dependencies)) {
			const known = readEntry(value);
			if (known) cache.set(dir, known);
		}
	} catch {
		// Missing or damaged: the files are read.
	}
	return cache;
}

function readEntry(value: unknown): { stamp: string; dependency: Dependency } | null {
	if (!isRecord(value)) return null;
	const { stamp, name, version, size, listing, sha256, leaving } = value;
	const isVersion = version === null || typeof version === "string";
	if (typeof stamp !== "string" || typeof name !== "string" || !isVersion || typeof size !== "number") return null;
	if (typeof listing !== "string" || typeof sha256 !== "string" || !Array.isArray(leaving)) return null;
	const links = leaving.filter((link) => typeof link === "string");
	return { stamp, dependency: { name, version, size, listing, sha256, leaving: links } };
}

function writeCache(path: string, cache: DependencyCache): void {
	try {
		mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
		const dependencies = [...cache].map(([dir, { stamp, dependency }]) => [dir, { stamp, ...dependency }]);
		const content = { version: CACHE_VERSION, dependencies: Object.fromEntries(dependencies) };
		writeFileSync(path, JSON.stringify(content), { mode: 0o600 });
	} catch {
		// For example a full disk: the files are read again next time.
	}
}

/** Bytes that are read before other work may run. */
const PIECE_BYTES = 256 * 1024;

/** Digests one file after another. Synchronous reads into one buffer are several times faster than asynchronous ones. */
class FileDigester {
	readonly #buffer = Buffer.allocUnsafe(PIECE_BYTES);

	constructor(private readonly slices: TimeSlices) {}

	/** @returns SHA-256 of a regular file of any size, hex @throws PiError `file_unreadable`, or the system error */
	async digest(path: string): Promise<string> {
		const hash = createHash("sha256");
		const descriptor = openRegularFileSync(path);
		try {
			for (;;) {
				const count = readSync(descriptor, this.#buffer, 0, PIECE_BYTES, null);
				if (count === 0) return hash.digest("hex");
				hash.update(this.#buffer.subarray(0, count));
				if (this.slices.isOver) await this.slices.next();
			}
		} finally {
			closeSync(descriptor);
		}
	}
}

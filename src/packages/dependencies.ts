import { lstatSync, mkdirSync, readFileSync, readlinkSync, realpathSync, writeFileSync } from "node:fs";
import { dirname, join, sep } from "node:path";
import { isJsonObject } from "../config/json-file.js";
import { readRegularFile } from "../util/fs.js";
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
}

/** The digests of a dependency's files, known from their stats. */
type DigestCache = Map<string, { stamp: string; sha256: string }>;

/** A file that changed this recently may change again without a difference in its times: it is not cached. */
const SETTLED_MS = 2000;

/** Files of npm itself, which nothing loads and whose content differs from one installation to the next. */
const IGNORED = new Set([".package-lock.json", ".yarn-integrity", ".modules.yaml"]);

/**
 * Describes every dependency in `node_modules` directories: all files, so that each one that could be loaded counts. A file is
 * read only if it is not in the cache with the same inode, size and times of change.
 * @param cacheFile only a cache; nothing depends on it being writable
 */
export async function readDependencies(dirs: readonly NodeModules[], cacheFile: string): Promise<Dependency[]> {
	const known = readCache(cacheFile);
	const used: DigestCache = new Map();
	const dependencies: Dependency[] = [];
	for (const dir of dirs) {
		for (const path of dependencyDirs(dir.path)) dependencies.push(await describe(path, dir, known, used));
	}
	if (!isEqual(known, used)) writeCache(cacheFile, used);
	return dependencies.sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** `node_modules/x`, `node_modules/@scope/x`, and folders such as `.bin` and `.pnpm`. */
function dependencyDirs(dir: string): string[] {
	return entriesOf(dir).flatMap((entry) => {
		const path = join(dir, entry.name);
		if (IGNORED.has(entry.name)) return [];
		if (!entry.name.startsWith("@")) return [path];
		return entriesOf(path).map(({ name }) => join(path, name));
	});
}

async function describe(
	path: string,
	{ path: root, label }: NodeModules,
	known: DigestCache,
	used: DigestCache,
): Promise<Dependency> {
	const lines: string[] = [];
	const leaving: string[] = [];
	let size = 0;
	const visit = async (at: string): Promise<void> => {
		// A junction of Windows is a link as well.
		const stats = lstatSync(at, { bigint: true });
		const rel = at === path ? "." : pathIn(path, at);
		if (stats.isSymbolicLink()) {
			const { target, isInside } = readLink(at, root);
			lines.push(`link ${rel} -> ${target}`);
			if (!isInside) leaving.push(`${rel} → ${target}`);
		} else if (stats.isDirectory()) {
			for (const { name } of entriesOf(at)) if (!IGNORED.has(name)) await visit(join(at, name));
		} else if (stats.isFile()) {
			const stamp = [stats.dev, stats.ino, stats.size, stats.mode, stats.mtimeNs, stats.ctimeNs].join(" ");
			const cached = known.get(at);
			const sha256 = cached?.stamp === stamp ? cached.sha256 : digest(await readRegularFile(at));
			if (Date.now() - Number(stats.ctimeMs) > SETTLED_MS) used.set(at, { stamp, sha256 });
			size += Number(stats.size);
			lines.push(`${sha256} ${rel}`);
		} else lines.push(`other ${rel}`);
	};
	await visit(path);
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
		return isJsonObject(manifest) && typeof manifest.version === "string" ? manifest.version : null;
	} catch {
		return null; // .bin, or a directory without package.json
	}
}

function readCache(path: string): DigestCache {
	try {
		const content: unknown = JSON.parse(readFileSync(path, "utf8"));
		const entries = isJsonObject(content) ? Object.entries(content) : [];
		return new Map(
			entries.flatMap(([file, value]) => {
				const [stamp, sha256] = Array.isArray(value) ? value : [];
				return typeof stamp === "string" && typeof sha256 === "string" ? [[file, { stamp, sha256 }] as const] : [];
			}),
		);
	} catch {
		return new Map(); // missing or damaged: the files are read
	}
}

function isEqual(a: DigestCache, b: DigestCache): boolean {
	return a.size === b.size && [...b].every(([path, { stamp }]) => a.get(path)?.stamp === stamp);
}

function writeCache(path: string, cache: DigestCache): void {
	try {
		mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
		const content = [...cache].map(([file, { stamp, sha256 }]) => [file, [stamp, sha256]]);
		writeFileSync(path, JSON.stringify(Object.fromEntries(content)), { mode: 0o600 });
	} catch {
		// For example a full disk: the files are read again next time.
	}
}

import { parseGlob } from "../tools/glob.js";
import { isRecord } from "../util/is-record.js";
import { trimEndOf } from "../util/trim.js";

/** What a package can bring, by the names of its directories. */
export const RESOURCE_KINDS = ["hooks", "extensions", "tools", "agents", "skills", "prompts", "themes"] as const;

export type ResourceKind = (typeof RESOURCE_KINDS)[number];

/** Paths and globs by kind, as in `pi` of a package.json and in the settings; a kind without an entry is not restricted. */
export type ResourceFilters = Partial<Record<ResourceKind, readonly string[]>>;

/** Files of a package that pi loads, by kind, with paths relative to the package. */
export type PackageResources = Readonly<Record<ResourceKind, readonly string[]>>;

/** The files of each kind in a directory: paths relative to it. */
const IN_DIRECTORY: Readonly<Record<ResourceKind, RegExp>> = {
	hooks: /^(?:[^/]+(?<!\.d)\.ts|[^/]+\/index\.ts)$/,
	extensions: /^(?:[^/]+(?<!\.d)\.[cm]?[jt]s|[^/]+\/index\.[jt]s)$/,
	tools: /^[^/]+\/index\.ts$/,
	agents: /^[^/]+\.md$/,
	skills: /^(?:.*\/)?SKILL\.md$/,
	prompts: /^[^/]+\.md$/,
	themes: /^[^/]+\.json$/,
};
/** Files that a path or a glob may name. */
const SINGLE: Readonly<Record<ResourceKind, RegExp>> = {
	hooks: /(?<!\.d)\.[cm]?[jt]s$/,
	extensions: /(?<!\.d)\.[cm]?[jt]s$/,
	tools: /(?<!\.d)\.[cm]?[jt]s$/,
	agents: /\.md$/,
	skills: /\.md$/,
	prompts: /\.md$/,
	themes: /\.json$/,
};

/**
 * Finds what a package brings: the files that `pi` in its package.json names, else those in directories with the names of the
 * kinds. The filters of the settings then select among them.
 * @param files every file of the package, relative, with `/`
 * @param manifest its package.json; null without one
 * @param filters patterns select; `!pattern` excludes, `+path` adds a file, `-path` removes it
 */
export function findResources(
	files: readonly string[],
	manifest: unknown,
	filters: ResourceFilters = {},
): PackageResources {
	const sorted = [...files].sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
	const named = readManifest(manifest);
	const entries = RESOURCE_KINDS.map((kind): [ResourceKind, string[]] => {
		const found = named ? findNamed(kind, sorted, named[kind] ?? []) : inDirectory(kind, sorted, kind);
		return [kind, applyFilters(kind, found, filters[kind], sorted)];
	});
	return Object.fromEntries(entries) as Record<ResourceKind, string[]>;
}

/** True if a package brings anything. */
export function hasResources(resources: PackageResources): boolean {
	return RESOURCE_KINDS.some((kind) => resources[kind].length > 0);
}

/** What a package brings, such as `2 hooks, 1 skill`. */
export function describeResources(resources: PackageResources): string {
	const counts = RESOURCE_KINDS.flatMap((kind) => {
		const count = resources[kind].length;
		return count === 0 ? [] : [`${count} ${count === 1 ? kind.slice(0, -1) : kind}`];
	});
	return counts.join(", ") || "nothing";
}

/** `pi` of a package.json; null if it has none. */
function readManifest(manifest: unknown): ResourceFilters | null {
	const pi = isRecord(manifest) ? manifest.pi : undefined;
	if (!isRecord(pi)) return null;
	const entries = RESOURCE_KINDS.map((kind) => {
		const value = pi[kind];
		const list = Array.isArray(value) ? value : [value];
		return [kind, list.filter((item): item is string => typeof item === "string" && item !== "")] as const;
	});
	return Object.fromEntries(entries);
}

function findNamed(kind: ResourceKind, files: readonly string[], entries: readonly string[]): string[] {
	const isPlain = (entry: string) => !/^[!+-]/.test(entry);
	const found = entries.filter(isPlain).flatMap((entry) => locate(kind, files, cleanPath(entry)));
	const rest = entries.filter((entry) => !isPlain(entry));
	return applyFilters(kind, [...new Set(found)], rest.length > 0 ? rest : undefined, files);
}

/** A file, the files in a directory, or those that a glob matches. */
function locate(kind: ResourceKind, files: readonly string[], path: string): string[] {
	if (files.includes(path)) return SINGLE[kind].test(path) ? [path] : [];
	if (isGlob(path)) {
		const matches = createMatcher(path);
		const direct = files.filter((file) => SINGLE[kind].test(file) && matches(file));
		// A glob that names folders, such as skills/*, means what is loaded from them.
		return kind === "skills" ? direct.filter((file) => file.endsWith("/SKILL.md") || exactly(path, file)) : direct;
	}
	const index = ["index.ts", "index.js"].map((name) => join(path, name)).find((file) => files.includes(file));
	const isCode = kind === "hooks" || kind === "extensions" || kind === "tools";
	return isCode && index !== undefined ? [index] : inDirectory(kind, files, path);
}

function exactly(pattern: string, file: string): boolean {
	return pattern.endsWith(".md") && createMatcher(pattern)(file);
}

function inDirectory(kind: ResourceKind, files: readonly string[], dir: string): string[] {
	const start = dir === "" || dir === "." ? "" : `${dir}/`;
	const own = files.filter((file) => file.startsWith(start));
	const found = own.filter((file) => IN_DIRECTORY[kind].test(file.slice(start.length)));
	// Of two index files in a folder the TypeScript one is loaded.
	return found.filter((file) => !file.endsWith("/index.js") || !found.includes(file.replace(/js$/, "ts")));
}

function applyFilters(
	kind: ResourceKind,
	found: readonly string[],
	patterns: readonly string[] | undefined,
	files: readonly string[],
): string[] {
	if (patterns === undefined) return [...found];
	const of = (mark: string) => patterns.filter((text) => text.startsWith(mark)).map((text) => cleanPath(text.slice(1)));
	const selects = patterns.filter((text) => !/^[!+-]/.test(text)).map((text) => createMatcher(cleanPath(text)));
	const excludes = of("!").map(createMatcher);
	const isSelected = selects.length > 0 || patterns.length === 0 ? selects : [() => true];
	const kept = found.filter(
		(file) => isSelected.some((matches) => matches(file)) && !excludes.some((matches) => matches(file)),
	);
	const added = of("+").flatMap((path) => locate(kind, files, path));
	const removed = new Set(of("-").flatMap((path) => locate(kind, files, path)));
	return [...new Set([...kept, ...added])].filter((file) => !removed.has(file));
}

function join(dir: string, name: string): string {
	return dir === "" || dir === "." ? name : `${dir}/${name}`;
}

const SPECIAL = /[*?[{]/;

/** True for a pattern; false for a plain path. */
function isGlob(text: string): boolean {
	return SPECIAL.test(text);
}

/** Longer than any path. */
const MAX_PATTERN = 4096;

/** A path of a manifest or filter without `./` before it and slashes after it. */
function cleanPath(path: string): string {
	return trimEndOf(path.replace(/^\.\//, ""), "/");
}

/**
 * Tests paths with `/` against a pattern of `parseGlob`. A pattern without a slash matches names in every folder, and a pattern
 * that matches a folder matches everything in it.
 */
export function createMatcher(pattern: string): (path: string) => boolean {
	if (pattern.length > MAX_PATTERN) return () => false;
	const text = cleanPath(pattern);
	const item = text.includes("/") ? text : `**/${text}`;
	const globs = [parseGlob(item), parseGlob(`${item}/**`)];
	return (path) => globs.some((glob) => glob.matches(path));
}

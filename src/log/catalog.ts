import { existsSync, readdirSync, type Stats, statSync } from "node:fs";
import { basename, dirname, join, resolve, sep } from "node:path";
import { setImmediate as nextTick } from "node:timers/promises";
import { PiError } from "../errors.js";
import { monotonicMs } from "../util/clock.js";
import { isLocked } from "../util/file-lock.js";
import type { SessionHeader } from "./entry.js";
import { hasMessage, lastUse } from "./last-use.js";
import { withFile } from "./open-file.js";
import { readSessionHeader } from "./read-entry.js";
import { isSessionDirName, SESSION_FILE_SUFFIX, sessionIdOfName, subSessionsDir } from "./session-paths.js";
import { type SessionSummary, Summarizer, shownName } from "./session-summary.js";

export type { SessionSummary } from "./session-summary.js";

/** Bytes that one listing reads beyond heads and tails: enough for exact names and counts of the newest sessions. */
const SCAN_BYTES = 64 * 1024 * 1024;
/** Time after which a listing yields to the event loop. */
const SLICE_MS = 8;
const MAX_NAMED = 3;

export interface ListOptions {
	/** Bytes that may be read beyond heads and tails. */
	scanBytes?: number;
	signal?: AbortSignal;
}

/**
 * Lists the sessions of a directory, newest first; empty if the directory does not exist. Omits files that are not
 * sessions or cannot be read. Reads only parts of large files: a name in the middle of an old session may be missed.
 */
export async function listSessions(dir: string, options: ListOptions = {}): Promise<SessionSummary[]> {
	const summarizer = new Summarizer(options.scanBytes ?? SCAN_BYTES);
	const summaries: SessionSummary[] = [];
	const files = statNewestFirst(dir);
	const parents = files.length > 0 ? subSessionDirs(dir) : null;
	let sliceStart = monotonicMs();
	for (const { path, stats } of files) {
		options.signal?.throwIfAborted();
		const summary = stats?.isFile() ? withFile(path, (file) => summarizer.summarize(path, file, stats)) : undefined;
		const children = parents?.has(subSessionsDir(path)) ? sessionFiles(subSessionsDir(path)).length : 0;
		if (summary) summaries.push(children > 0 ? { ...summary, subSessions: children } : summary);
		if (monotonicMs() - sliceStart < SLICE_MS) continue;
		await nextTick();
		sliceStart = monotonicMs();
	}
	return summaries;
}

/**
 * Summarizes one session; undefined if it is not a session or cannot be read.
 * @param scanBytes only head and tail of a larger file are read
 */
export function summarizeSession(path: string, scanBytes = Number.POSITIVE_INFINITY): SessionSummary | undefined {
	return withFile(path, (file) => {
		const stats = file.stats();
		return stats.isFile() ? new Summarizer(scanBytes).summarize(path, file, stats) : undefined;
	});
}

/** The sessions of some directories with this id, or else those whose id begins with it, ignoring letter case. */
export function matchSessions(dirs: readonly string[], id: string): { path: string; id: string }[] {
	return matching(withIds(dirs), id.toLowerCase());
}

function withIds(dirs: readonly string[]): { path: string; id: string }[] {
	return dirs.flatMap(sessionFiles).flatMap((path) => {
		const id = sessionIdOfName(path) ?? headerOf(path)?.id;
		return id === undefined ? [] : [{ path, id: id.toLowerCase() }];
	});
}

function matching<T extends { id: string }>(sessions: readonly T[], wanted: string): T[] {
	const exact = sessions.find(({ id }) => id === wanted);
	if (exact) return [exact];
	return wanted === "" ? [] : sessions.filter(({ id }) => id.startsWith(wanted));
}

/**
 * Finds the path of a session from a path, a file name, an id, or the unique start of an id.
 * @param dirs directory for ids and names, or several; paths are relative to the working directory
 * @throws PiError `log_not_found` naming the most similar ids, or those that match
 */
export function findSession(dirs: string | readonly string[], idOrPath: string): string {
	const all = typeof dirs === "string" ? [dirs] : dirs;
	if (isPath(idOrPath)) {
		const path = existingFile(all, idOrPath);
		if (path !== undefined) return path;
		throw new PiError("log_not_found", `There is no session file ${idOrPath}`, {
			hint: "`pi sessions list` shows all sessions",
		});
	}
	const wanted = idOrPath.toLowerCase();
	const sessions = withIds(all);
	const [only, ...others] = matching(sessions, wanted);
	if (only && others.length === 0) return only.path;
	if (only) {
		const ids = [only, ...others].slice(0, MAX_NAMED).map(({ id }) => id);
		throw new PiError("log_not_found", `${others.length + 1} session ids begin with "${idOrPath}"`, {
			hint: `use more characters of the id: ${ids.join(", ")}`,
		});
	}
	const near = nearestIds(
		wanted,
		sessions.map(({ id }) => id),
	);
	const elsewhere = typeof dirs === "string" && wanted !== "" ? findElsewhere(dirs, wanted) : undefined;
	const nearHint = near.length > 0 ? `did you mean ${near.join(" or ")}?` : "`pi sessions list` shows all sessions";
	throw new PiError(
		"log_not_found",
		`There is no session "${idOrPath}" in ${typeof dirs === "string" ? dirs : "any directory"}`,
		{ hint: elsewhere ?? nearHint },
	);
}

/** The hint for the id of a session that began in another working directory. */
function findElsewhere(dir: string, wanted: string): string | undefined {
	// Not a directory that the user chose, next to which anything can be.
	if (!isSessionDirName(basename(dir))) return undefined;
	const others = sessionDirs(dirname(dir)).filter((other) => other !== dir);
	for (const path of others.flatMap(sessionFiles)) {
		if (sessionIdOfName(path)?.toLowerCase().startsWith(wanted) !== true) continue;
		const cwd = headerOf(path)?.cwd;
		if (cwd) return `a session of ${cwd} has this id: run pi there, or name the file: ${path}`;
	}
	return undefined;
}

/**
 * The absolute path of a session that does not exist yet but can be created; null for an id, for an existing file, and
 * for a path in a directory that does not exist.
 * @param dir as for `findSession`
 */
export function newSessionPath(dir: string, idOrPath: string): string | null {
	if (!isPath(idOrPath) || /[/\\]$/.test(idOrPath) || existingFile([dir], idOrPath) !== undefined) return null;
	const path = resolve(idOrPath);
	return statSync(dirname(path), { throwIfNoEntry: false })?.isDirectory() ? path : null;
}

function isPath(idOrPath: string): boolean {
	return hasDirectory(idOrPath) || idOrPath.endsWith(SESSION_FILE_SUFFIX);
}

function hasDirectory(path: string): boolean {
	return path.includes("/") || path.includes(sep);
}

/** A path relative to the working directory; a file name also in `dirs`. */
function existingFile(dirs: readonly string[], path: string): string | undefined {
	const candidates = [resolve(path), ...(hasDirectory(path) ? [] : dirs.map((dir) => join(dir, path)))];
	return candidates.find((candidate) => existsSync(candidate));
}

/** Path of the session that `--continue` opens: the first of `sessionsByUse` that no process has locked; null if none exists. */
export function latestSession(dir: string, options: { withPrinted?: boolean } = {}): string | null {
	for (const path of sessionsByUse(dir, options)) if (!isLocked(path)) return path;
	return null;
}

/**
 * Paths of the sessions of a directory that `--continue` may open, the one that was used last first. Sessions that only
 * `pi -p` and JSON mode used follow the others, and sessions with messages but without prompts come last.
 * @param withPrinted true: the prompts of `pi -p` and JSON mode count like all others
 */
export function* sessionsByUse(dir: string, { withPrinted = false } = {}): Generator<string> {
	const files = statNewestFirst(dir).filter(({ path }) => headerIdOf(path) !== undefined);
	const used: { path: string; at: number }[] = [];
	const printed: typeof used = [];
	const unused: string[] = [];
	for (const [index, { path }] of files.entries()) {
		const use = lastUse(path, { withPrinted });
		if (use === null) unused.push(path);
		else if (use.isPrinted && !withPrinted) printed.push({ path, at: use.at });
		else used.push({ path, at: use.at });
		used.sort((a, b) => b.at - a.at);
		// A session was changed when it was last used or later.
		const next = files[index + 1]?.stats?.mtimeMs ?? Number.NEGATIVE_INFINITY;
		for (let [first] = used; first && first.at >= next; [first] = used) {
			yield first.path;
			used.shift();
		}
	}
	yield* used.map(({ path }) => path);
	yield* printed.sort((a, b) => b.at - a.at).map(({ path }) => path);
	yield* unused.filter(hasMessage);
}

/** Path of the session with exactly this name that was used last, also by `pi -p`; null if none exists. Reads complete files. */
export function namedSession(dir: string, name: string): string | null {
	for (const path of sessionsByUse(dir, { withPrinted: true }))
		if (summarizeSession(path)?.name === shownName(name)) return path;
	return null;
}

/** The directories of sessions in `root`, one for each working directory; empty if it does not exist. */
export function sessionDirs(root: string): string[] {
	try {
		return readdirSync(root, { withFileTypes: true })
			.filter((entry) => entry.isDirectory())
			.map(({ name }) => join(root, name));
	} catch {
		return []; // no session has been saved yet
	}
}

/** Paths of the session files of a directory, or of several, the most recently changed first. */
export function newestFirst(dirs: string | readonly string[]): string[] {
	return statNewestFirst(...[dirs].flat()).map(({ path }) => path);
}

function statNewestFirst(...dirs: readonly string[]): { path: string; stats: Stats | undefined }[] {
	const time = (stats: Stats | undefined) => stats?.mtimeMs ?? 0;
	return dirs
		.flatMap(sessionFiles)
		.map((path) => ({ path, stats: statSync(path, { throwIfNoEntry: false }) }))
		.sort((a, b) => time(b.stats) - time(a.stats) || (a.path < b.path ? 1 : -1));
}

/** The directories of sub-sessions, with one call for all sessions of a directory. */
function subSessionDirs(dir: string): ReadonlySet<string> {
	return new Set(readdirSync(dir).map((name) => join(dir, name)));
}

/** Paths of the session files of a directory, in no particular order; empty if it does not exist. */
export function sessionFiles(dir: string): string[] {
	try {
		return readdirSync(dir)
			.filter((name) => name.endsWith(SESSION_FILE_SUFFIX))
			.map((name) => join(dir, name));
	} catch {
		return []; // no session has been saved here yet
	}
}

function headerIdOf(path: string): string | undefined {
	return headerOf(path)?.id;
}

/** The header of a session file; undefined if it is not a session or cannot be read. */
export function headerOf(path: string): SessionHeader | undefined {
	const header = withFile(path, (file) => (file.stats().isFile() ? readSessionHeader(file) : undefined));
	return typeof header === "object" ? header : undefined;
}

/** The ids that share the longest prefix with `wanted`. */
function nearestIds(wanted: string, ids: readonly string[]): string[] {
	const shared = (id: string) => {
		let length = 0;
		while (length < wanted.length && id[length] === wanted[length]) length++;
		return length;
	};
	const longest = Math.max(0, ...ids.map(shared));
	return longest === 0 ? [] : ids.filter((id) => shared(id) === longest).slice(0, MAX_NAMED);
}

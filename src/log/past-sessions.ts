import { basename } from "node:path";
import { PiError } from "../errors.js";
import { headerOf, matchSessions, newestFirst, sessionFiles, summarizeSession } from "./catalog.js";
import { decodeLine } from "./codec.js";
import type { SessionEntry } from "./entry.js";
import { freezeDeep } from "./freeze.js";
import { searchEntries } from "./search.js";
import { SESSION_FILE_SUFFIX } from "./session-paths.js";
import { onOneLine } from "./session-summary.js";
import { streamLines, visitEntries } from "./stream-lines.js";

/** Hits listed for each session. */
const MAX_HITS = 10;
const MAX_HIT_CHARS = 300;
/** Of a larger file, only head and tail are read for its name and number of messages. */
const SUMMARIZED_BYTES = 8 * 1024 * 1024;
/** Lines that one call reads. */
const MAX_READ_BYTES = 8 * 1024 * 1024;
const MAX_NAMED = 5;

/** An entry of a session that contains a text. */
export interface SessionHit {
	readonly entryIndex: number;
	/** Role of the message, or type of another entry. */
	readonly role: string;
	/** The text with its surroundings on one line, at most 300 characters. */
	readonly text: string;
}

/** A session that contains a text. Frozen. */
export interface FoundSession {
	readonly id: string;
	/** null for a session without a name; of a file over 8 MB, a name in its middle is not found. */
	readonly name: string | null;
	/** Working directory in which it began. */
	readonly cwd: string;
	/** ISO 8601. */
	readonly startedAt: string;
	/** Number of messages; absent for files over 8 MB. */
	readonly messages?: number;
	/** The first entries with the text, at most 10. */
	readonly hits: readonly SessionHit[];
}

/** A part of a saved session. Frozen. */
export interface PastSession {
	readonly id: string;
	readonly name: string | null;
	readonly cwd: string;
	/** The entries from the first one that was asked for; a damaged line is an entry of the type `opaque`. */
	readonly entries: readonly SessionEntry[];
	/** Index of the entry after them; null at the end of the session. */
	readonly next: number | null;
}

/**
 * Searches the full text of sessions, ignoring letter case, those changed last first.
 * @param options `limit`: of sessions; `without`: path of a file that is not searched
 */
export async function searchPastSessions(
	dirs: readonly string[],
	text: string,
	{ limit, without, signal }: { limit: number; without: string | null; signal: AbortSignal },
): Promise<FoundSession[]> {
	const found: FoundSession[] = [];
	for (const path of newestFirst(dirs)) {
		if (found.length >= limit) break;
		if (path === without) continue;
		const matches = await searchEntries(path, text, { limit: MAX_HITS, signal });
		const header = matches.length > 0 ? headerOf(path) : undefined;
		const summary = header && summarizeSession(path, SUMMARIZED_BYTES);
		if (!summary) continue;
		const { id, name, cwd, messageCount } = summary;
		found.push({
			...{ id, name, cwd, startedAt: header.timestamp },
			...(messageCount !== null && { messages: messageCount }),
			hits: matches.map(({ entryIndex, role, excerpt }) => ({
				...{ entryIndex, role, text: onOneLine(excerpt, MAX_HIT_CHARS) },
			})),
		});
	}
	return freezeDeep(found);
}

/**
 * Reads entries of a session, up to 8 MB of the file, but at least one.
 * @param target id, start of an id, path or file name of a session in one of the directories
 * @param options `from`: index of the first entry; `limit`: of entries
 * @throws PiError `bad_arguments` for the start of several ids and for paths elsewhere; `log_not_found`, `log_not_a_session`
 */
export async function readPastSession(
	dirs: readonly string[],
	target: string,
	{ from, limit, signal }: { from: number; limit: number; signal: AbortSignal },
): Promise<PastSession> {
	const path = findPast(dirs, target);
	const summary = summarizeSession(path, SUMMARIZED_BYTES);
	if (!summary) throw new PiError("log_not_a_session", `${path} cannot be read as a session`);
	const entries: SessionEntry[] = [];
	let index = 0;
	let bytes = 0;
	let next: number | null = null;
	for await (const lines of streamLines(path, signal)) {
		visitEntries(lines, (start, end) => {
			bytes += index < from ? 0 : end - start;
			if (entries.length >= limit || (entries.length > 0 && bytes > MAX_READ_BYTES)) next = index;
			else if (index++ >= from) entries.push(decodeLine(lines.subarray(start, end)));
			return next === null;
		});
		if (next !== null) break;
	}
	const { id, name, cwd } = summary;
	return Object.freeze({ id, name, cwd, entries: Object.freeze(entries), next });
}

function findPast(dirs: readonly string[], target: string): string {
	if (/[/\\]/.test(target) || target.endsWith(SESSION_FILE_SUFFIX)) {
		// Compared with the files that there are, so that no path leads anywhere else.
		const path = dirs.flatMap(sessionFiles).find((file) => file === target || basename(file) === target);
		if (path !== undefined) return path;
		throw new PiError("bad_arguments", `${target} is not in a directory of sessions`, {
			hint: "pass the id of a session",
		});
	}
	const [first, ...others] = matchSessions(dirs, target);
	if (!first) throw new PiError("log_not_found", `There is no session "${target}"`);
	if (others.length === 0) return first.path;
	const ids = [first, ...others].slice(0, MAX_NAMED).map(({ id }) => id);
	throw new PiError("bad_arguments", `${others.length + 1} session ids begin with "${target}": ${ids.join(", ")}`, {
		hint: "pass more characters of the id",
	});
}

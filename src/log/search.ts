import { isRecord } from "../util/is-record.js";
import { newestFirst } from "./catalog.js";
import { escapePattern, parseLine, rawTextPattern } from "./line-patterns.js";
import { entryRole, textsOf } from "./searched-texts.js";
import { streamLines, visitEntries } from "./stream-lines.js";

/** A session that contains the text. */
export interface SearchHit {
	path: string;
	/** The text with its surroundings, on one line. */
	excerpt: string;
}

/** An entry that contains the text. */
export interface EntryMatch {
	entryIndex: number;
	/** Role of the message, or type of another entry. */
	role: string;
	/** The first match with its surroundings, on one line. */
	excerpt: string;
	/** Range of the match in the excerpt, in UTF-16 units. */
	from: number;
	to: number;
}

const BEFORE = 40;
const AFTER = 120;

/**
 * Searches the full text of the sessions of a directory, newest session first, ignoring letter case. Yields the first
 * match in each session as soon as it is found.
 */
export async function* searchSessions(
	dir: string,
	text: string,
	options: { signal?: AbortSignal } = {},
): AsyncGenerator<SearchHit> {
	if (text.trim() === "") return;
	for (const path of newestFirst(dir)) {
		const [first] = await searchEntries(path, text, { limit: 1, ...options });
		if (first) yield { path, excerpt: first.excerpt };
	}
}

/**
 * The entries of a session that contain a text, ignoring letter case, in order. Lines that are not JSON are omitted; so
 * is a file that cannot be read. Reads the file in chunks, and keeps no more than a chunk and its longest line.
 * @param options `limit`: maximum number of entries. Default: all
 */
export async function searchEntries(
	path: string,
	text: string,
	{ limit = Number.POSITIVE_INFINITY, signal }: { limit?: number; signal?: AbortSignal } = {},
): Promise<EntryMatch[]> {
	if (text.trim() === "") return [];
	const found: EntryMatch[] = [];
	const query = new Query(text);
	try {
		for await (const lines of streamLines(path, signal))
			for (const match of query.find(lines)) if (found.push(match) >= limit) return found;
	} catch {
		signal?.throwIfAborted(); // else the file was deleted or is not readable
	}
	return found;
}

/** Finds a text in the lines of a session, in order: first in the raw bytes, which is fast, then in the parsed line. */
class Query {
	readonly #raw: RegExp;
	readonly #plain: RegExp;
	/** Number of entries in the lines so far. */
	#entries = 0;

	constructor(text: string) {
		this.#raw = rawTextPattern(text);
		this.#plain = new RegExp(escapePattern(text), "iu");
	}

	/** @param lines the next complete lines of the file */
	*find(lines: Buffer): Generator<EntryMatch> {
		const raw = lines.toString("latin1");
		let counted = 0;
		const countUpTo = (end: number) => {
			visitEntries(lines.subarray(counted, end), () => {
				this.#entries++;
				return true;
			});
			counted = end;
			return this.#entries;
		};
		for (let at = 0; ; ) {
			this.#raw.lastIndex = at;
			const match = this.#raw.exec(raw);
			if (!match) break;
			const start = raw.lastIndexOf("\n", match.index) + 1;
			const lineEnd = raw.indexOf("\n", match.index);
			at = lineEnd < 0 ? raw.length : lineEnd;
			const entry = parseLine(lines.toString("utf8", start, at));
			if (!isRecord(entry)) continue;
			for (const text of textsOf(entry)) {
				const excerpt = this.#excerpt(text);
				if (!excerpt) continue;
				yield { entryIndex: countUpTo(start), role: entryRole(entry), ...excerpt };
				break;
			}
		}
		countUpTo(lines.length);
	}

	#excerpt(text: string): Pick<EntryMatch, "excerpt" | "from" | "to"> | undefined {
		const match = this.#plain.exec(text);
		if (!match) return undefined;
		const [start, end] = [match.index, match.index + match[0].length];
		const from = Math.max(0, start - BEFORE);
		const to = Math.min(text.length, end + AFTER);
		const before = `${from > 0 ? "…" : ""}${flat(text.slice(from, start)).trimStart()}`;
		const found = flat(match[0]);
		const after = `${flat(text.slice(end, to)).trimEnd()}${to < text.length ? "…" : ""}`;
		return { excerpt: before + found + after, from: before.length, to: before.length + found.length };
	}
}

/** The text on one line, without a half of a character that was cut. */
function flat(text: string): string {
	return text.replace(/^[\udc00-\udfff]|[\ud800-\udbff]$/g, "").replace(/[\s\p{Cc}]+/gu, " ");
}

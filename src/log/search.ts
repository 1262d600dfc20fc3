import { promises } from "node:fs";
import type { FileHandle } from "node:fs/promises";
import { isRecord } from "../util/is-record.js";
import { newestFirst } from "./catalog.js";
import { escapePattern, isBlank, LF, parseLine, rawTextPattern } from "./line-patterns.js";
import { entryRole, textsOf } from "./searched-texts.js";

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

const CHUNK_BYTES = 1024 * 1024;
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
	signal?.throwIfAborted();
	const found: EntryMatch[] = [];
	let file: FileHandle | undefined;
	try {
		file = await promises.open(path, "r");
		if (!(await file.stat()).isFile()) return found;
		for await (const match of findInLines(file, new Query(text), signal)) if (found.push(match) >= limit) break;
	} catch {
		signal?.throwIfAborted(); // else the file was deleted or is not readable
	} finally {
		await file?.close();
	}
	return found;
}

async function* findInLines(
	file: FileHandle,
	query: Query,
	signal: AbortSignal | undefined,
): AsyncGenerator<EntryMatch> {
	const buffers = [Buffer.allocUnsafe(CHUNK_BYTES), Buffer.allocUnsafe(CHUNK_BYTES)];
	const readNext = (turn: number) => file.read(buffers[turn % 2] ?? Buffer.alloc(0), 0, CHUNK_BYTES, null);
	/** The beginning of a line that continues in the next chunk. */
	let carried: Buffer[] = [];
	let reading = readNext(0);
	try {
		for (let turn = 1; ; turn++) {
			signal?.throwIfAborted();
			const { bytesRead, buffer } = await reading;
			if (bytesRead === 0) return yield* query.find(Buffer.concat(carried));
			reading = readNext(turn); // reads ahead while this chunk is searched
			const chunk = buffer.subarray(0, bytesRead);
			const firstEnd = chunk.indexOf(LF) + 1;
			carried.push(Buffer.from(chunk.subarray(0, firstEnd || bytesRead)));
			if (firstEnd > 0) {
				const linesEnd = chunk.lastIndexOf(LF) + 1;
				yield* query.find(Buffer.concat(carried));
				yield* query.find(chunk.subarray(firstEnd, linesEnd));
				carried = [Buffer.from(chunk.subarray(linesEnd))];
			}
		}
	} finally {
		await reading.catch(() => {}); // the file must not be closed during a read
	}
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
			this.#entries += countEntries(lines.subarray(counted, end));
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

/** Blank lines are no entries. */
function countEntries(lines: Buffer): number {
	let count = 0;
	for (let at = 0; at < lines.length; ) {
		while (isBlank(lines[at])) at++;
		const end = lines.indexOf(LF, at);
		if (at < lines.length && end !== at) count++;
		at = end < 0 ? lines.length : end + 1;
	}
	return count;
}

/** The text on one line, without a half of a character that was cut. */
function flat(text: string): string {
	return text.replace(/^[\udc00-\udfff]|[\ud800-\udbff]$/g, "").replace(/[\s\p{Cc}]+/gu, " ");
}

import { promises } from "node:fs";
import type { FileHandle } from "node:fs/promises";
import { isRecord } from "../util/is-record.js";
import { newestFirst } from "./catalog.js";
import { LineIndex } from "./line-index.js";
import { escapePattern, LF, parseLine, rawTextPattern } from "./line-patterns.js";
import { withFile } from "./open-file.js";
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

type Found = Omit<EntryMatch, "entryIndex"> & {
	/** Offset of the first byte of the line. */
	offset: number;
};

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
	const query = new Query(text);
	for (const path of newestFirst(dir)) {
		const [first] = await findInFile(path, query, 1, options.signal);
		if (first) yield { path, excerpt: first.excerpt };
	}
}

/**
 * The entries of a session that contain a text, ignoring letter case, in order. Lines that are not JSON are omitted; so
 * is a file that cannot be read.
 */
export async function searchEntries(path: string, text: string): Promise<EntryMatch[]> {
	if (text.trim() === "") return [];
	const found = await findInFile(path, new Query(text), Number.POSITIVE_INFINITY);
	const indices = found.length > 0 ? entryIndices(path) : new Map<number, number>();
	return found.map(({ offset, ...match }) => ({ entryIndex: indices.get(offset) ?? -1, ...match }));
}

/** Entry indices by the offset of their line. */
function entryIndices(path: string): Map<number, number> {
	const lines = new LineIndex();
	withFile(path, (file) => lines.scan(file, 0, file.stats().size));
	return new Map(Array.from({ length: lines.length }, (_, index) => [lines.start(index), index]));
}

async function findInFile(path: string, query: Query, limit: number, signal?: AbortSignal): Promise<Found[]> {
	signal?.throwIfAborted();
	const found: Found[] = [];
	let file: FileHandle | undefined;
	try {
		file = await promises.open(path, "r");
		if (!(await file.stat()).isFile()) return found;
		for await (const match of findInLines(file, query, signal)) if (found.push(match) >= limit) break;
	} catch {
		signal?.throwIfAborted(); // else the file was deleted or is not readable
	} finally {
		await file?.close();
	}
	return found;
}

async function* findInLines(file: FileHandle, query: Query, signal: AbortSignal | undefined): AsyncGenerator<Found> {
	const buffers = [Buffer.allocUnsafe(CHUNK_BYTES), Buffer.allocUnsafe(CHUNK_BYTES)];
	const readNext = (turn: number) => file.read(buffers[turn % 2] ?? Buffer.alloc(0), 0, CHUNK_BYTES, null);
	/** The beginning of a line that continues in the next chunk. */
	let carried: Buffer[] = [];
	let carriedFrom = 0;
	let chunkFrom = 0;
	let reading = readNext(0);
	try {
		for (let turn = 1; ; turn++) {
			signal?.throwIfAborted();
			const { bytesRead, buffer } = await reading;
			if (bytesRead === 0) return yield* query.find(Buffer.concat(carried), carriedFrom);
			reading = readNext(turn); // reads ahead while this chunk is searched
			const chunk = buffer.subarray(0, bytesRead);
			const firstEnd = chunk.indexOf(LF) + 1;
			carried.push(Buffer.from(chunk.subarray(0, firstEnd || bytesRead)));
			if (firstEnd > 0) {
				const linesEnd = chunk.lastIndexOf(LF) + 1;
				yield* query.find(Buffer.concat(carried), carriedFrom);
				yield* query.find(chunk.subarray(firstEnd, linesEnd), chunkFrom + firstEnd);
				carried = [Buffer.from(chunk.subarray(linesEnd))];
				carriedFrom = chunkFrom + linesEnd;
			}
			chunkFrom += bytesRead;
		}
	} finally {
		await reading.catch(() => {}); // the file must not be closed during a read
	}
}

/** Finds a text in lines of JSON: first in the raw bytes, which is fast, then in the parsed line. */
class Query {
	readonly #raw: RegExp;
	readonly #plain: RegExp;

	constructor(text: string) {
		this.#raw = rawTextPattern(text);
		this.#plain = new RegExp(escapePattern(text), "iu");
	}

	/** @param offset of the lines in their file */
	*find(lines: Buffer, offset: number): Generator<Found> {
		const raw = lines.toString("latin1");
		for (let at = 0; ; ) {
			this.#raw.lastIndex = at;
			const match = this.#raw.exec(raw);
			if (!match) return;
			const start = raw.lastIndexOf("\n", match.index) + 1;
			const lineEnd = raw.indexOf("\n", match.index);
			at = lineEnd < 0 ? raw.length : lineEnd;
			const entry = parseLine(lines.toString("utf8", start, at));
			if (!isRecord(entry)) continue;
			for (const text of textsOf(entry)) {
				const excerpt = this.#excerpt(text);
				if (!excerpt) continue;
				yield { offset: offset + start, role: entryRole(entry), ...excerpt };
				break;
			}
		}
	}

	#excerpt(text: string): Pick<Found, "excerpt" | "from" | "to"> | undefined {
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

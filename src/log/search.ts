import { type FileHandle, open } from "node:fs/promises";
import { newestFirst } from "./catalog.js";
import { escapePattern, LF, parseLine, rawTextPattern } from "./line-patterns.js";
import { isRecord } from "./read-message.js";
import { onOneLine } from "./session-summary.js";

/** A session that contains the text. */
export interface SearchHit {
	path: string;
	/** The text with its surroundings, on one line. */
	excerpt: string;
}

const CHUNK_BYTES = 1024 * 1024;
const BEFORE = 40;
const AFTER = 120;
/** Fields without text for people. */
const UNSEARCHED = new Set([
	"type",
	"role",
	"id",
	"timestamp",
	"toolCallId",
	"api",
	"data",
	"mimeType",
	"stopReason",
	"preamble",
]);
const UNSEARCHED_SUFFIX = "Signature";

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
		options.signal?.throwIfAborted();
		const excerpt = await findInFile(path, query, options.signal);
		if (excerpt !== undefined) yield { path, excerpt };
	}
}

async function findInFile(path: string, query: Query, signal: AbortSignal | undefined): Promise<string | undefined> {
	let file: FileHandle | undefined;
	try {
		file = await open(path, "r");
		if (!(await file.stat()).isFile()) return undefined;
		return await findInLines(file, query, signal);
	} catch {
		signal?.throwIfAborted();
		return undefined; // the file was deleted or is not readable
	} finally {
		await file?.close();
	}
}

async function findInLines(
	file: FileHandle,
	query: Query,
	signal: AbortSignal | undefined,
): Promise<string | undefined> {
	const buffers = [Buffer.allocUnsafe(CHUNK_BYTES), Buffer.allocUnsafe(CHUNK_BYTES)];
	const readNext = (turn: number) => file.read(buffers[turn % 2] ?? Buffer.alloc(0), 0, CHUNK_BYTES, null);
	let carried: Buffer[] = [];
	let reading = readNext(0);
	for (let turn = 1; ; turn++) {
		signal?.throwIfAborted();
		const { bytesRead, buffer } = await reading;
		if (bytesRead === 0) return query.find(Buffer.concat(carried));
		reading = readNext(turn); // reads ahead while this chunk is searched
		const chunk = buffer.subarray(0, bytesRead);
		const firstEnd = chunk.indexOf(LF) + 1;
		const linesEnd = firstEnd === 0 ? 0 : chunk.lastIndexOf(LF) + 1;
		carried.push(Buffer.from(chunk.subarray(0, firstEnd || bytesRead)));
		if (firstEnd === 0) continue;
		const excerpt = query.find(Buffer.concat(carried)) ?? query.find(chunk.subarray(firstEnd, linesEnd));
		if (excerpt !== undefined) {
			await reading;
			return excerpt;
		}
		carried = [Buffer.from(chunk.subarray(linesEnd))];
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

	find(lines: Buffer): string | undefined {
		const raw = lines.toString("latin1");
		this.#raw.lastIndex = 0;
		for (let match = this.#raw.exec(raw); match; match = this.#raw.exec(raw)) {
			const start = raw.lastIndexOf("\n", match.index) + 1;
			const lineEnd = raw.indexOf("\n", match.index);
			const end = lineEnd < 0 ? raw.length : lineEnd;
			const excerpt = this.#findIn(parseLine(lines.toString("utf8", start, end)));
			if (excerpt !== undefined) return excerpt;
			this.#raw.lastIndex = end;
		}
		return undefined;
	}

	#findIn(value: unknown): string | undefined {
		if (typeof value === "string") return this.#excerpt(value);
		if (Array.isArray(value)) return firstOf(value, (item) => this.#findIn(item));
		if (!isRecord(value)) return undefined;
		return firstOf(Object.entries(value), ([key, item]) =>
			UNSEARCHED.has(key) || key.endsWith(UNSEARCHED_SUFFIX) ? undefined : this.#findIn(item),
		);
	}

	#excerpt(text: string): string | undefined {
		const match = this.#plain.exec(text);
		if (!match) return undefined;
		const from = Math.max(0, match.index - BEFORE);
		const to = Math.min(text.length, match.index + match[0].length + AFTER);
		const piece = text.slice(from, to).replace(/^[\udc00-\udfff]|[\ud800-\udbff]$/g, "");
		return `${from > 0 ? "…" : ""}${onOneLine(piece, piece.length + 1)}${to < text.length ? "…" : ""}`;
	}
}

function firstOf<T>(items: readonly T[], look: (item: T) => string | undefined): string | undefined {
	for (const item of items) {
		const found = look(item);
		if (found !== undefined) return found;
	}
	return undefined;
}

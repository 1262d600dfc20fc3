import type { Stats } from "node:fs";
import { decodeLine } from "./codec.js";
import {
	isMessageEntry,
	isOpaqueEntry,
	isSessionInfoEntry,
	isUserMessageEntry,
	messageText,
	type SessionEntry,
} from "./entry.js";
import { LineIndex } from "./line-index.js";
import { cutUserText } from "./line-patterns.js";
import type { OpenFile } from "./open-file.js";
import { readFirstLine } from "./session-head.js";

const HEAD_BYTES = 64 * 1024;
/** How far the first message is searched for; of a longer line only the start is read. */
const MAX_HEAD_BYTES = 256 * 1024;
const TAIL_BYTES = 32 * 1024;
/** Bytes of lines that one file may have decoded because their heads do not say what they are. */
const MAX_DECODED_BYTES = 1024 * 1024;
const MAX_EXCERPT = 200;

/** A session file as a list shows it. */
export interface SessionSummary {
	path: string;
	id: string;
	name: string | null;
	/** Start of the first message of the user, on one line; empty if there is none. */
	firstMessage: string;
	/** ms since the epoch. */
	modifiedAt: number;
	/** Null if the file is too large to be counted for a list. */
	messageCount: number | null;
	/** Working directory in which it began. */
	cwd: string;
	/** Size of the file. */
	bytes: number;
}

/**
 * Summarizes session files, one after another, from their heads and tails; and as long as the budget of bytes lasts
 * from the complete file, so that names and counts of the first files are exact.
 */
export class Summarizer {
	#budgetBytes: number;

	constructor(budgetBytes: number) {
		this.#budgetBytes = budgetBytes;
	}

	/**
	 * @returns undefined if the file is not a session
	 * @throws the system's error
	 */
	summarize(path: string, file: OpenFile, stats: Stats): SessionSummary | undefined {
		const header = readFirstLine(file);
		if (typeof header === "string") return undefined;
		const { size } = stats;
		const isCounted = size <= HEAD_BYTES || size <= this.#budgetBytes;
		if (isCounted && size > HEAD_BYTES) this.#budgetBytes -= size;
		let lines = new SummaryLines(file, 0, isCounted ? size : HEAD_BYTES);
		let firstMessage = lines.firstMessage();
		if (!isCounted && firstMessage === undefined) {
			lines = new SummaryLines(file, 0, Math.min(size, MAX_HEAD_BYTES));
			firstMessage = lines.firstMessage();
		}
		const tail = isCounted ? lines : new SummaryLines(file, Math.max(HEAD_BYTES, size - TAIL_BYTES), size);
		return {
			path,
			id: header.id,
			name: (tail.lastName() ?? lines.lastName()) || null,
			firstMessage: firstMessage ?? "",
			modifiedAt: stats.mtimeMs,
			messageCount: isCounted ? lines.countMessages() : null,
			cwd: header.cwd,
			bytes: size,
		};
	}
}

/** Text on one line, control characters and runs of space as one space, cut to `length` characters. */
export function onOneLine(text: string, length: number): string {
	const flat = text
		.slice(0, length * 4)
		.replace(/[\s\p{Cc}]+/gu, " ")
		.trim();
	return flat.length > length ? `${flat.slice(0, length - 1).replace(/[\ud800-\udbff]$/, "")}…` : flat;
}

/** What a range of a file says about its session. The first and the last line may be cut. */
class SummaryLines {
	readonly #index = new LineIndex();
	/** Lines whose heads do not name a type, by number; null once they are more than may be decoded. */
	#foreign: Map<number, SessionEntry> | null | undefined;

	constructor(
		private readonly file: OpenFile,
		from: number,
		to: number,
	) {
		this.#index.scan(file, from, to);
	}

	firstMessage(): string | undefined {
		for (let line = 0; line < this.#index.length && this.#index.start(line) < MAX_HEAD_BYTES; line++) {
			const isMessage = (this.#index.typeHint(line) ?? "message") === "message";
			if (!isMessage || (this.#index.roleHint(line) ?? "user") !== "user") continue;
			const text = this.#userText(line);
			if (text !== undefined) return onOneLine(text, MAX_EXCERPT);
		}
		return undefined;
	}

	/** The name given last; empty if it was taken back, undefined if none was given. */
	lastName(): string | undefined {
		for (let line = this.#index.length - 1; line >= 0; line--) {
			const type = this.#index.typeHint(line);
			if (type !== undefined && type !== "session_info") continue;
			const entry = type === undefined ? this.#foreignLines()?.get(line) : decodeLine(this.#read(line));
			if (isSessionInfoEntry(entry)) return onOneLine(entry.name, MAX_EXCERPT);
		}
		return undefined;
	}

	/** @returns null if too many lines would have to be decoded */
	countMessages(): number | null {
		const types = this.#index.countTypes();
		const count = types.get("message") ?? 0;
		if (!types.has("")) return count;
		const foreign = this.#foreignLines();
		return foreign && count + [...foreign.values()].filter(isMessageEntry).length;
	}

	#foreignLines(): Map<number, SessionEntry> | null {
		if (this.#foreign !== undefined) return this.#foreign;
		const foreign = new Map<number, SessionEntry>();
		let bytes = 0;
		for (let line = 0; line < this.#index.length; line++) {
			if (this.#index.typeHint(line) !== undefined) continue;
			bytes += this.#index.byteLength(line);
			if (bytes > MAX_DECODED_BYTES) {
				this.#foreign = null;
				return null;
			}
			foreign.set(line, decodeLine(this.#read(line)));
		}
		this.#foreign = foreign;
		return foreign;
	}

	/** The text of a user message; of one that is cut or very long its start. */
	#userText(line: number): string | undefined {
		const isLong = this.#index.byteLength(line) > MAX_HEAD_BYTES;
		const bytes = this.#read(line, MAX_HEAD_BYTES);
		const entry = isLong ? undefined : decodeLine(bytes);
		if (isUserMessageEntry(entry)) return messageText(entry.message);
		const isCut = isLong || (isOpaqueEntry(entry) && line === this.#index.length - 1);
		return isCut ? cutUserText(bytes) : undefined;
	}

	#read(line: number, maxBytes = Number.POSITIVE_INFINITY): Buffer {
		const bytes = Buffer.allocUnsafe(Math.min(this.#index.byteLength(line), maxBytes));
		return bytes.subarray(0, this.file.readSome(bytes, this.#index.start(line)));
	}
}

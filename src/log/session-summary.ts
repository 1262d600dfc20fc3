import type { Stats } from "node:fs";
import { trimOf } from "../util/trim.js";
import { decodeLine } from "./codec.js";
import { isMessageEntry, isOpaqueEntry, isSessionInfoEntry, isUserMessageEntry, type SessionEntry } from "./entry.js";
import { LineIndex } from "./line-index.js";
import { cutUserText } from "./line-patterns.js";
import type { OpenFile } from "./open-file.js";
import { isPrinted, promptText } from "./prompt-text.js";
import { readSessionHeader } from "./read-entry.js";

const HEAD_BYTES = 64 * 1024;
/** Maximum range searched for the first message; of a longer line only the start is read. */
const MAX_HEAD_BYTES = 256 * 1024;
const TAIL_BYTES = 32 * 1024;
/** Maximum bytes decoded per file of lines whose heads do not contain the type. */
const MAX_DECODED_BYTES = 1024 * 1024;
const MAX_EXCERPT = 200;

/** A session file as a list shows it. */
export interface SessionSummary {
	path: string;
	id: string;
	name: string | null;
	/** Start of the first user message, on one line; empty if none exists. */
	firstMessage: string;
	/** ms since the epoch. */
	modifiedAt: number;
	/** Null if the file is too large to count for a list. */
	messageCount: number | null;
	/** Working directory in which the session began. */
	cwd: string;
	/** The git branch on which the session began, if it did in a repository. */
	branch?: string;
	/** Size of the file. */
	bytes: number;
	/** Title of the other program that wrote the session; opening it imports it. */
	program?: string;
	/** Number of sessions that its hooks started; absent for none. */
	subSessions?: number;
	/**
	 * Set if the session was only used with `pi -p` or JSON mode. Only the first prompt and one near the end of the file are
	 * looked at.
	 */
	isPrinted?: true;
}

/**
 * Summarizes session files one after another. Reads complete files until the budget of bytes is used up, so that names
 * and counts of the first files are exact; then only heads and tails.
 */
export class Summarizer {
	#budgetBytes: number;
	readonly #head = new HeadReader();

	constructor(budgetBytes: number) {
		this.#budgetBytes = budgetBytes;
	}

	/**
	 * @returns undefined if the file is not a session
	 * @throws the system's error
	 */
	summarize(path: string, opened: OpenFile, stats: Stats): SessionSummary | undefined {
		const file = this.#head.of(opened);
		const header = readSessionHeader(file);
		if (typeof header === "string") return undefined;
		const { size } = stats;
		const isCounted = size <= HEAD_BYTES || size <= this.#budgetBytes;
		if (isCounted && size > HEAD_BYTES) this.#budgetBytes -= size;
		let lines = new SummaryLines(file, 0, isCounted ? size : HEAD_BYTES);
		let first = lines.firstPrompt();
		if (!isCounted && first === undefined) {
			lines = new SummaryLines(file, 0, Math.min(size, MAX_HEAD_BYTES));
			first = lines.firstPrompt();
		}
		const tail = isCounted ? lines : new SummaryLines(file, Math.max(HEAD_BYTES, size - TAIL_BYTES), size);
		return {
			path,
			id: header.id,
			name: (tail.lastName() ?? lines.lastName()) || null,
			firstMessage: first?.text ?? "",
			modifiedAt: stats.mtimeMs,
			messageCount: isCounted ? lines.countMessages() : null,
			cwd: header.cwd,
			...(header.branch === undefined ? {} : { branch: header.branch }),
			bytes: size,
			...(first?.isPrinted && tail.lastPrompt()?.isPrinted !== false && { isPrinted: true as const }),
		};
	}
}

/** Reads the head of one file after another with one system call each, and everything behind it from the file. */
class HeadReader {
	readonly #bytes = Buffer.allocUnsafeSlow(HEAD_BYTES);
	#length = 0;
	#file: OpenFile | null = null;

	/** @returns this reader, for that file */
	of(file: OpenFile): Pick<OpenFile, "readSome"> {
		this.#file = file;
		this.#length = file.readSome(this.#bytes, 0);
		return this;
	}

	readSome(bytes: Uint8Array, offset: number): number {
		const isShort = this.#length < HEAD_BYTES;
		if (!isShort && offset + bytes.length > this.#length) return this.#file?.readSome(bytes, offset) ?? 0;
		return offset < this.#length ? this.#bytes.copy(bytes, 0, offset, this.#length) : 0;
	}
}

/** Text on one line, truncated to `length` characters; control characters and runs of spaces become one space. */
export function onOneLine(text: string, length: number): string {
	const flat = text
		.slice(0, length * 4)
		.replace(/[\s\p{Cc}]+/gu, " ")
		.trim();
	return flat.length > length ? `${flat.slice(0, length - 1).replace(/[\ud800-\udbff]$/, "")}…` : flat;
}

/** Longest title that is made from a prompt, UTF-16 units. */
const MAX_TITLE = 72;
const FIRST_SENTENCE = /^(.{12,}?)[.!?:]\s/u;

/** The title of a session without a name: the first sentence of its first prompt, cut between words. */
export function titleOfPrompt(prompt: string): string {
	const sentence = FIRST_SENTENCE.exec(prompt)?.[1] ?? prompt;
	if (sentence.length <= MAX_TITLE) return sentence;
	const cut = sentence.slice(0, MAX_TITLE).replace(/[\ud800-\udbff]$/, "");
	const end = cut.lastIndexOf(" ");
	return `${trimOf(end > MAX_TITLE / 2 ? cut.slice(0, end) : cut, "", " ,;–-")}…`;
}

/** The name of a session as lists show it. */
export function shownName(name: string): string {
	return onOneLine(name, MAX_EXCERPT);
}

/** A prompt in a range of lines. */
interface FoundPrompt {
	/** Its start, on one line. */
	text: string;
	isPrinted: boolean;
}

/** Reads summary data from a range of a session file. The first and last line may be truncated. */
class SummaryLines {
	readonly #index = new LineIndex();
	/** Decoded lines whose heads do not contain the type, by number; null if there are too many to decode. */
	#foreign: Map<number, SessionEntry> | null | undefined;

	constructor(
		private readonly file: Pick<OpenFile, "readSome">,
		from: number,
		to: number,
	) {
		this.#index.scan(file, from, to);
	}

	firstPrompt(): FoundPrompt | undefined {
		for (let line = 0; line < this.#index.length && this.#index.start(line) < MAX_HEAD_BYTES; line++) {
			const prompt = this.#promptAt(line);
			if (prompt !== undefined) return prompt;
		}
		return undefined;
	}

	lastPrompt(): FoundPrompt | undefined {
		for (let line = this.#index.length - 1; line >= 0; line--) {
			const prompt = this.#promptAt(line);
			if (prompt !== undefined) return prompt;
		}
		return undefined;
	}

	/** The last name; empty if the name was removed, undefined if there was none. */
	lastName(): string | undefined {
		for (let line = this.#index.length - 1; line >= 0; line--) {
			const type = this.#index.typeHint(line);
			if (type !== undefined && type !== "session_info") continue;
			const entry = type === undefined ? this.#foreignLines()?.get(line) : decodeLine(this.#read(line));
			if (isSessionInfoEntry(entry)) return shownName(entry.name);
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

	/** The user message of a line; the start of its text if the line is truncated or very long. */
	#promptAt(line: number): FoundPrompt | undefined {
		const isMessage = (this.#index.typeHint(line) ?? "message") === "message";
		if (!isMessage || (this.#index.roleHint(line) ?? "user") !== "user") return undefined;
		const isLong = this.#index.byteLength(line) > MAX_HEAD_BYTES;
		const bytes = this.#read(line, MAX_HEAD_BYTES);
		const entry = isLong ? undefined : decodeLine(bytes);
		const isCut = isLong || (isOpaqueEntry(entry) && line === this.#index.length - 1);
		const text = isUserMessageEntry(entry) ? promptText(entry) : isCut ? cutUserText(bytes) : undefined;
		if (text === undefined) return undefined;
		return { text: onOneLine(text, MAX_EXCERPT), isPrinted: isUserMessageEntry(entry) && isPrinted(entry) };
	}

	#read(line: number, maxBytes = Number.POSITIVE_INFINITY): Buffer {
		const bytes = Buffer.allocUnsafe(Math.min(this.#index.byteLength(line), maxBytes));
		return bytes.subarray(0, this.file.readSome(bytes, this.#index.start(line)));
	}
}

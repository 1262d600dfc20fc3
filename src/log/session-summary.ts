import type { Stats } from "node:fs";
import { isRecord } from "./message-shape.js";
import type { OpenFile } from "./open-file.js";
import { parseHeader, readFirstLine } from "./session-head.js";

const LF = 10;
const HEAD_BYTES = 64 * 1024;
/** How far a first message is looked for. */
const MAX_HEAD_BYTES = 256 * 1024;
const TAIL_BYTES = 32 * 1024;
const CHUNK_BYTES = 1024 * 1024;
/** More than a needle and the line end before it. */
const OVERLAP_BYTES = 64;
const MAX_NAME_LINE_BYTES = 4096;
const MAX_EXCERPT = 200;
const NAME_NEEDLE = Buffer.from('"type":"session_info"');
/** With the end of the line before it: the first line is the header. */
const MESSAGE_NEEDLE = Buffer.from('\n{"type":"message"');
const USER_NEEDLE = Buffer.from('"role":"user"');

/** A session file as a list shows it. */
export interface SessionSummary {
	path: string;
	id: string;
	name: string | null;
	/** Start of the first thing the user said, on one line; empty when nothing was said. */
	firstMessage: string;
	/** ms since the epoch. */
	modifiedAt: number;
	/** Null when the file is too large to be counted for a list. */
	messageCount: number | null;
	/** Where it began. */
	cwd: string;
	/** Size of the file. */
	bytes: number;
}

/**
 * Summarizes session files, one after another, from their heads and tails; from all of it as long as the budget of
 * bytes lasts, so that names and counts of the first files are exact.
 */
export class Summarizer {
	readonly #scratch = Buffer.allocUnsafe(CHUNK_BYTES);
	#budgetBytes: number;

	constructor(budgetBytes: number) {
		this.#budgetBytes = budgetBytes;
	}

	/**
	 * @returns undefined when the file is no session
	 * @throws the system's error
	 */
	summarize(path: string, file: OpenFile, stats: Stats): SessionSummary | undefined {
		let head = this.#read(file, 0, HEAD_BYTES);
		const headerEnd = head.indexOf(LF);
		const header = headerEnd < 0 ? readFirstLine(file) : parseHeader(head.subarray(0, headerEnd));
		if (typeof header === "string") return undefined;
		let firstMessage = firstUserText(head);
		if (firstMessage === undefined && head.length < stats.size) {
			head = this.#read(file, 0, MAX_HEAD_BYTES);
			firstMessage = firstUserText(head) ?? cutUserText(head);
		}
		const { name, messageCount } = this.#scan(file, head, stats.size);
		return {
			path,
			id: header.id,
			name,
			firstMessage: firstMessage ?? "",
			modifiedAt: stats.mtimeMs,
			messageCount,
			cwd: header.cwd,
			bytes: stats.size,
		};
	}

	#scan(file: OpenFile, head: Buffer, size: number): Pick<SessionSummary, "name" | "messageCount"> {
		const scan = new Scan(file);
		if (size <= head.length) {
			scan.look(head, 0);
			return scan;
		}
		if (size > this.#budgetBytes) {
			scan.look(head, 0);
			const tailStart = Math.max(head.length, size - TAIL_BYTES);
			scan.look(this.#read(file, tailStart, TAIL_BYTES), tailStart);
			return { name: scan.name, messageCount: null };
		}
		this.#budgetBytes -= size;
		for (let at = 0; at < size; at += CHUNK_BYTES - OVERLAP_BYTES) scan.look(this.#read(file, at, CHUNK_BYTES), at);
		return scan;
	}

	#read(file: OpenFile, offset: number, length: number): Buffer {
		const room = this.#scratch.subarray(0, length);
		return room.subarray(0, file.readSome(room, offset));
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

/** Looks through the bytes of a file, front to back, for messages to count and the last name that was given. */
class Scan {
	name: string | null = null;
	messageCount = 0;
	#countedTo = 0;

	constructor(private readonly file: OpenFile) {}

	/** Pieces overlap, so that no needle is cut. */
	look(bytes: Buffer, offset: number): void {
		for (let at = bytes.indexOf(MESSAGE_NEEDLE); at >= 0; at = bytes.indexOf(MESSAGE_NEEDLE, at + 1)) {
			if (offset + at < this.#countedTo) continue;
			this.messageCount++;
			this.#countedTo = offset + at + 1;
		}
		for (let at = bytes.indexOf(NAME_NEEDLE); at >= 0; at = bytes.indexOf(NAME_NEEDLE, at + 1)) {
			const name = this.#nameAt(offset + at);
			if (name !== undefined) this.name = name || null;
		}
	}

	/** The name in the line around a needle; undefined when the line is something else. */
	#nameAt(offset: number): string | undefined {
		const from = Math.max(0, offset - MAX_NAME_LINE_BYTES);
		const room = Buffer.allocUnsafe(2 * MAX_NAME_LINE_BYTES);
		const around = room.subarray(0, this.file.readSome(room, from));
		const start = around.lastIndexOf(LF, offset - from) + 1;
		const end = around.indexOf(LF, offset - from);
		const entry = parse(around.subarray(start, end < 0 ? around.length : end));
		if (!isRecord(entry) || entry.type !== "session_info" || typeof entry.name !== "string") return undefined;
		return onOneLine(entry.name, MAX_EXCERPT);
	}
}

/** The text of the first user message among whole lines. */
function firstUserText(head: Buffer): string | undefined {
	for (let at = head.indexOf(USER_NEEDLE); at >= 0; ) {
		const start = head.lastIndexOf(LF, at) + 1;
		const end = head.indexOf(LF, at);
		const entry = parse(head.subarray(start, end < 0 ? head.length : end));
		const text = isRecord(entry) && entry.type === "message" ? userText(entry.message) : undefined;
		if (text !== undefined) return onOneLine(text, MAX_EXCERPT);
		if (end < 0) return undefined;
		at = head.indexOf(USER_NEEDLE, end);
	}
	return undefined;
}

/** The start of a first user message whose line is longer than the head. */
function cutUserText(head: Buffer): string | undefined {
	const at = head.indexOf(USER_NEEDLE);
	if (at < 0) return undefined;
	const text = /"(?:text|content)":"((?:[^"\\]|\\.){1,2000})/.exec(head.toString("utf8", at))?.[1];
	const value = text === undefined ? undefined : parse(Buffer.from(`"${text}"`));
	return typeof value === "string" ? onOneLine(value, MAX_EXCERPT) : undefined;
}

function userText(message: unknown): string | undefined {
	if (!isRecord(message) || message.role !== "user") return undefined;
	if (typeof message.content === "string") return message.content;
	if (!Array.isArray(message.content)) return undefined;
	const blocks: unknown[] = message.content;
	return blocks.map((block) => (isRecord(block) && typeof block.text === "string" ? block.text : "")).join(" ");
}

function parse(line: Buffer): unknown {
	try {
		return JSON.parse(line.toString());
	} catch {
		return undefined;
	}
}

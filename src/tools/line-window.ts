import { MAX_READ_BYTES } from "../util/read-limit.js";
import { fill } from "./file-content.js";
import type { HostFile } from "./machine/machine.js";
import { OUTPUT_LIMITS } from "./output.js";

const CHUNK_BYTES = 1024 * 1024;
const MIN_CHUNK_BYTES = 64 * 1024;
/** Bytes kept: far more than the limit of a result, because carriage returns and control characters are removed. */
const WINDOW_BYTES = 256 * 1024;

/** The lines to find. */
export interface LineRequest {
	/** The bytes of the file that were read already. */
	start?: Buffer;
	/** Number of the first line, counted from 1. */
	first: number;
	/** Number of lines; default: to the end of the file. */
	limit?: number;
	/** Default: an encoding in which a newline is one byte. */
	encoding?: "utf-16le" | "utf-16be";
	signal: AbortSignal;
}

/** The start of the requested lines, and the sizes that were counted on the way. */
export interface LineWindow {
	/** From the start of line `first`, at most 256 KB, with newlines; lines after the requested ones may follow. */
	bytes: Buffer;
	/** True if the file continues after `bytes`. */
	isCut: boolean;
	/** Offset of `bytes` in the file. */
	start: number;
	/** Bytes of the requested lines, as far as they were read. */
	requestedBytes: number;
	/** Bytes of line `first` without its newline; undefined if its end was not reached. */
	firstLineBytes: number | undefined;
	/** Lines of the file; undefined if the file was not read to its end. A final newline starts no further line. */
	total: number | undefined;
}

/**
 * Finds lines by number in a file of any size, in one pass and with constant memory. Reads files up to 50 MB to their end
 * to count their lines; in larger ones it stops once it has the requested lines.
 * @throws the reason of an abort, within one read of 1 MB; the system's error
 */
export async function readLineWindow(file: Pick<HostFile, "size" | "read">, request: LineRequest): Promise<LineWindow> {
	const { size } = file;
	const { first, limit = Number.POSITIVE_INFINITY, signal } = request;
	const buffer = Buffer.allocUnsafe(Math.min(CHUNK_BYTES, Math.max(MIN_CHUNK_BYTES, size + 1)));
	const afterNewline = newlineFinder(request.encoding);
	let before = request.start ?? Buffer.alloc(0);
	const kept: Buffer[] = [];
	let keptBytes = 0;
	let position = 0;
	let line = 1;
	let lineStart = 0;
	let start = first === 1 ? 0 : undefined;
	let firstLineEnd: number | undefined;
	let requestedEnd: number | undefined;
	let isAtEnd = false;

	const hasWindow = () => keptBytes === WINDOW_BYTES || line >= first + Math.min(limit, OUTPUT_LIMITS.maxLines);
	while (!(hasWindow() && Math.max(size, position) > MAX_READ_BYTES)) {
		signal.throwIfAborted();
		// The buffer is filled as far as the file goes, so that a character of two bytes never spans two chunks.
		const chunk = buffer.subarray(0, await fill(file, buffer, before.copy(buffer)));
		before = Buffer.alloc(0);
		if (chunk.length === 0) {
			isAtEnd = true;
			break;
		}
		for (let at = afterNewline(chunk, 0); at !== 0; at = afterNewline(chunk, at)) {
			line++;
			lineStart = position + at;
			if (line === first) start = lineStart;
			else if (line === first + 1) firstLineEnd = lineStart - 1;
			if (line === first + limit) requestedEnd = lineStart;
		}
		if (start !== undefined && keptBytes < WINDOW_BYTES) {
			const from = Math.max(0, start - position);
			const part = Buffer.from(chunk.subarray(from, from + WINDOW_BYTES - keptBytes));
			kept.push(part);
			keptBytes += part.length;
		}
		position += chunk.length;
	}
	const begin = start ?? position;
	if (isAtEnd) firstLineEnd ??= position;
	return {
		bytes: Buffer.concat(kept),
		isCut: begin + keptBytes < position || !isAtEnd,
		start: begin,
		requestedBytes: (requestedEnd ?? position) - begin,
		firstLineBytes: firstLineEnd === undefined ? undefined : firstLineEnd - begin,
		total: isAtEnd ? line - (lineStart === position ? 1 : 0) : undefined,
	};
}

/** @returns a function that returns the index after the next newline from an index on; 0 if no newline follows */
function newlineFinder(encoding: LineRequest["encoding"]): (bytes: Buffer, from: number) => number {
	if (encoding === undefined) return (bytes, from) => bytes.indexOf(0x0a, from) + 1;
	const newline = Buffer.from(encoding === "utf-16le" ? [0x0a, 0] : [0, 0x0a]);
	return (bytes, from) => {
		let at = bytes.indexOf(newline, from);
		while (at % 2 === 1) at = bytes.indexOf(newline, at + 1);
		return at === -1 ? 0 : at + 2;
	};
}

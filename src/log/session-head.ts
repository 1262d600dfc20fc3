import type { SessionHeader } from "./entry.js";
import { LF, parseLine } from "./line-patterns.js";
import type { OpenFile } from "./open-file.js";
import { readHeader } from "./read-entry.js";

const FIRST_READ_BYTES = 4096;
/** Longest first line that is looked at; a header takes a few hundred bytes. */
const MAX_HEADER_BYTES = 1024 * 1024;

/** The header on the first line of a file, or the reason why the file is no session. Reads no more than 1 MiB. */
export function readFirstLine(file: OpenFile): SessionHeader | string {
	for (let size = FIRST_READ_BYTES; ; size = MAX_HEADER_BYTES) {
		const buffer = Buffer.allocUnsafe(size);
		const head = buffer.subarray(0, file.readSome(buffer, 0));
		const end = head.indexOf(LF);
		if (end >= 0 || head.length < size || size === MAX_HEADER_BYTES) {
			const value = parseLine(head.toString("utf8", 0, end < 0 ? head.length : end));
			return value === undefined ? "its first line is not JSON" : readHeader(value);
		}
	}
}

import { isBlank, LF } from "./line-patterns.js";
import type { OpenFile } from "./open-file.js";

const CHUNK_BYTES = 1024 * 1024;

/** A line of a file, as it is. */
export interface RawLine {
	/** Number of the line, from 1; blank lines count. */
	number: number;
	/** Offset of its first byte. */
	offset: number;
	/** Length in bytes, without the line end. */
	length: number;
	/** False for a last line without line end. */
	isEnded: boolean;
	isBlank: boolean;
	/** The bytes without the line end; null if the line is longer than the limit. */
	bytes: Buffer | null;
}

/**
 * Reads the lines of a file one by one, blank lines included.
 * @param maxBytes of longer lines only the position is read
 * @throws the system's error
 */
export function* rawLines(file: Pick<OpenFile, "readSome">, maxBytes: number): Generator<RawLine> {
	const buffer = Buffer.allocUnsafe(CHUNK_BYTES);
	let parts: Buffer[] = [];
	let line = { number: 1, offset: 0, length: 0, isBlank: true };
	const add = (bytes: Buffer): void => {
		line.length += bytes.length;
		if (line.isBlank) line.isBlank = bytes.every(isBlank);
		if (line.length <= maxBytes) parts.push(bytes);
		else parts = [];
	};
	const end = (isEnded: boolean): RawLine => {
		const bytes = line.length > maxBytes ? null : Buffer.concat(parts);
		const ended = { ...line, isEnded, bytes };
		line = { number: line.number + 1, offset: line.offset + line.length + 1, length: 0, isBlank: true };
		parts = [];
		return ended;
	};
	for (let position = 0; ; ) {
		const count = file.readSome(buffer, position);
		if (count === 0) break;
		let at = 0;
		for (let lf = buffer.indexOf(LF); lf >= 0 && lf < count; lf = buffer.indexOf(LF, at)) {
			add(Buffer.from(buffer.subarray(at, lf)));
			yield end(true);
			at = lf + 1;
		}
		if (at < count) add(Buffer.from(buffer.subarray(at, count)));
		position += count;
	}
	if (line.length > 0) yield end(false);
}

import { decodeLine } from "./codec.js";
import { LF, mayRecordUsage, TypeTable } from "./line-patterns.js";
import type { OpenFile } from "./open-file.js";
import { type RequestUsage, usageOf } from "./request-usage.js";

const CHUNK_BYTES = 1024 * 1024;

/** The usage recorded in a part of a session file. */
export interface FileUsage {
	requests: RequestUsage[];
	/** Offset after the last line end. */
	end: number;
	/** True if the last of `requests` is on a line after `end`, which has no line end yet. */
	hasOpenEnd: boolean;
}

/**
 * Reads the usage that the entries of a session file record, from the start of a line to the end of the file. Decodes only
 * lines that may record usage.
 * @param breathe called after each chunk, to let other work run
 * @throws the system's error
 */
export async function readUsage(
	file: Pick<OpenFile, "readSome">,
	from: number,
	breathe: () => Promise<void>,
): Promise<FileUsage> {
	const types = new TypeTable();
	const buffer = Buffer.allocUnsafe(CHUNK_BYTES);
	const requests: RequestUsage[] = [];
	const read = (line: Uint8Array): boolean => {
		const usage = usageOf(decodeLine(line));
		if (usage) requests.push(usage);
		return usage !== null;
	};
	/** Pieces of a line that began in an earlier chunk; null: it is skipped. */
	let pieces: Buffer[] | null = [];
	let end = from;
	for (let position = from; ; ) {
		const count = file.readSome(buffer, position);
		if (count === 0) break;
		const chunk = buffer.subarray(0, count);
		let at = 0;
		for (let lineEnd = chunk.indexOf(LF); lineEnd >= 0; lineEnd = chunk.indexOf(LF, at)) {
			if (pieces && pieces.length > 0) read(Buffer.concat([...pieces, chunk.subarray(at, lineEnd)]));
			else if (pieces && mayRecordUsage(chunk, at, lineEnd, types)) read(chunk.subarray(at, lineEnd));
			pieces = [];
			at = lineEnd + 1;
			end = position + at;
		}
		const isLineStart = pieces?.length === 0;
		if (isLineStart && !mayRecordUsage(chunk, at, count, types)) pieces = null;
		if (at < count) pieces?.push(Buffer.from(chunk.subarray(at)));
		position += count;
		await breathe();
	}
	const hasOpenEnd = pieces !== null && pieces.length > 0 && read(Buffer.concat(pieces));
	return { requests, end, hasOpenEnd };
}

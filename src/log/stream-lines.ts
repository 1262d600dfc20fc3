import { promises } from "node:fs";
import type { FileHandle } from "node:fs/promises";
import { isBlank, LF } from "./line-patterns.js";

const CHUNK_BYTES = 1024 * 1024;

/**
 * Reads the complete lines of a session file in order, about 1 MB at a time, so that other work runs in between. What is
 * yielded is only valid until the next part; its last line may lack the line end. Nothing for what is not a file.
 * @throws the system's error; the reason of the signal
 */
export async function* streamLines(path: string, signal?: AbortSignal): AsyncGenerator<Buffer> {
	signal?.throwIfAborted();
	const file = await promises.open(path, "r");
	try {
		if ((await file.stat()).isFile()) yield* linesOf(file, signal);
	} finally {
		await file.close();
	}
}

async function* linesOf(file: FileHandle, signal: AbortSignal | undefined): AsyncGenerator<Buffer> {
	const buffers = [Buffer.allocUnsafe(CHUNK_BYTES), Buffer.allocUnsafe(CHUNK_BYTES)];
	const readNext = (turn: number) => file.read(buffers[turn % 2] ?? Buffer.alloc(0), 0, CHUNK_BYTES, null);
	/** The beginning of a line that continues in the next chunk. */
	let carried: Buffer[] = [];
	let reading = readNext(0);
	try {
		for (let turn = 1; ; turn++) {
			signal?.throwIfAborted();
			const { bytesRead, buffer } = await reading;
			if (bytesRead === 0) return yield Buffer.concat(carried);
			reading = readNext(turn); // reads ahead while this chunk is used
			const chunk = buffer.subarray(0, bytesRead);
			const firstEnd = chunk.indexOf(LF) + 1;
			carried.push(Buffer.from(chunk.subarray(0, firstEnd || bytesRead)));
			if (firstEnd > 0) {
				const linesEnd = chunk.lastIndexOf(LF) + 1;
				yield Buffer.concat(carried);
				yield chunk.subarray(firstEnd, linesEnd);
				carried = [Buffer.from(chunk.subarray(linesEnd))];
			}
		}
	} finally {
		await reading.catch(() => {}); // the file must not be closed during a read
	}
}

/**
 * Visits the lines that are entries: blank ones are none.
 * @param visit receives the range of a line in bytes, without its line end; false ends the visits
 */
export function visitEntries(lines: Buffer, visit: (from: number, to: number) => boolean): void {
	for (let at = 0; at < lines.length; ) {
		let first = at;
		while (isBlank(lines[first])) first++;
		const found = lines.indexOf(LF, first);
		const end = found < 0 ? lines.length : found;
		if (first < end && !visit(at, end)) return;
		at = end + 1;
	}
}

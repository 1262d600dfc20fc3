import { MAX_READ_BYTES, tooLarge } from "../util/read-limit.js";
import { SAMPLE_BYTES } from "./file-type.js";
import type { HostFile, ToolHost } from "./machine/machine.js";

const MIN_CHUNK_BYTES = 64 * 1024;

/** The first bytes of a file that was just opened, as many as its type needs. */
export async function readStart(file: HostFile): Promise<Buffer> {
	const buffer = Buffer.allocUnsafe(SAMPLE_BYTES);
	return buffer.subarray(0, await fill(file, buffer, 0));
}

/** Reads until the buffer is full or the file ends. @returns the number of bytes in the buffer */
export async function fill(file: Pick<HostFile, "read">, buffer: Buffer, length: number): Promise<number> {
	let filled = length;
	while (filled < buffer.length) {
		const count = await file.read(buffer.subarray(filled));
		if (count === 0) break;
		filled += count;
	}
	return filled;
}

/**
 * The complete content of a file.
 * @param start what was read of it
 * @throws PiError `file_unreadable` for more than `maxBytes`
 */
export async function readRest(
	path: string,
	file: HostFile,
	start: Buffer,
	maxBytes = MAX_READ_BYTES,
): Promise<Buffer> {
	if (file.size > maxBytes) throw tooLarge(path, file.size, maxBytes);
	// Files in /proc report 0, and files may grow.
	let buffer = Buffer.allocUnsafe(Math.max(file.size, start.length) + 1);
	let length = start.copy(buffer);
	for (;;) {
		length = await fill(file, buffer, length);
		if (length > maxBytes) throw tooLarge(path, length, maxBytes);
		if (length < buffer.length) return buffer.subarray(0, length);
		buffer = Buffer.concat([buffer, Buffer.allocUnsafe(Math.max(MIN_CHUNK_BYTES, length))]);
	}
}

/** Reads a file. @param maxBytes default 50 MB @throws as `openFile` and `readRest` */
export async function readFile(
	host: ToolHost,
	path: string,
	{ signal, maxBytes }: { signal: AbortSignal; maxBytes?: number },
): Promise<Buffer> {
	const file = await host.openFile(path, { signal });
	try {
		return await readRest(path, file, Buffer.alloc(0), maxBytes);
	} finally {
		await file.close();
	}
}

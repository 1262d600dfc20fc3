import { createHash } from "node:crypto";
import { closeSync, readSync } from "node:fs";
import { openRegularFileSync } from "../util/fs.js";
import type { TimeSlices } from "../util/time-slices.js";

/** Bytes that are read before other work may run. */
const PIECE_BYTES = 256 * 1024;

/** Digests one file after another. Synchronous reads into one buffer are several times faster than asynchronous ones. */
export class FileDigester {
	readonly #buffer = Buffer.allocUnsafe(PIECE_BYTES);

	constructor(private readonly slices: TimeSlices) {}

	/** @returns SHA-256 of a regular file of any size, hex @throws PiError `file_unreadable`, or the system error */
	async digest(path: string): Promise<string> {
		const hash = createHash("sha256");
		const descriptor = openRegularFileSync(path);
		try {
			for (;;) {
				const count = readSync(descriptor, this.#buffer, 0, PIECE_BYTES, null);
				if (count === 0) return hash.digest("hex");
				hash.update(this.#buffer.subarray(0, count));
				if (this.slices.isOver) await this.slices.next();
			}
		} finally {
			closeSync(descriptor);
		}
	}
}

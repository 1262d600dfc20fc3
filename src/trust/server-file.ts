import { createHash } from "node:crypto";
import { closeSync, readSync } from "node:fs";
import { openRegularFileSync, readRegularFileSync, statOrNull } from "../util/fs.js";

/** A larger file is described by its digest, and cannot be shown. */
export const MAX_FILE_BYTES = 2 * 1024 * 1024;

/** The bytes by which a file of a server is trusted: its own, or those that describe a large one. @throws PiError `file_unreadable` */
export function readServerFile(path: string): Buffer {
	return isLarge(path) ? describeLarge(path) : readRegularFileSync(path, { maxBytes: MAX_FILE_BYTES });
}

/** True for a file whose digest stands for its bytes. */
export function isLarge(path: string): boolean {
	return (statOrNull(path)?.size ?? 0) > MAX_FILE_BYTES;
}

/** Reads a file in pieces. */
function describeLarge(path: string): Buffer {
	const descriptor = openRegularFileSync(path);
	try {
		const hash = createHash("sha256");
		const buffer = Buffer.allocUnsafe(1024 * 1024);
		let size = 0;
		for (let count = readSync(descriptor, buffer); count > 0; count = readSync(descriptor, buffer)) {
			hash.update(buffer.subarray(0, count));
			size += count;
		}
		return Buffer.from(`${size} bytes with the SHA-256 ${hash.digest("hex")}\n`);
	} finally {
		closeSync(descriptor);
	}
}

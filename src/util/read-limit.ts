import { PiError } from "../errors.js";

/** Size of the largest file that is read completely, unless the caller sets another limit. */
export const MAX_READ_BYTES = 50 * 1024 * 1024;

/** The error for a file of more than `maxBytes`. */
export function tooLarge(path: string, size: number, maxBytes: number): PiError {
	return new PiError("file_unreadable", `Cannot read ${path}: ${size} bytes is more than the limit of ${maxBytes}`);
}

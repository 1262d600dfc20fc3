import { realpathSync } from "node:fs";
import { PiError } from "../errors.js";
import { plural } from "../util/format-amounts.js";
import { errnoCode, isNotFound } from "../util/fs.js";
import { isOtherVersion } from "./read-entry.js";

/** The path of a session file with links resolved. @throws PiError as `unopened` */
export function realPath(path: string): string {
	try {
		return realpathSync(path);
	} catch (error) {
		throw unopened(path, error);
	}
}

/** The error for a session file that cannot be opened: `log_not_found`, `log_not_a_session` or `file_unreadable`. */
export function unopened(path: string, error: unknown): PiError {
	if (isNotFound(error)) return new PiError("log_not_found", `There is no session file ${path}`, { cause: error });
	const code = errnoCode(error);
	if (code === "EISDIR") return new PiError("log_not_a_session", `${path} is not a session: it is a directory`);
	if (code === "ENXIO") return new PiError("log_not_a_session", `${path} is not a session: it is a socket or device`);
	return new PiError("file_unreadable", `Cannot read the session ${path}`, { cause: error });
}

/** The error for a file whose first line is no header. @param reason of `readSessionHeader` */
export function notASession(path: string, reason: string): PiError {
	const hint = isOtherVersion(reason)
		? "`pi sessions import <file>` makes a session of a file in the tree format"
		: "choose a session file, or start a new session";
	return new PiError("log_not_a_session", `${path} is not a session: ${reason}`, { hint });
}

/**
 * What pi did when a session file was deleted, replaced or truncated while in use.
 * @param lost number of entries that were neither in the file nor read before @param rest new path of the file that was there; null: none was
 */
export function rewritten(lost: number, rest: string | null): string {
	if (lost === 0) return "pi wrote the complete session to this path again";
	const where = rest === null ? "" : ` · the file as it was: ${rest}`;
	return `pi wrote it to this path again without ${plural(lost, "entry", "entries")} that it had not read${where}`;
}

/** True if an operation failed because it is not permitted or the file system is read-only. */
export function isForbidden(error: unknown): boolean {
	return ["EACCES", "EPERM", "EROFS"].includes(errnoCode(error) ?? "");
}

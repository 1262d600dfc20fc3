import { realpathSync } from "node:fs";
import { PiError } from "../errors.js";
import { errnoCode, isNotFound } from "../util/fs.js";

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

/** True if an operation failed because it is not permitted or the file system is read-only. */
export function isForbidden(error: unknown): boolean {
	return ["EACCES", "EPERM", "EROFS"].includes(errnoCode(error) ?? "");
}

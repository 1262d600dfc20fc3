import { copyFileSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { PiError } from "../errors.js";
import type { SessionEntry } from "../log/entry.js";
import { SessionLog } from "../log/session-log.js";

/**
 * Prepares the log that a test starts from, in a private directory.
 * @param start entries without a header, or the path of a session file, which is copied
 * @returns the path of the log
 * @throws PiError `bad_arguments`, `file_unreadable`, `entry_refused`
 */
export async function createStartLog(
	start: readonly SessionEntry[] | string,
	dir: string,
	cwd: string,
): Promise<string> {
	const path = join(dir, "session.jsonl");
	if (typeof start === "string") {
		try {
			readFileSync(start);
			copyFileSync(start, path);
		} catch (cause) {
			throw new PiError("file_unreadable", `The session file ${start} cannot be read`, { cause });
		}
		return path;
	}
	if (start.some((entry) => entry.type === "session"))
		throw new PiError("bad_arguments", "entries must not contain a header; pi adds it as entry 0");
	const log = SessionLog.createAt(path, { cwd });
	log.appendAll(start);
	await log.flush();
	log.close();
	return path;
}

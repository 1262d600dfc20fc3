import { createHash } from "node:crypto";
import { dirname } from "node:path";

const MAX_NAME_BYTES = 200;
const KEPT_BYTES = 150;

/** Extension of session files. */
export const SESSION_FILE_SUFFIX = ".jsonl";
const SUB_SESSIONS_SUFFIX = ".agents";

/**
 * Name of the directory that holds the sessions of a working directory: `--` + the path without its leading slash,
 * `/`, `\` and `:` replaced by `-`, + `--`. A name over 200 bytes is truncated and ends in a hash of the complete path.
 */
export function sessionDirName(cwd: string): string {
	const flat = cwd.replace(/^[/\\]/, "").replace(/[/\\:]/g, "-");
	const name = `--${flat}--`;
	if (Buffer.byteLength(name) <= MAX_NAME_BYTES) return name;
	const hash = createHash("sha256").update(cwd).digest("hex").slice(0, 16);
	return `--${cutToBytes(flat, KEPT_BYTES)}-${hash}--`;
}

/** True for names as `sessionDirName` returns them. */
export function isSessionDirName(name: string): boolean {
	return name.startsWith("--") && name.endsWith("--");
}

/** File name of a session that began at `time`: `<ISO time with - for : and .>_<id>.jsonl`. */
export function sessionFileName(time: Date, id: string): string {
	return `${time.toISOString().replace(/[:.]/g, "-")}_${id}${SESSION_FILE_SUFFIX}`;
}

/** The directory of the sessions that the hooks of a session started, next to its file: `x.jsonl` → `x.agents`. */
export function subSessionsDir(path: string): string {
	return `${path.slice(0, path.endsWith(SESSION_FILE_SUFFIX) ? -SESSION_FILE_SUFFIX.length : undefined)}${SUB_SESSIONS_SUFFIX}`;
}

/** The directory of the user's sessions: of a directory of sub-sessions, that of the session that started them. */
export function userSessionsDir(dir: string): string {
	return dir.endsWith(SUB_SESSIONS_SUFFIX) ? userSessionsDir(dirname(dir)) : dir;
}

/** The session id in a file name; undefined if it is not the name of a session file. */
export function sessionIdOfName(fileName: string): string | undefined {
	return /_([^_/\\]+)\.jsonl$/.exec(fileName)?.[1];
}

/** The start of the session in a file name, ISO 8601; undefined if the name does not contain it. */
export function sessionTimeOfName(fileName: string): string | undefined {
	const [, day, hour, minute, second, ms] = /^(\d{4}-\d\d-\d\d)T(\d\d)-(\d\d)-(\d\d)-(\d{3})Z_/.exec(fileName) ?? [];
	return day && `${day}T${hour}:${minute}:${second}.${ms}Z`;
}

/** The longest prefix of at most `maxBytes` UTF-8 bytes that splits no character. */
function cutToBytes(text: string, maxBytes: number): string {
	let bytes = 0;
	let kept = "";
	for (const character of text) {
		bytes += Buffer.byteLength(character);
		if (bytes > maxBytes) break;
		kept += character;
	}
	return kept;
}

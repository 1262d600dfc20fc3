import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ensurePrivateDir, tryUnlink } from "../util/fs.js";

/** Text that the user had not sent when a session ended. It is not an entry: the user may never send it. */

/** Path of the draft of a session file. */
export function draftPath(file: string): string {
	return `${file}.draft`;
}

/** Path of the draft of sessions of a directory that ended before their first prompt, and have no file. */
export function newDraftPath(dir: string): string {
	return join(dir, "new.draft");
}

/**
 * Writes a draft, behind one that is there already. Returns when it is written: the process may be about to end.
 * @throws the system's error
 */
export function keepDraft(path: string, dir: string, text: string): void {
	ensurePrivateDir(dir);
	const texts = [readDraft(path), text].filter((part) => part !== "");
	// Replaced as a whole: the disk may be full.
	const temporary = `${path}.tmp`;
	try {
		writeFileSync(temporary, texts.join("\n\n"), { mode: 0o600 });
		renameSync(temporary, path);
	} catch (error) {
		tryUnlink(temporary);
		throw error;
	}
}

/** Removes a draft. @returns its text; empty if none is there */
export function takeDraft(path: string): string {
	const text = readDraft(path);
	if (text !== "") tryUnlink(path);
	return text;
}

/** Deletes the draft of a session file. */
export function dropDraft(file: string): void {
	tryUnlink(draftPath(file));
}

function readDraft(path: string): string {
	try {
		return readFileSync(path, "utf8");
	} catch {
		return ""; // none was kept, or it cannot be read
	}
}

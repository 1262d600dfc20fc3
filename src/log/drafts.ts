import { readFileSync } from "node:fs";
import { join } from "node:path";
import { tryUnlink } from "../util/fs.js";
import { OpenFile } from "./open-file.js";

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
export function keepDraft(path: string, text: string): void {
	const texts = [readDraft(path), text].filter((part) => part !== "");
	// Replaced as a whole: the disk may be full.
	OpenFile.create(path, [Buffer.from(texts.join("\n\n"))], { replaces: true }).close();
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

import { existsSync, lstatSync, rmSync, unlinkSync } from "node:fs";
import { PiError } from "../errors.js";
import { acquireLock } from "../util/file-lock.js";
import { isNotFound } from "../util/fs.js";
import { exec } from "../util/process.js";
import { dropBatchJournal } from "./batch-journal.js";
import { dropDraft } from "./drafts.js";
import { entryTimestamp } from "./entry.js";
import { removeFileContents } from "./file-contents.js";
import { dropSavedIndex } from "./saved-index.js";
import { SessionLog } from "./session-log.js";
import { subSessionsDir } from "./session-paths.js";

/**
 * Deletes a session file with its batch journal, its draft, its saved index, its kept contents of files and its sub-sessions for good.
 * Does nothing if the file does not exist.
 * @throws PiError `log_locked` if a pi has it open, including this one: the file is unchanged; `log_write_failed` if the file,
 * or after it one of the others, cannot be deleted; the system's error if the directory is not writable
 */
export function removeSession(path: string): void {
	const lock = acquireLock(path);
	try {
		unlinkSync(path);
		dropBatchJournal(path);
		dropDraft(path);
		dropSavedIndex(path);
		removeFileContents(path);
		rmSync(subSessionsDir(path), { recursive: true, force: true });
	} catch (cause) {
		if (!isNotFound(cause)) throw new PiError("log_write_failed", `Cannot delete ${path}`, { cause });
	} finally {
		lock.release();
	}
}

/**
 * Moves a session file and its sub-sessions to the trash of the system. Its draft, its saved index and its kept contents of files are deleted.
 * @returns null, or the reason why the trash does not accept it; the file is then unchanged
 * @throws PiError `log_locked` if a pi has it open, including this one
 */
export async function trashSession(path: string, trash = moveToTrash): Promise<string | null> {
	const lock = acquireLock(path);
	try {
		const refusal = await trash(path);
		if (refusal !== null) return refusal;
		dropBatchJournal(path);
		dropDraft(path);
		dropSavedIndex(path);
		removeFileContents(path);
		const children = subSessionsDir(path);
		if (existsSync(children)) await trash(children);
		return null;
	} finally {
		lock.release();
	}
}

/**
 * Names a session that no pi has open by appending an entry.
 * @throws PiError `log_locked`, `log_not_a_session`, `log_not_found`, `log_write_failed`
 */
export async function renameSession(path: string, name: string): Promise<void> {
	let failure: PiError | undefined;
	const log = SessionLog.open(path, {
		onWriteError: (error) => {
			failure = error;
		},
	});
	try {
		log.appendAll([{ type: "session_info", timestamp: entryTimestamp(), name }]);
		await log.flush();
	} finally {
		log.close();
	}
	if (failure) throw failure;
}

/**
 * Copies a session, even if another pi has it open.
 * @returns the copy; its header names the source
 * @throws PiError `log_not_a_session`, `log_not_found`, `log_write_failed`
 */
export function copySession(path: string, dir: string): SessionLog {
	const source = SessionLog.open(path, { readOnly: true });
	try {
		return source.branchTo("all", { dir });
	} finally {
		source.close();
	}
}

/** A program that moves files to the trash, and its arguments before the path. */
export type TrashCommand = readonly [program: string, ...args: string[]];

const FREEDESKTOP: readonly TrashCommand[] = [["gio", "trash"], ["trash-put"]];
const FINDER = 'on run argv\ntell application "Finder" to delete (POSIX file (item 1 of argv) as alias)\nend run';

const COMMANDS: Partial<Record<NodeJS.Platform, readonly TrashCommand[]>> = {
	linux: FREEDESKTOP,
	freebsd: FREEDESKTOP,
	openbsd: FREEDESKTOP,
	darwin: [["trash"], ["osascript", "-e", FINDER]],
};

/** A trash that does not answer, such as one on a network drive, must not block pi. */
const TIMEOUT_MS = 5000;
const NOT_FOUND = 127;

/**
 * Moves a file to the trash of the system, with the first of its programs that succeeds.
 * @param path absolute
 * @param commands default: those of this platform
 * @returns null if the file is in the trash, else the reason why it is unchanged
 */
export async function moveToTrash(
	path: string,
	commands: readonly TrashCommand[] = COMMANDS[process.platform] ?? [],
): Promise<string | null> {
	let reason = "this system has no trash that pi can use";
	for (const [program, ...args] of commands) {
		const { code, stderr } = await exec(program, [...args, path], { timeout: TIMEOUT_MS });
		if (lstatSync(path, { throwIfNoEntry: false }) === undefined) return null;
		if (code === NOT_FOUND) continue;
		reason = stderr.trim().split("\n")[0] || `${program} failed with exit code ${code}`;
	}
	return reason;
}

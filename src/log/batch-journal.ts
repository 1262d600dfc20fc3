import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { tryUnlink } from "../util/fs.js";
import { isRecord } from "../util/is-record.js";
import { parseLine } from "./line-patterns.js";
import { isForbidden } from "./open-error.js";
import type { OpenFile } from "./open-file.js";

/**
 * Makes the write of several lines atomic even if the process dies during it: pi writes them to `<file>.batch` first,
 * and the next pi that opens the session appends the missing bytes. Nothing is ever rolled back.
 */

/** Path of the journal of a session file. */
export function batchJournalPath(file: string): string {
	return `${file}.batch`;
}

/**
 * Records that `bytes` are about to be written at the end of the file, at byte `offset`. If a write that failed has left a part
 * of its batch there, `bytes` begin with the rest: the journal then keeps the complete batch. Writes none if the directory allows
 * no new files: a batch that a crash may interrupt is better than none.
 * @throws the system's error
 */
export function writeBatchJournal(file: string, offset: number, bytes: Buffer): void {
	const path = batchJournalPath(file);
	const failed = readJournal(file);
	const written = failed ? offset - failed.offset : 0;
	const rest = failed && written > 0 ? failed.bytes.subarray(written) : Buffer.alloc(0);
	const isRest = rest.length > 0 && bytes.subarray(0, rest.length).equals(rest);
	if (isRest && bytes.length === rest.length) return;
	const batch = failed && isRest ? Buffer.concat([failed.bytes.subarray(0, written), bytes]) : bytes;
	const head = Buffer.from(`${JSON.stringify({ offset: isRest ? offset - written : offset, bytes: batch.length })}\n`);
	// Replaced as a whole: the disk may still be full.
	const temporary = `${path}.tmp`;
	try {
		writeFileSync(temporary, Buffer.concat([head, batch]), { mode: 0o600 });
		renameSync(temporary, path);
	} catch (error) {
		if (!isForbidden(error)) throw error;
	}
}

/** Deletes the journal after its lines were written. If that fails, the next open finds the lines complete. */
export function dropBatchJournal(file: string): void {
	tryUnlink(batchJournalPath(file));
}

/**
 * Completes a write that was interrupted when the process died. A truncated journal means that the write had not
 * started, and one that does not match the file is obsolete: both are deleted.
 * @param file the session file at `path`
 * @throws the system's error if the write cannot be completed; the journal remains
 */
export function completeBatch(path: string, file: OpenFile): void {
	const journal = readJournal(path);
	if (journal === undefined) return;
	const written = file.stats().size - journal.offset;
	if (written > 0 && written < journal.bytes.length) {
		const there = Buffer.alloc(written);
		file.read(there, journal.offset);
		if (there.equals(journal.bytes.subarray(0, written))) file.append(journal.bytes.subarray(written), () => {});
	}
	dropBatchJournal(path);
}

function readJournal(file: string): { offset: number; bytes: Buffer } | undefined {
	let content: Buffer;
	try {
		content = readFileSync(batchJournalPath(file));
	} catch {
		return undefined;
	}
	const headEnd = content.indexOf(10);
	const bytes = content.subarray(headEnd + 1);
	const head = parseLine(content.toString("utf8", 0, Math.max(headEnd, 0)));
	const offset = isRecord(head) && head.bytes === bytes.length ? head.offset : undefined;
	return { offset: typeof offset === "number" ? offset : Number.POSITIVE_INFINITY, bytes };
}

import { readFileSync, unlinkSync, writeFileSync } from "node:fs";
import type { OpenFile } from "./open-file.js";
import { isRecord } from "./read-message.js";

/**
 * What makes several lines one write, also when the process dies in the middle of it: they are put into
 * `<file>.batch` first, and who opens the session next adds what is missing. Nothing is ever taken back.
 */

/** Path of the journal of a session file. */
export function batchJournalPath(file: string): string {
	return `${file}.batch`;
}

/** Notes that `bytes` are about to be written at the end of the file, which is at `offset`. */
export function writeBatchJournal(file: string, offset: number, bytes: Buffer): void {
	const head = Buffer.from(`${JSON.stringify({ offset, bytes: bytes.length })}\n`);
	writeFileSync(batchJournalPath(file), Buffer.concat([head, bytes]), { mode: 0o600 });
}

/** Removes the journal: its lines are in the file. */
export function dropBatchJournal(file: string): void {
	try {
		unlinkSync(batchJournalPath(file));
	} catch {
		// None there; or one that stays, and is found to be done when the session is opened next.
	}
}

/**
 * Completes a write that a dying process left half done. A journal that is cut short was never begun with, and one that
 * does not fit the file any more is done with: both are dropped.
 * @param file the session file at `path`
 * @throws the system's error when it cannot be completed; the journal stays
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
	const none = { offset: Number.POSITIVE_INFINITY, bytes };
	try {
		const head: unknown = JSON.parse(content.toString("utf8", 0, Math.max(headEnd, 0)));
		if (!isRecord(head) || typeof head.offset !== "number" || head.bytes !== bytes.length) return none;
		return { offset: head.offset, bytes };
	} catch {
		return none;
	}
}

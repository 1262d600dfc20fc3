import { createHash } from "node:crypto";
import { readFileSync, statSync } from "node:fs";
import { tryUnlink } from "../util/fs.js";
import { LineIndex } from "./line-index.js";
import { LF, ROLES } from "./line-patterns.js";
import { OpenFile } from "./open-file.js";
import type { CountedUsage } from "./usage-totals.js";

/**
 * The index of a large session file is kept next to it when the session ends, so that the next start does not read the
 * complete file. It says nothing that the file does not say, and holds only for this file as it was then.
 */

/** What is known about the lines of a session file. */
export interface KnownLines {
	index: LineIndex;
	/** False if the last line has no line end. */
	isEnded: boolean;
	/** What has been counted of the requests. */
	usage?: CountedUsage;
}

/** Smaller files are read in 3 ms. */
export const MIN_INDEXED_BYTES = 4_000_000;
/** Raised when the meaning of the columns or of the numbers changes. */
const VERSION = 1;
/** Length of a SHA-256 in hex. */
const DIGEST_LENGTH = 64;

/** What the second line of the file holds as JSON, between its digest and the columns of the index. */
interface Description {
	version: number;
	/** Of the session file. */
	fingerprint: string;
	roles: readonly string[];
	lines: number;
	types: readonly string[];
	isEnded: boolean;
	usage?: CountedUsage;
}

/** Path of the saved index of a session file. */
export function savedIndexPath(file: string): string {
	return `${file}.index`;
}

/** The index of an open session file of `size` bytes: the saved one, or from reading the file if it has changed since. */
export function openIndex(path: string, file: OpenFile, size: number): KnownLines {
	const saved = size < MIN_INDEXED_BYTES ? null : read(path, file);
	if (saved) return saved;
	const index = new LineIndex();
	return { index, isEnded: index.scan(file, 0, size) };
}

/** Keeps what is known about the first `size` bytes of a large session file, if that is all of it and it can be written. */
export function saveIndex(path: string, file: OpenFile, size: number, { index, isEnded, usage }: KnownLines): void {
	if (size < MIN_INDEXED_BYTES) return;
	const target = savedIndexPath(path);
	try {
		const fingerprint = file.fingerprint();
		const there = statSync(path);
		// Another program wrote to the file, or replaced it.
		if (there.size !== size || there.ino !== file.stats().ino) return;
		const { lines, types, bytes } = index.toColumns();
		const description: Description = { version: VERSION, fingerprint, roles: ROLES, lines, types, isEnded, usage };
		const body = Buffer.concat([Buffer.from(`${JSON.stringify(description)}\n`), ...bytes]);
		const contents = Buffer.concat([Buffer.from(`${digestOf(body)}\n`), body]);
		if (tryRead(target)?.equals(contents)) return;
		tryUnlink(target);
		OpenFile.create(target, [contents]).close();
	} catch {
		// The next start reads the session file.
	}
}

/** Deletes the saved index of a session file. */
export function dropSavedIndex(file: string): void {
	tryUnlink(savedIndexPath(file));
}

/** The saved index; null without one, or if the session file has changed since. */
function read(path: string, file: OpenFile): KnownLines | null {
	const saved = tryRead(savedIndexPath(path));
	const body = saved?.subarray(DIGEST_LENGTH + 1);
	// A crash of the machine may leave a part of what was written.
	if (!saved || !body || saved.toString("latin1", 0, DIGEST_LENGTH) !== digestOf(body)) return null;
	const end = body.indexOf(LF);
	const description: Description = JSON.parse(body.toString("utf8", 0, end));
	const { version, fingerprint, roles, lines, types, isEnded, usage } = description;
	if (version !== VERSION || fingerprint !== file.fingerprint() || roles.join() !== ROLES.join()) return null;
	return { index: LineIndex.fromColumns(lines, types, body.subarray(end + 1)), isEnded, usage };
}

function tryRead(path: string): Buffer | undefined {
	try {
		return readFileSync(path);
	} catch {
		return undefined;
	}
}

function digestOf(bytes: Uint8Array): string {
	return createHash("sha256").update(bytes).digest("hex");
}

import { chmodSync, constants, copyFileSync } from "node:fs";
import { basename } from "node:path";
import { PiError } from "../errors.js";
import { acquireLock, type Lock } from "../util/file-lock.js";
import { errnoCode, syncFileSync, tryUnlink } from "../util/fs.js";
import { completeBatch } from "./batch-journal.js";
import { checkSession, MAX_LINE_BYTES, type SessionCheck } from "./check-session.js";
import { decodeLine, encodeEntry } from "./codec.js";
import { entryTimestamp, isOpaqueEntry, isSessionHeader, type MessageEntry, type SessionHeader } from "./entry.js";
import { parseLine } from "./line-patterns.js";
import { newHeader } from "./new-header.js";
import { realPath } from "./open-error.js";
import { OpenFile } from "./open-file.js";
import { type RawLine, rawLines } from "./raw-lines.js";
import type { IssueKind, SessionIssue } from "./session-checker.js";
import { sessionIdOfName, sessionTimeOfName } from "./session-paths.js";

/** The result of a repair. */
export interface Repair {
	path: string;
	/** Copy of the file before the repair; null if nothing was changed. */
	backup: string | null;
	fixed: readonly SessionIssue[];
	/** Problems that remain, because a repair would change or drop entries. */
	kept: readonly SessionIssue[];
}

const FIXABLE: ReadonlySet<IssueKind> = new Set(["no_header", "unanswered_call", "unfinished_write"]);
const CHUNK_BYTES = 1024 * 1024;
const BOM = "\ufeff";

/**
 * Makes a session usable again: restores its header, completes an interrupted write and answers tool calls without a
 * result. The results are appended, so that every entry keeps its index. Keeps a copy of the old file, and replaces the
 * file at once.
 * @param cwd working directory for a new header, if the old one cannot be read
 * @throws PiError `log_locked` if a pi has the session open; `log_not_a_session`, `log_not_found`, `file_unreadable`,
 * `log_write_failed`. The file is then unchanged
 */
export function repairSession(path: string, cwd: string): Repair {
	const target = realPath(path);
	let lock: Lock | undefined;
	try {
		lock = acquireLock(target);
		return repair(path, target, cwd);
	} catch (cause) {
		if (cause instanceof PiError) throw cause;
		throw new PiError("log_write_failed", `Cannot repair ${path}`, { cause });
	} finally {
		lock?.release();
	}
}

function repair(path: string, target: string, cwd: string): Repair {
	const before = examine(target);
	const fixed = before.issues.filter(({ kind }) => FIXABLE.has(kind));
	if (fixed.length === 0) return { path, backup: null, fixed, kept: before.issues };
	const backup = copyAside(target);
	const file = OpenFile.open(target, true);
	try {
		completeBatch(target, file);
		const { issues, isEnded } = checkSession(target, { isLockedHere: true }); // the completed write may have answered calls
		const hasHeader = !issues.some(({ kind }) => kind === "no_header");
		const results = issues.filter(({ kind }) => kind === "unanswered_call").map(resultFor);
		if (!hasHeader || results.length > 0) {
			const start = hasHeader ? { header: null, from: 0 } : restoreHeader(target, file, cwd);
			const contents = repairedBytes(file, start, isEnded, results);
			OpenFile.create(target, contents, { replaces: true }).close();
		}
	} finally {
		file.close();
	}
	// Checked again, because a restored header changes the indices of the entries.
	return { path, backup, fixed, kept: checkSession(target, { isLockedHere: true }).issues };
}

/** Checks a file that is locked here. @throws PiError if it cannot be repaired */
function examine(path: string): SessionCheck {
	const check = checkSession(path, { isLockedHere: true });
	const [first] = check.issues;
	if (first?.kind === "unreadable")
		throw new PiError("file_unreadable", `Cannot read the session ${path}: ${first.text}`);
	if (first?.kind === "other_format") {
		throw new PiError("log_not_a_session", `${path} is not a session of this pi: ${first.text}`, {
			hint: "`pi sessions import <file>` makes a session of it",
		});
	}
	if (first?.kind === "no_header" && !check.hasMessages) {
		throw new PiError("log_not_a_session", `${path} contains no message that can be read`, {
			hint: "there is nothing to repair",
		});
	}
	return check;
}

/** @returns the path of the copy, which replaces no other file */
function copyAside(path: string): string {
	for (let number = 1; ; number++) {
		const backup = `${path}.bak${number === 1 ? "" : `-${number}`}`;
		try {
			copyFileSync(path, backup, constants.COPYFILE_EXCL);
			chmodSync(backup, 0o600);
			syncFileSync(backup);
			return backup;
		} catch (error) {
			if (errnoCode(error) === "EEXIST") continue;
			tryUnlink(backup); // a part of a copy is of no use
			throw error;
		}
	}
}

/** Where the repaired file begins: with a new header, if any, and then with the byte `from` of the old one. */
interface Start {
	header: SessionHeader | null;
	from: number;
}

/**
 * A first line that cannot be read, or is a header without its fields, is replaced: entries keep their indices. A line
 * with another entry shows that the header line is missing, so it is inserted.
 */
function restoreHeader(path: string, file: OpenFile, cwd: string): Start {
	const first = firstLine(file);
	const text = first?.bytes?.toString() ?? "";
	if (first && text.startsWith(BOM) && isSessionHeader(decodeLine(text.slice(1))))
		return { header: null, from: first.offset + Buffer.byteLength(BOM) };
	const entry = decodeLine(text);
	if (first && isSessionHeader(entry)) return { header: null, from: first.offset }; // after blank lines
	const id = fieldOf(text, "id") || sessionIdOfName(basename(path));
	const timestamp = fieldOf(text, "timestamp") ?? sessionTimeOfName(basename(path));
	const header = newHeader(fieldOf(text, "cwd") ?? cwd, { ...(id && { id }), ...(timestamp && { timestamp }) });
	const isReplaced = first !== undefined && isOpaqueEntry(entry);
	return { header, from: isReplaced ? first.offset + first.length + 1 : (first?.offset ?? 0) };
}

function firstLine(file: OpenFile): RawLine | undefined {
	for (const line of rawLines(file, MAX_LINE_BYTES)) if (!line.isBlank) return line;
	return undefined;
}

/** A text field of a damaged header, if the part of the line with it is complete. */
function fieldOf(line: string, name: string): string | undefined {
	if (!/^\W*\{[^{]*"type"\s*:\s*"session"/.test(line)) return undefined;
	const value = parseLine(new RegExp(`"${name}"\\s*:\\s*("(?:[^"\\\\]|\\\\.)*")`).exec(line)?.[1] ?? "");
	return typeof value === "string" ? value : undefined;
}

function* repairedBytes(
	file: OpenFile,
	{ header, from }: Start,
	isEnded: boolean,
	results: readonly MessageEntry[],
): Generator<Uint8Array> {
	if (header) yield Buffer.from(encodeEntry(header));
	const { size } = file.stats();
	for (let at = from; at < size; at += CHUNK_BYTES) {
		const bytes = Buffer.allocUnsafe(Math.min(CHUNK_BYTES, size - at));
		file.read(bytes, at);
		yield bytes;
	}
	if (!isEnded && from < size) yield Buffer.from("\n");
	for (const result of results) yield Buffer.from(encodeEntry(result));
}

function resultFor({ callId = "", toolName = "" }: SessionIssue): MessageEntry {
	const text = "pi stopped before this call ended, so its result is unknown.";
	return {
		type: "message",
		timestamp: entryTimestamp(),
		message: {
			role: "toolResult",
			toolCallId: callId,
			toolName,
			content: [{ type: "text", text }],
			isError: true,
			timestamp: Date.now(),
		},
	};
}

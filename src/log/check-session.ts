import { constants } from "node:buffer";
import { existsSync } from "node:fs";
import { describeError } from "../errors.js";
import { lockOwner } from "../util/file-lock.js";
import { fileKind } from "../util/fs.js";
import { batchJournalPath } from "./batch-journal.js";
import { decodeLine } from "./codec.js";
import { realPath } from "./open-error.js";
import { OpenFile } from "./open-file.js";
import { rawLines } from "./raw-lines.js";
import { holdsTornHeader, isOtherVersion, readSessionHeader } from "./read-entry.js";
import { SessionChecker, type SessionIssue } from "./session-checker.js";

/** The longest line that pi can read, in bytes: the longest text of the JavaScript engine. */
export const MAX_LINE_BYTES = constants.MAX_STRING_LENGTH;

/** The state of a session file. */
export interface SessionCheck {
	path: string;
	/** Number of entries, damaged ones included. */
	entries: number;
	/** In the order of the lines. */
	issues: SessionIssue[];
	/** Process that has the session open; null for none. */
	openIn: number | null;
	/** True if a message of the session can be read. */
	hasMessages: boolean;
	/** False if the last line has no line end. */
	isEnded: boolean;
}

export interface CheckOptions {
	/** True if the caller has locked the session, so that nobody writes it. */
	isLockedHere?: boolean;
	/** Longer lines are a problem. Default: `MAX_LINE_BYTES`. */
	maxLineBytes?: number;
}

/**
 * Checks every line of a session file. Changes nothing. While a pi has the session open, calls that may still run and a
 * line that may still be written are not problems. An empty file is a session without entries.
 */
export function checkSession(path: string, options: CheckOptions = {}): SessionCheck {
	let file: OpenFile | undefined;
	try {
		const target = realPath(path);
		file = OpenFile.open(target, false);
		const stats = file.stats();
		if (!stats.isFile()) return unreadable(path, `it is ${fileKind(stats)}`);
		return check(path, target, file, options);
	} catch (error) {
		return unreadable(path, describeError(error));
	} finally {
		file?.close();
	}
}

function check(path: string, target: string, file: OpenFile, options: CheckOptions): SessionCheck {
	const { isLockedHere = false, maxLineBytes = MAX_LINE_BYTES } = options;
	const openIn = isLockedHere ? null : (lockOwner(target)?.pid ?? null);
	const checker = new SessionChecker();
	let isEnded = true;
	let lastLine = 0;
	for (const line of rawLines(file, maxLineBytes)) {
		isEnded = line.isEnded;
		if (line.isBlank) continue;
		lastLine = line.number;
		if (line.bytes) checker.visit(decodeLine(line.bytes), line.number);
		else checker.visitLong(line.length, line.number);
	}
	const isPending = (issue: SessionIssue) =>
		issue.kind === "unanswered_call"
			? issue.entryIndex === checker.lastReply
			: issue.kind === "damaged_line" && !isEnded && issue.line === lastLine;
	const found = openIn === null ? checker.issues : checker.issues.filter((issue) => !isPending(issue));
	const header = file.stats().size === 0 ? undefined : headerIssue(file);
	const hasJournal = openIn === null && existsSync(batchJournalPath(target));
	const issues = [...(header ? [header] : []), ...found, ...(hasJournal ? [unfinishedWrite()] : [])];
	return { path, entries: checker.length, issues, openIn, hasMessages: checker.hasMessages, isEnded };
}

function headerIssue(file: OpenFile): SessionIssue | undefined {
	const header = readSessionHeader(file);
	if (typeof header !== "string") return undefined;
	const at = { line: 1, entryIndex: 0 };
	if (holdsTornHeader(file)) return { kind: "no_header", ...at, text: "the file holds only a part of a header" };
	return { kind: isOtherVersion(header) ? "other_format" : "no_header", ...at, text: `no header: ${header}` };
}

function unfinishedWrite(): SessionIssue {
	return { kind: "unfinished_write", line: null, entryIndex: null, text: "pi stopped while it wrote entries" };
}

function unreadable(path: string, text: string): SessionCheck {
	const issue: SessionIssue = { kind: "unreadable", line: null, entryIndex: null, text };
	return { path, entries: 0, issues: [issue], openIn: null, hasMessages: false, isEnded: true };
}

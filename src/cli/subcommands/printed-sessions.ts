import { basename } from "node:path";
import { type SessionSummary, sessionDirs, sessionFiles, summarizeSession } from "../../log/catalog.js";
import { sessionIdOfName } from "../../log/session-paths.js";
import { onOneLine } from "../../log/session-summary.js";
import type { Location } from "./location.js";

/** Maximum length of a name or text in a row. */
export const PREVIEW = 80;
/** Minimum length of a printed id; longer where needed to be unique. */
const ID_LENGTH = 8;

/** The directories that a command reads: that of this working directory, or all. */
export function dirsOf({ paths, sessionDir }: Location, all: boolean | undefined): string | string[] {
	return all ? sessionDirs(paths.sessions) : sessionDir;
}

/** Paths of the session files of some directories. */
export function filesOf(dirs: string | readonly string[]): string[] {
	return [dirs].flat().flatMap(sessionFiles);
}

/** The start of an id that no other id has. */
export function shortId(id: string, all: readonly string[]): string {
	const isShared = (length: number) => all.some((other) => other !== id && other.startsWith(id.slice(0, length)));
	let length = Math.min(ID_LENGTH, id.length);
	while (length < id.length && isShared(length)) length++;
	return id.slice(0, length);
}

/** The id in the name of a session file; the name of another file. */
export function idOfFile(path: string): string {
	return sessionIdOfName(path) ?? basename(path);
}

/** Time in UTC, to the minute. */
export function formatTime(ms: number): string {
	return new Date(ms).toISOString().slice(0, 16).replace("T", " ");
}

/** Name and first message, or another text that describes the session, on one line. */
export function printedTitle({ name, firstMessage }: SessionSummary, text = firstMessage): string {
	return onOneLine([name, text].filter(Boolean).join(" · "), PREVIEW);
}

/** One line that identifies the session of a file, also a damaged one. */
export function headOf(path: string, ids: readonly string[]): string {
	const summary = summarizeSession(path);
	if (!summary) return idOfFile(path);
	return [shortId(summary.id, ids), formatTime(summary.modifiedAt), printedTitle(summary)].join("  ").trimEnd();
}

import type { BuiltContext } from "../../context/context-message.js";
import type { EntrySource } from "../../context/entry-message.js";
import {
	isApprovalEntry,
	isCompactionEntry,
	isHookToolCallEntry,
	isMessageEntry,
	messageText,
	type SessionEntry,
} from "../../log/entry.js";

/** Maximum number of entries drawn when a session is opened; nobody scrolls further back. */
const MAX_ENTRIES = 200;
/** Approximate maximum number of their rows: opening a session must be as fast as starting a new one. */
const MAX_ROWS = 500;
/** Rows of a collapsed tool call or result. */
const TOOL_ROWS = 4;

/**
 * The first entry to draw when a session is opened: one of the last entries, not before the first one that the latest
 * compaction kept, and never between a tool call and its result.
 * @returns an entry index, at least 1
 */
export function firstDrawnEntry(entries: EntrySource, context: BuiltContext): number {
	const kept = firstKeptEntry(entries, context);
	const earliest = Math.min(entries.length, Math.max(1, kept, entries.length - MAX_ENTRIES));
	let first = entries.length;
	let rows = 0;
	while (first > earliest && rows < MAX_ROWS) {
		first -= 1;
		rows += rowsOf(entries.at(first));
	}
	while (first > Math.max(1, kept) && isToolResult(entries.at(first))) first -= 1;
	return first;
}

function firstKeptEntry(entries: EntrySource, context: BuiltContext): number {
	const origin = context.messages[0]?.origin;
	const entry = origin?.kind === "compaction" ? entries.at(origin.entryIndex) : undefined;
	return isCompactionEntry(entry) ? Math.min(entry.firstKeptEntryIndex, entries.length) : 0;
}

function isToolResult(entry: SessionEntry | undefined): boolean {
	// The answer to the question about a call stands between the call and its result.
	return (
		isHookToolCallEntry(entry) ||
		isApprovalEntry(entry) ||
		(isMessageEntry(entry) && entry.message.role === "toolResult")
	);
}

function rowsOf(entry: SessionEntry | undefined): number {
	if (!isMessageEntry(entry)) return 1;
	if (entry.message.role !== "user" && entry.message.role !== "assistant") return TOOL_ROWS;
	const text = messageText(entry.message);
	let rows = 2 + text.length / 80;
	for (let at = text.indexOf("\n"); at !== -1 && rows < MAX_ROWS; at = text.indexOf("\n", at + 1)) rows += 1;
	return rows;
}

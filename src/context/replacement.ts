import {
	type CompactionEntry,
	type ContextFreezeEntry,
	isCompactionEntry,
	isContextFreezeEntry,
	isContextUndoEntry,
	isImageOmissionEntry,
	isUserMessageEntry,
	type SessionEntry,
} from "../log/entry.js";
import type { TracedMessage } from "./context-message.js";
import type { EntrySource } from "./entry-message.js";
import { readRecordedRequest } from "./recorded-request.js";

/** The active compaction and the first entry that it keeps. */
export interface ActiveCompaction {
	kind: "compaction";
	entry: CompactionEntry;
	entryIndex: number;
	/** Clamped to the entries before the compaction; equal to `entryIndex` when nothing is kept. */
	firstKeptEntryIndex: number;
	/** Earlier prompts that it keeps, by entry index, ascending. */
	keptPrompts: readonly number[];
}

/** The active freeze. */
export interface ActiveFreeze {
	kind: "freeze";
	entry: ContextFreezeEntry;
	entryIndex: number;
	/** The reply to the frozen request: the first entry that the freeze does not replace. */
	firstKeptEntryIndex: number;
	/** The messages of that request. */
	messages: TracedMessage[];
}

const TYPES = ["compaction", "context_freeze", "context_undo"];

/** True for an entry that may change how earlier entries appear in the context. */
export function changesReplacement(entry: SessionEntry | undefined): boolean {
	return (
		isCompactionEntry(entry) || isContextFreezeEntry(entry) || isContextUndoEntry(entry) || isImageOmissionEntry(entry)
	);
}

/**
 * Finds the latest compaction or freeze that was not undone; null for none. Ignores a freeze of a request that the log does
 * not describe. Reads only compactions, freezes and undos, from the end to the one it finds.
 */
export function activeReplacement(entries: EntrySource): ActiveCompaction | ActiveFreeze | null {
	const undone = new Set<number>();
	for (let index = lastOf(entries, entries.length); index >= 0; index = lastOf(entries, index)) {
		const entry = entries.at(index);
		if (isContextUndoEntry(entry)) undone.add(entry.entryIndex);
		if (undone.has(index)) continue;
		if (isCompactionEntry(entry)) {
			const firstKeptEntryIndex = clampCut(entry.firstKeptEntryIndex, index);
			const keptPrompts = readKeptPrompts(entries, entry, firstKeptEntryIndex);
			return { kind: "compaction", entry, entryIndex: index, firstKeptEntryIndex, keptPrompts };
		}
		if (isContextFreezeEntry(entry) && entry.entryIndex < index) {
			const messages = readRecordedRequest(entries, entry.entryIndex);
			if (messages)
				return { kind: "freeze", entry, entryIndex: index, firstKeptEntryIndex: entry.entryIndex, messages };
		}
	}
	return null;
}

/** The active compaction; null when none exists, or when a freeze replaced it. */
export function activeCompaction(entries: EntrySource): ActiveCompaction | null {
	const active = activeReplacement(entries);
	return active?.kind === "compaction" ? active : null;
}

/**
 * Index of the first entry that the active compaction or freeze does not replace; 0 when none exists. Hooks should leave
 * earlier entries alone.
 */
export function firstKeptEntry(entries: EntrySource): number {
	return activeReplacement(entries)?.firstKeptEntryIndex ?? 0;
}

function lastOf(entries: EntrySource, before: number): number {
	if (entries.lastOfTypes) return entries.lastOfTypes(TYPES, before);
	for (let index = before - 1; index >= 0; index--) if (changesReplacement(entries.at(index))) return index;
	return -1;
}

function readKeptPrompts(
	entries: EntrySource,
	{ keptEntries = [] }: CompactionEntry,
	firstKeptEntryIndex: number,
): number[] {
	const isKept = (index: number) => index < firstKeptEntryIndex && isUserMessageEntry(entries.at(index));
	return [...new Set(keptEntries)].filter(isKept).sort((a, b) => a - b);
}

function clampCut(firstKept: unknown, compactionIndex: number): number {
	if (typeof firstKept !== "number" || !Number.isFinite(firstKept)) return compactionIndex;
	return Math.min(Math.max(Math.trunc(firstKept), 0), compactionIndex);
}

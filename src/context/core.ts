import { type CompactionEntry, isCompactionEntry, isMessageEntry } from "../log/entry.js";
import type { ContextProblem, TracedMessage } from "./context-message.js";
import { compactionMessage, type EntrySource, entryMessage } from "./entry-message.js";

/** The compaction in force and the first entry that it keeps. */
export interface ActiveCompaction {
	entry: CompactionEntry;
	entryIndex: number;
	/** Clamped to the entries before the compaction; equal to `entryIndex` when nothing is kept. */
	firstKeptEntryIndex: number;
}

/** What the core makes of the entries, before any hook. */
export interface CoreContext {
	messages: TracedMessage[];
	compaction: ActiveCompaction | null;
	problems: ContextProblem[];
}

/**
 * The context before hooks: the latest compaction's summary, then every message entry from the first one it keeps.
 * Reads no entry before the latest compaction's cut.
 */
export function coreContext(entries: EntrySource): CoreContext {
	const compaction = activeCompaction(entries);
	const messages: TracedMessage[] = [];
	const problems: ContextProblem[] = [];
	if (compaction) {
		const { entry, entryIndex, firstKeptEntryIndex } = compaction;
		if (entry.firstKeptEntryIndex !== firstKeptEntryIndex) {
			problems.push({ hook: null, rule: "compaction_index_clamped", position: entryIndex });
		}
		const origin = Object.freeze({ kind: "compaction" as const, entryIndex });
		messages.push(Object.freeze({ message: compactionMessage(entry), entryIndex: null, origin }));
	}
	for (let index = compaction?.firstKeptEntryIndex ?? 0; index < entries.length; index++) {
		const entry = entries.at(index);
		const message = entryMessage(entry);
		if (message) {
			const origin = isMessageEntry(entry) ? ENTRY_ORIGIN : SYSTEM_ITEM_ORIGIN;
			messages.push(Object.freeze({ message, entryIndex: index, origin }));
		}
	}
	return { messages, compaction, problems };
}

const ENTRY_ORIGIN = Object.freeze({ kind: "entry" as const });
const SYSTEM_ITEM_ORIGIN = Object.freeze({ kind: "system_item" as const });

/** The latest compaction with its cut clamped to `[0, its own index]`; null when there is none. */
export function activeCompaction(entries: EntrySource): ActiveCompaction | null {
	const entryIndex = entries.lastOfType?.("compaction") ?? lastCompaction(entries);
	const entry = entries.at(entryIndex);
	if (entryIndex < 0 || !isCompactionEntry(entry)) return null;
	return { entry, entryIndex, firstKeptEntryIndex: clampCut(entry.firstKeptEntryIndex, entryIndex) };
}

function lastCompaction(entries: EntrySource): number {
	for (let index = entries.length - 1; index >= 0; index--) if (isCompactionEntry(entries.at(index))) return index;
	return -1;
}

function clampCut(firstKept: unknown, compactionIndex: number): number {
	if (typeof firstKept !== "number" || !Number.isFinite(firstKept)) return compactionIndex;
	return Math.min(Math.max(Math.trunc(firstKept), 0), compactionIndex);
}

import { type CompactionEntry, isMessageEntry } from "../log/entry.js";
import { plural } from "../util/format-amounts.js";
import type { EntrySource } from "./entry-message.js";

/**
 * What a compaction does beyond replacing early messages with a summary, as short phrases: what it keeps of them, splits
 * and shortens, and how its summary was made when not by one request to a model.
 */
export function describeCompaction(
	{ firstKeptEntryIndex, keptEntries = [], shortened = [], details = {} }: Partial<CompactionEntry>,
	entries: EntrySource,
): string[] {
	const first = firstKeptEntryIndex === undefined ? undefined : entries.at(firstKeptEntryIndex);
	const isSplit = isMessageEntry(first) && first.message.role === "assistant" && keptEntries.length > 0;
	const { parts = 0, model } = details;
	return [
		...(isSplit ? ["splits the last turn"] : []),
		...(keptEntries.length > 0 ? [`keeps ${plural(keptEntries.length, "prompt")} of it verbatim`] : []),
		...(shortened.length > 0 ? [`shortens ${plural(shortened.length, "output")}`] : []),
		...(parts > 1 ? [`summarized in ${parts} parts`] : []),
		...(model === null ? ["summarized without a model"] : []),
	];
}

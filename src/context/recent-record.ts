import type { SessionEntry } from "../log/entry.js";
import type { EntrySource } from "./entry-message.js";

/** Number of entries at the end of a log that are searched. */
const SEARCHED_ENTRIES = 500;

/**
 * Index of the last entry with a record, for a recorder that continues a log; null if none is near the end. Only sessions
 * that another program or an older pi wrote have none there, and reading all of a long one would take a second.
 */
export function findRecentRecord(
	entries: EntrySource,
	hasRecord: (entry: SessionEntry | undefined) => boolean,
): number | null {
	const start = Math.max(1, entries.length - SEARCHED_ENTRIES);
	for (let index = entries.length - 1; index >= start; index--) if (hasRecord(entries.at(index))) return index;
	return null;
}

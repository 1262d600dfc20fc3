import { isMessageEntry, type SessionEntry } from "../log/entry.js";
import type { ContextMessage } from "./context-message.js";
import { type ApplyRangesOptions, applyRanges, type SummaryRange } from "./ranges.js";

/** What a `context` handler receives, as far as ranges are concerned. */
export interface RangedRequest {
	readonly entries: readonly SessionEntry[];
	/** The messages after the hooks before this one. */
	readonly messages: readonly ContextMessage[];
}

/**
 * Replaces ranges of entries in the messages that previous hooks returned. `applyRanges` takes entries as they are in the
 * log; this keeps what other hooks changed, hid or added, unless a range covers it. A range that a previous hook has replaced
 * together with other entries, such as those of a larger fold, has nothing left to replace: it is ignored.
 */
export function keepChanges(
	{ entries, messages }: RangedRequest,
	ranges: readonly SummaryRange[],
	options: ApplyRangesOptions = {},
): ContextMessage[] {
	const remaining = remainingRanges(ranges, messages, entries);
	if (remaining.length === 0) return [...messages];
	const ranged = applyRanges(entries, remaining, options);
	const uncovered = new Set(ranged.map(({ entryIndex }) => entryIndex));
	const merged: ContextMessage[] = [];
	let next = 0;
	/** Adds the summaries that belong before entry `index`. */
	const addSummariesBefore = (index: number) => {
		for (let item = ranged[next]; item && (item.entryIndex ?? -1) < index; item = ranged[++next]) {
			if (item.entryIndex === null) merged.push(item);
		}
	};
	for (const [position, item] of messages.entries()) {
		if (item.entryIndex !== null) {
			if (!uncovered.has(item.entryIndex)) continue;
			addSummariesBefore(item.entryIndex);
			merged.push(item);
			continue;
		}
		// Omit what replaces only entries that a range covers.
		const { from, to, replaced } = gapAt(messages, position, entries);
		const isWanted =
			replaced.length === 0
				? uncovered.has(to) || to === entries.length
				: replaced.some((index) => uncovered.has(index));
		if (!isWanted) continue;
		addSummariesBefore(from);
		merged.push(item);
	}
	addSummariesBefore(Number.POSITIVE_INFINITY);
	return merged;
}

/** Without the ranges that a previous hook has replaced together with other entries. */
function remainingRanges(
	ranges: readonly SummaryRange[],
	given: readonly ContextMessage[],
	entries: readonly SessionEntry[],
): readonly SummaryRange[] {
	const isCovered = (index: number) => ranges.some((range) => covers(range, index));
	const gaps = given
		.flatMap(({ entryIndex }, position) => (entryIndex === null ? [gapAt(given, position, entries)] : []))
		.filter((gap) => gap.replaced.some((index) => !isCovered(index)));
	return ranges.filter(({ from, to }) => !gaps.some((gap) => gap.from <= from && to <= gap.to));
}

function covers({ from, to, except }: SummaryRange, index: number): boolean {
	return from <= index && index < to && !except?.includes(index);
}

/** The entries `[from, to)` that are missing around a message without an entry, and those of them with a message, which it replaces. */
function gapAt(given: readonly ContextMessage[], position: number, entries: readonly SessionEntry[]) {
	const from = (given.slice(0, position).findLast(({ entryIndex }) => entryIndex !== null)?.entryIndex ?? 0) + 1;
	const to = given.slice(position).find(({ entryIndex }) => entryIndex !== null)?.entryIndex ?? entries.length;
	const replaced = entries.slice(from, to).flatMap((entry, i) => (isMessageEntry(entry) ? [from + i] : []));
	return { from, to, replaced };
}

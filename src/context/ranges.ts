import type { UserMessage } from "@mariozechner/pi-ai";
import type { SessionEntry } from "../log/entry.js";
import type { ContextMessage } from "./context-message.js";
import { EntryItems, entryTime } from "./entry-message.js";

/** Entries `[from, to)` that a summary replaces. */
export interface SummaryRange {
	/** First entry index covered. */
	from: number;
	/** First entry index no longer covered. */
	to: number;
	/** null: the entries are hidden, and nothing stands for them. */
	summary: string | null;
	/** Indices of entries in the range that it does not cover, such as a decision that stays. A call stays with its results. */
	except?: readonly number[];
	/** On overlap the highest id wins; with equal ids, the later one in the list. */
	id: number;
}

/** Options of `applyRanges`. */
export interface ApplyRangesOptions {
	/** Returns the text of the user message for a summary. Default: `[Summary]`, a blank line, the summary. */
	render?(range: SummaryRange & { summary: string }): string;
}

/** Consecutive entries and the range that wins them. */
interface Segment {
	from: number;
	to: number;
	winner: SummaryRange | null;
}

/**
 * Replaces ranges of entries with their summaries, or hides them; the later range wins. Uncovered entries pass through with their index.
 * A winning summary is emitted once, at the first index where it wins: a partly overlapped range is never lost, and a fully
 * overlapped one disappears. Equal input gives equal output. Items are frozen, and those that pass through are the objects
 * that `context` handlers receive.
 *
 * @throws TypeError for a range without a summary
 *
 * Costs O(r log r + messages passed through) for r ranges with their exceptions, independent of their length.
 */
export function applyRanges(
	entries: readonly SessionEntry[],
	ranges: readonly SummaryRange[],
	options: ApplyRangesOptions = {},
): ContextMessage[] {
	const render = options.render ?? (({ summary }) => `[Summary]\n\n${summary}`);
	const items = EntryItems.of(entries[0]);
	const emitted = new Set<SummaryRange>();
	const allSegments = splitAtBorders(ranges, entries.length);
	// Preallocated: growing the array would cost more than filling it.
	const messages = new Array<ContextMessage>(
		allSegments.reduce((sum, segment) => sum + (segment.winner ? 1 : segment.to - segment.from), 0),
	);
	let count = 0;
	for (const { from, to, winner } of allSegments) {
		if (!winner) {
			for (let index = from; index < to; index++) {
				const item = items.item(entries[index], index);
				if (item) messages[count++] = item;
			}
		} else if (!emitted.has(winner)) {
			emitted.add(winner);
			if (!hasSummary(winner)) continue;
			const last = entries[Math.min(Math.trunc(winner.to), entries.length) - 1];
			messages[count++] = Object.freeze({
				message: summaryMessage(render(winner), from, last),
				entryIndex: null,
			});
		}
	}
	messages.length = count;
	return messages;
}

/** @throws TypeError for a summary that a hook, which is not checked by a compiler, forgot */
function hasSummary(range: SummaryRange): range is SummaryRange & { summary: string } {
	const { summary, from, to } = range;
	if (typeof summary === "string" || summary === null) return summary !== null;
	throw new TypeError(
		`applyRanges: the range from ${from} to ${to} needs a summary: a text, or null to hide its entries`,
	);
}

// By the range's last entry, then by its text and the index where it first wins: an unchanged context is recognized by
// identity, and no two ranges that win have the same message, since only one wins an index.
const summaries = new WeakMap<SessionEntry, Map<string, UserMessage>>();

const all = new WeakSet<object>();

/** True for the message of a range: certainly not that of an entry. */
export function isSummary(message: object): boolean {
	return all.has(message);
}

/** Returns the same message object for the same text, last entry and index `from` where the range first wins. */
function summaryMessage(content: string, from: number, last: SessionEntry | undefined): UserMessage {
	const create = (): UserMessage => {
		const message: UserMessage = Object.freeze({ role: "user", content, timestamp: entryTime(last) });
		all.add(message);
		return message;
	};
	if (!last) return create();
	let known = summaries.get(last);
	if (!known) {
		known = new Map();
		summaries.set(last, known);
	}
	const key = `${from} ${content}`;
	const message = known.get(key) ?? create();
	known.set(key, message);
	return message;
}

/** Splits `[0, length)` at every range border and finds the winner of each segment. */
function splitAtBorders(ranges: readonly SummaryRange[], length: number): Segment[] {
	const valid = ranges
		.flatMap((range, order) => splitAtHoles(range, length).map(([from, to]) => ({ range, order, from, to })))
		.filter(({ from, to }) => from < to);
	if (valid.length === 0) return [{ from: 0, to: length, winner: null }];
	type Valid = (typeof valid)[number];
	const beats = (a: Valid, b: Valid) => a.range.id > b.range.id || (a.range.id === b.range.id && a.order > b.order);

	const starts = [...valid].sort((a, b) => a.from - b.from);
	const borders = [...new Set([0, length, ...valid.flatMap(({ from, to }) => [from, to])])].sort((a, b) => a - b);
	const open = new WinnerHeap(beats);
	const result: Segment[] = [];
	let next = 0;
	for (let i = 0; i + 1 < borders.length; i++) {
		const from = borders[i] ?? 0;
		const to = borders[i + 1] ?? length;
		for (let start = starts[next]; start && start.from <= from; start = starts[++next]) open.push(start);
		let top = open.peek();
		while (top && top.to <= from) {
			open.pop();
			top = open.peek();
		}
		const winner = top?.range ?? null;
		const previous = result.at(-1);
		if (previous && previous.winner === winner) previous.to = to;
		else result.push({ from, to, winner });
	}
	return result;
}

/** The parts `[from, to)` of a range between the entries that it does not cover. */
function splitAtHoles({ from, to, except = [] }: SummaryRange, length: number): [from: number, to: number][] {
	const end = clamp(to, length);
	const parts: [number, number][] = [];
	let start = clamp(from, length);
	for (const hole of [...except].sort((a, b) => a - b)) {
		if (!(hole >= start && hole < end)) continue;
		parts.push([start, hole]);
		start = hole + 1;
	}
	return [...parts, [start, end]];
}

function clamp(index: number, length: number): number {
	return Number.isFinite(index) ? Math.min(Math.max(Math.trunc(index), 0), length) : index > 0 ? length : 0;
}

/** A binary heap; its top beats all other items. */
class WinnerHeap<T> {
	readonly #items: T[] = [];

	constructor(private readonly beats: (a: T, b: T) => boolean) {}

	peek(): T | undefined {
		return this.#items[0];
	}

	push(item: T): void {
		const items = this.#items;
		let child = items.push(item) - 1;
		while (child > 0) {
			const parent = (child - 1) >> 1;
			if (!this.#swapIfBetter(child, parent)) return;
			child = parent;
		}
	}

	pop(): void {
		const items = this.#items;
		const last = items.pop();
		if (last === undefined || items.length === 0) return;
		items[0] = last;
		for (let parent = 0; ; ) {
			const left = 2 * parent + 1;
			const better = this.#better(left, left + 1);
			if (better === undefined || !this.#swapIfBetter(better, parent)) return;
			parent = better;
		}
	}

	#better(left: number, right: number): number | undefined {
		const a = this.#items[left];
		const b = this.#items[right];
		if (a === undefined) return undefined;
		return b !== undefined && this.beats(b, a) ? right : left;
	}

	#swapIfBetter(child: number, parent: number): boolean {
		const a = this.#items[child];
		const b = this.#items[parent];
		if (a === undefined || b === undefined || !this.beats(a, b)) return false;
		this.#items[child] = b;
		this.#items[parent] = a;
		return true;
	}
}

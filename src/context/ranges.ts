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
	summary: string;
	/** On overlap the highest id wins; of equal ids the later in the list. */
	id: number;
}

/** Options of `applyRanges`. */
export interface ApplyRangesOptions {
	/** Text of the user message for a summary. Default: `[Summary]`, a blank line, the summary. */
	render?(range: SummaryRange): string;
}

/** A stretch of entries with the range that wins it. */
interface Segment {
	from: number;
	to: number;
	winner: SummaryRange | null;
}

/**
 * Replaces ranges of entries by their summaries; later wins. Entries that no range covers pass through with their
 * index. A winning summary is emitted once, at the first index where it wins, so a range that is partly overlapped is
 * never lost, and one that is overlapped entirely disappears. Equal input gives equal output; its items are frozen, and
 * those that pass through are the ones that `context` handlers are given.
 *
 * Costs O(r log r + messages passed through) for r ranges, whatever the ranges cover.
 */
export function applyRanges(
	entries: readonly SessionEntry[],
	ranges: readonly SummaryRange[],
	options: ApplyRangesOptions = {},
): ContextMessage[] {
	const render = options.render ?? ((range: SummaryRange) => `[Summary]\n\n${range.summary}`);
	const items = EntryItems.of(entries[0]);
	const emitted = new Set<SummaryRange>();
	const parts = segments(ranges, entries.length);
	// Allocated at once: growing it would cost more than what is put in.
	const messages = new Array<ContextMessage>(
		parts.reduce((sum, part) => sum + (part.winner ? 1 : part.to - part.from), 0),
	);
	let count = 0;
	for (const { from, to, winner } of parts) {
		if (!winner) {
			for (let index = from; index < to; index++) {
				const item = items.item(entries[index], index);
				if (item) messages[count++] = item;
			}
		} else if (!emitted.has(winner)) {
			emitted.add(winner);
			const last = entries[Math.min(Math.trunc(winner.to), entries.length) - 1];
			messages[count++] = Object.freeze({ message: summaryMessage(render(winner), last), entryIndex: null });
		}
	}
	messages.length = count;
	return messages;
}

// By the range's last entry, then by text. Identity is how an unchanged context is recognised.
const summaries = new WeakMap<SessionEntry, Map<string, UserMessage>>();

/** The same message object for the same text at the same entry. */
function summaryMessage(content: string, last: SessionEntry | undefined): UserMessage {
	const create = (): UserMessage => Object.freeze({ role: "user", content, timestamp: entryTime(last) });
	if (!last) return create();
	let known = summaries.get(last);
	if (!known) {
		known = new Map();
		summaries.set(last, known);
	}
	const message = known.get(content) ?? create();
	known.set(content, message);
	return message;
}

/** Cuts `[0, length)` at every range border and finds the winner of each piece. */
function segments(ranges: readonly SummaryRange[], length: number): Segment[] {
	const valid = ranges
		.map((range, order) => ({ range, order, from: clamp(range.from, length), to: clamp(range.to, length) }))
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

function clamp(index: number, length: number): number {
	return Number.isFinite(index) ? Math.min(Math.max(Math.trunc(index), 0), length) : index > 0 ? length : 0;
}

/** A binary heap whose top beats all others. */
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

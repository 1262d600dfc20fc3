import { type EntrySource, entryMessage } from "../../context/entry-message.js";
import { estimateTokens } from "../../context/tokens.js";
import type { ContextMarks, PlacedStandIn } from "./context-marks.js";
import { gapBetween, type Item, type ItemKind } from "./item.js";
import { EntryBlock, type Gap, type Mark } from "./views/entry-block.js";
import { HiddenRunView, SummaryView } from "./views/summary-view.js";
import type { ViewStyle } from "./views/view.js";

/** Hidden blocks in a row that are still shown one by one. */
const MAX_HIDDEN_BLOCKS = 3;

/** A block with what it is to look like. */
export interface Placed {
	block: EntryBlock;
	mark: Mark;
	gap: Gap;
}

/** Puts items in their places for a context: hidden runs collapsed, summaries where they stand. */
export class ContextLayout {
	// Rows of the layout itself, by content: the same row in the next layout must be the same block.
	#rows = new Map<string, EntryBlock>();

	constructor(private readonly style: ViewStyle) {}

	/** @returns every block of the transcript, top to bottom; the items themselves are left as they are */
	place(items: readonly Item[], marks: ContextMarks, entries: EntrySource): Placed[] {
		const rows = new Map<string, EntryBlock>();
		const placed: Placed[] = [];
		const pending = [...marks.standIns];
		const hidden = items.map((item) => hiddenBy(item, marks));
		const lastHidden = hidden.findLastIndex((by) => by !== null);
		let kind: ItemKind | "run" | null = null;

		const row = (content: string, create: () => EntryBlock): EntryBlock => {
			let key = content;
			while (rows.has(key)) key += "+";
			const block = this.#rows.get(key) ?? create();
			rows.set(key, block);
			return block;
		};
		const putItem = (item: Item, mark: Mark) => {
			placed.push({ block: item.block, mark, gap: gapBetween(kind === "run" ? "event" : kind, item.kind) });
			kind = item.kind;
		};
		const putStandIns = (due: (standIn: PlacedStandIn) => boolean) => {
			while (pending[0] && due(pending[0])) {
				const standIn = pending.shift();
				if (!standIn) break;
				const key = JSON.stringify([standIn.text, standIn.by, standIn.messages, standIn.tokensBefore]);
				const block = row(key, () => new EntryBlock(new SummaryView(this.style, standIn), this.style));
				placed.push({ block, mark: "summary", gap: kind === "run" ? "none" : "turn" });
				kind = "run";
			}
		};

		let at = 0;
		while (at < items.length) {
			const item = items[at];
			const by = hidden[at] ?? null;
			if (item && by === null) {
				const index = item.entryIndices[0];
				if (index !== undefined) putStandIns(({ before }) => before !== null && before <= index);
				putItem(item, item.block.mark === "none" ? "none" : item.excluded ? "out" : "in");
				at += 1;
			} else {
				const end = endOfRun(items, hidden, at);
				const run = items.slice(at, end);
				const shown = this.style.expanded || run.length <= MAX_HIDDEN_BLOCKS ? run : run.filter(isOpening);
				for (const one of shown) putItem(one, one.block.mark === "none" ? "none" : "out");
				if (shown.length < run.length) {
					const facts = { ...sizeOf(run.slice(shown.length), entries), by: by ?? "" };
					const block = row(
						JSON.stringify(facts),
						() => new EntryBlock(new HiddenRunView(this.style, facts), this.style),
					);
					placed.push({ block, mark: "out", gap: shown.length > 0 ? "none" : "turn" });
					kind = "run";
				}
				at = end;
				if (lastHidden < end) putStandIns(({ before }) => before === null);
			}
		}
		putStandIns(() => true);
		this.#rows = rows;
		return placed;
	}
}

function hiddenBy(item: Item, marks: ContextMarks): string | null {
	const index = item.entryIndices[0];
	return index === undefined || item.excluded ? null : marks.hiddenBy(index);
}

/** The prompt that a run begins with stays: it says what the run was about. */
function isOpening(item: Item, position: number): boolean {
	return position === 0 && item.kind === "user";
}

/** The end of a run hidden by one and the same; what is no message and lies within it belongs to it. */
function endOfRun(items: readonly Item[], hidden: readonly (string | null)[], start: number): number {
	const by = hidden[start];
	let end = start + 1;
	for (let at = end; at < items.length; at++) {
		if (hidden[at] === by) end = at + 1;
		else if (hidden[at] !== null || items[at]?.entryIndices.length !== 0) break;
	}
	return end;
}

function sizeOf(run: readonly Item[], entries: EntrySource): { messages: number; tokens: number } {
	const indices = new Set(run.flatMap((item) => item.entryIndices));
	let tokens = 0;
	for (const index of indices) {
		const message = entryMessage(entries.at(index));
		if (message) tokens += estimateTokens(message);
	}
	return { messages: indices.size, tokens };
}

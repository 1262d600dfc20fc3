import { type EntrySource, entryMessage } from "../../context/entry-message.js";
import { estimateTokens } from "../../context/tokens.js";
import type { ContextMarks, PlacedSummary } from "./context-marks.js";
import { gapBetween, type Item, type ItemKind } from "./transcript-item.js";
import { EntryBlock, type Gap, type Mark } from "./views/entry-block.js";
import { HiddenRunView, SummaryView } from "./views/summary-view.js";
import type { ViewStyle } from "./views/view.js";

/** Longest run of hidden blocks that is shown block by block; longer runs collapse into one row. */
const MAX_HIDDEN_BLOCKS = 3;

/** A block with its gutter mark and the gap above it. */
export interface PlacedBlock {
	block: EntryBlock;
	mark: Mark;
	gap: Gap;
}

/** Arranges items for a context: collapses hidden runs and inserts summaries. */
export class ContextLayout {
	// Summaries and collapsed runs by content. An unchanged row must remain the same block in the next layout.
	#rows = new Map<string, EntryBlock>();

	constructor(private readonly style: ViewStyle) {}

	/** @returns every block of the transcript, top to bottom; does not modify the items */
	place(items: readonly Item[], marks: ContextMarks, entries: EntrySource): PlacedBlock[] {
		const rows = new Map<string, EntryBlock>();
		const placed: PlacedBlock[] = [];
		const pending = [...marks.summaries];
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
		const putSummaries = (due: (summary: PlacedSummary) => boolean) => {
			while (pending[0] && due(pending[0])) {
				const summary = pending.shift();
				if (!summary) break;
				const key = JSON.stringify([summary.text, summary.by, summary.messages, summary.tokensBefore]);
				const block = row(key, () => new EntryBlock(new SummaryView(this.style, summary), this.style));
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
				if (index !== undefined) putSummaries(({ before }) => before !== null && before <= index);
				putItem(item, item.block.mark === "none" ? "none" : item.excluded ? "out" : "in");
				at += 1;
			} else {
				const end = endOfRun(items, hidden, at);
				const run = items.slice(at, end);
				const shown = run.length <= MAX_HIDDEN_BLOCKS ? run : run.filter(isOpening);
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
				if (lastHidden < end) putSummaries(({ before }) => before === null);
			}
		}
		putSummaries(() => true);
		this.#rows = rows;
		return placed;
	}
}

function hiddenBy(item: Item, marks: ContextMarks): string | null {
	const index = item.entryIndices[0];
	return index === undefined || item.excluded ? null : marks.hiddenBy(index);
}

/** True for a prompt at the start of a hidden run. It remains visible as the topic of the run. */
function isOpening(item: Item, position: number): boolean {
	return position === 0 && item.kind === "user";
}

/** The end of a run hidden by the same cause, exclusive. Items inside the run that are not messages belong to it. */
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

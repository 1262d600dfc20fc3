import { clickedRow, wheelRows } from "./clicks.js";
import type { KeyAction } from "./key-table.js";
import type { Keymap } from "./keymap.js";

/** The actions that move, and how far each one goes. */
const MOVES: readonly (readonly [action: KeyAction, amount: number, unit: "rows" | "pages"])[] = [
	["dialog.up", -1, "rows"],
	["dialog.down", 1, "rows"],
	["dialog.pageUp", -1, "pages"],
	["dialog.pageDown", 1, "pages"],
	["dialog.top", Number.NEGATIVE_INFINITY, "rows"],
	["dialog.bottom", Number.POSITIVE_INFINITY, "rows"],
];
const PAGER_MOVES: typeof MOVES = [
	...MOVES,
	["pager.up", -1, "rows"],
	["pager.down", 1, "rows"],
	["pager.pageDown", 1, "pages"],
	["pager.top", Number.NEGATIVE_INFINITY, "rows"],
	["pager.bottom", Number.POSITIVE_INFINITY, "rows"],
];

/** @returns number of rows that a key moves; null for other keys */
function rowsToMove(data: string, keymap: Keymap, moves: typeof MOVES, rows: number): number | null {
	const move = moves.find(([action]) => keymap.matches(data, action));
	if (!move) return null;
	const [, amount, unit] = move;
	return unit === "pages" ? amount * Math.max(1, rows - 1) : amount;
}

/** The selected position in a list and the visible part of the list. Indices from 0. */
export class ScrollList {
	#selected = 0;
	#top = 0;

	/** @param rows number of visible items */
	constructor(private readonly rows: () => number) {}

	get selected(): number {
		return this.#selected;
	}

	/** Selects an item, or the nearest one that exists. @param count the current length of the list */
	select(index: number, count: number): void {
		this.#selected = Math.max(0, Math.min(index, count - 1));
	}

	/** Scrolls to the selected item. @returns the visible range, `to` excluded */
	window(count: number): { from: number; to: number } {
		this.select(this.#selected, count);
		const rows = Math.max(1, Math.min(this.rows(), count));
		if (this.#selected < this.#top) this.#top = this.#selected;
		if (this.#selected >= this.#top + rows) this.#top = this.#selected - rows + 1;
		this.#top = Math.max(0, Math.min(this.#top, count - rows));
		return { from: this.#top, to: this.#top + rows };
	}

	/** @returns whether the key moves the selection. A click on the selected row does not */
	handle(data: string, keymap: Keymap, count: number): boolean {
		const clicked = clickedRow(data);
		if (clicked !== null && clicked !== this.#selected) {
			this.select(clicked, count);
			return true;
		}
		const rows = rowsToMove(data, keymap, MOVES, this.rows());
		if (rows !== null) this.select(this.#selected + rows, count);
		return rows !== null;
	}
}

/** The visible part of scrolled lines, without a selection. */
export class ScrollText {
	#top = 0;
	#last = 0;

	/**
	 * @param rows number of visible lines
	 * @param isPager whether the keys of pagers scroll too
	 */
	constructor(
		private readonly rows: () => number,
		private readonly isPager = false,
	) {}

	/** @returns the visible range, `to` excluded */
	window(count: number): { from: number; to: number } {
		const rows = Math.max(1, this.rows());
		this.#last = Math.max(0, count - rows);
		this.#top = Math.min(this.#top, this.#last);
		return { from: this.#top, to: Math.min(count, this.#top + rows) };
	}

	/** Shows the next page. @returns true */
	page(): true {
		this.#top = Math.min(this.#top + Math.max(1, this.rows() - 1), this.#last);
		return true;
	}

	/** Scrolls so that a line is the first, as far as there are lines. */
	show(line: number): void {
		this.#top = Math.max(0, Math.min(line, this.#last));
	}

	/** @returns whether the key scrolls */
	handle(data: string, keymap: Keymap): boolean {
		const rows = wheelRows(data) || rowsToMove(data, keymap, this.isPager ? PAGER_MOVES : MOVES, this.rows());
		if (rows !== null) this.#top = Math.max(0, Math.min(this.#top + rows, this.#last));
		return rows !== null;
	}
}

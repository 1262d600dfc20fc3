import type { KeyAction } from "./key-table.js";
import type { Keymap } from "./keymap.js";

/** The keys that move, with how far each goes: rows, or pages of them. */
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

/** @returns how many rows a key moves; null when it does not move */
function rowsToMove(data: string, keymap: Keymap, moves: typeof MOVES, rows: number): number | null {
	const move = moves.find(([action]) => keymap.matches(data, action));
	if (!move) return null;
	const [, amount, unit] = move;
	return unit === "pages" ? amount * Math.max(1, rows - 1) : amount;
}

/** A selected position in a list, and the part of the list that is shown. Indices from 0. */
export class ScrollList {
	#selected = 0;
	#top = 0;

	/** @param rows how many items are shown at once */
	constructor(private readonly rows: () => number) {}

	get selected(): number {
		return this.#selected;
	}

	/** Selects an item; the list may have another length than before. */
	select(index: number, count: number): void {
		this.#selected = Math.max(0, Math.min(index, count - 1));
	}

	/** The part that is shown, with the selected item in it. */
	window(count: number): { from: number; to: number } {
		this.select(this.#selected, count);
		const rows = Math.max(1, Math.min(this.rows(), count));
		if (this.#selected < this.#top) this.#top = this.#selected;
		if (this.#selected >= this.#top + rows) this.#top = this.#selected - rows + 1;
		this.#top = Math.max(0, Math.min(this.#top, count - rows));
		return { from: this.#top, to: this.#top + rows };
	}

	/** @returns whether the key was one that moves */
	handle(data: string, keymap: Keymap, count: number): boolean {
		const rows = rowsToMove(data, keymap, MOVES, this.rows());
		if (rows !== null) this.select(this.#selected + rows, count);
		return rows !== null;
	}
}

/** Lines that are scrolled, without a selected one. */
export class ScrollText {
	#top = 0;
	#last = 0;

	/**
	 * @param rows how many lines are shown at once
	 * @param isPager also reads the keys of pagers
	 */
	constructor(
		private readonly rows: () => number,
		private readonly isPager = false,
	) {}

	/** The part that is shown. */
	window(count: number): { from: number; to: number } {
		const rows = Math.max(1, this.rows());
		this.#last = Math.max(0, count - rows);
		this.#top = Math.min(this.#top, this.#last);
		return { from: this.#top, to: Math.min(count, this.#top + rows) };
	}

	/** @returns whether the key was one that moves */
	handle(data: string, keymap: Keymap): boolean {
		const rows = rowsToMove(data, keymap, this.isPager ? PAGER_MOVES : MOVES, this.rows());
		if (rows !== null) this.#top = Math.max(0, Math.min(this.#top + rows, this.#last));
		return rows !== null;
	}
}

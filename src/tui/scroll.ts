import { matchesKey } from "@mariozechner/pi-tui";
import type { Keymap } from "./keymap.js";

/** A selected place in a list, and the part of the list that is shown. Indices from 0. */
export class ScrollList {
	#selected = 0;
	#top = 0;

	/** @param rows how many items are shown at once */
	constructor(private readonly rows: () => number) {}

	get selected(): number {
		return this.#selected;
	}

	/** Goes to an item; the list may have another length than before. */
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
		const page = Math.max(1, this.rows() - 1);
		if (keymap.matches(data, "dialog.up")) this.select(this.#selected - 1, count);
		else if (keymap.matches(data, "dialog.down")) this.select(this.#selected + 1, count);
		else if (keymap.matches(data, "dialog.pageUp")) this.select(this.#selected - page, count);
		else if (keymap.matches(data, "dialog.pageDown")) this.select(this.#selected + page, count);
		else if (matchesKey(data, "home")) this.select(0, count);
		else if (matchesKey(data, "end")) this.select(count - 1, count);
		else return false;
		return true;
	}
}

/** Lines that are scrolled, without a selected one. */
export class ScrollText {
	#top = 0;

	constructor(private readonly rows: () => number) {}

	window(count: number): { from: number; to: number } {
		const rows = Math.max(1, this.rows());
		this.#top = Math.max(0, Math.min(this.#top, count - rows));
		return { from: this.#top, to: Math.min(count, this.#top + rows) };
	}

	/** @returns whether the key was one that moves */
	handle(data: string, keymap: Keymap): boolean {
		const page = Math.max(1, this.rows() - 1);
		if (keymap.matches(data, "dialog.up")) this.#top--;
		else if (keymap.matches(data, "dialog.down")) this.#top++;
		else if (keymap.matches(data, "dialog.pageUp")) this.#top -= page;
		else if (keymap.matches(data, "dialog.pageDown")) this.#top += page;
		else if (matchesKey(data, "home")) this.#top = 0;
		else if (matchesKey(data, "end")) this.#top = Number.MAX_SAFE_INTEGER;
		else return false;
		return true;
	}
}

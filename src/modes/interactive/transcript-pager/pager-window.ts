import type { ItemRef, PagerItem, PagerItems } from "./pager-items.js";

/** A row of the window: a line of an item. */
export interface WindowRow {
	item: PagerItem;
	line: number;
	text: string;
}

/** The items that a window reads. */
export interface WindowItems extends Pick<PagerItems, "at" | "after" | "before" | "first" | "last"> {
	/** The lines of an item, at least one. */
	lines(item: PagerItem): readonly string[];
}

/** The visible part of a list of items of different heights, and the selected item. Reads no items but those it shows. */
export class PagerWindow {
	#top: ItemRef & { line: number } = { entry: 0, part: 0, line: 0 };
	#selected: ItemRef = { entry: 0, part: 0 };

	/** @param height number of visible rows, at least 1 */
	constructor(
		private readonly items: WindowItems,
		private readonly height: () => number,
	) {}

	get selected(): PagerItem | undefined {
		return this.items.at(this.#selected);
	}

	isSelected(item: ItemRef): boolean {
		return isSame(item, this.#selected);
	}

	/** Whether the selected item is the last one. */
	get isAtEnd(): boolean {
		const last = this.items.last();
		return last === undefined || isSame(last, this.#selected);
	}

	/** The visible rows, at most `height`. */
	rows(): WindowRow[] {
		const rows = this.#collect();
		if (rows.length >= this.height()) return rows;
		const last = this.items.last();
		if (!last) return rows;
		this.#showEnd(last);
		return this.#collect();
	}

	/** Selects an item. @param line a line of it that becomes visible; default: all of them, or the first ones */
	select(item: PagerItem, line?: number): void {
		this.#selected = ref(item);
		if (line === undefined) this.#reveal(item);
		else this.#top = { ...ref(item), line: Math.max(0, line - Math.floor(this.height() / 3)) };
	}

	/** Selects an item and shows it at the top. */
	selectAtTop(item: PagerItem): void {
		this.#selected = ref(item);
		this.#top = { ...ref(item), line: 0 };
	}

	toFirst(): void {
		const first = this.items.first();
		if (first) this.selectAtTop(first);
	}

	toLast(): void {
		const last = this.items.last();
		if (!last) return;
		this.#selected = ref(last);
		this.#showEnd(last);
	}

	/** Selects the next or previous item; an item that is taller than the window first scrolls by rows. */
	step(direction: 1 | -1): void {
		const item = this.selected;
		if (!item) return;
		const rows = this.rows();
		const own = rows.filter((row) => isSame(row.item, item));
		const edge = direction > 0 ? own.at(-1)?.line : own[0]?.line;
		const end = direction > 0 ? this.items.lines(item).length - 1 : 0;
		if (edge !== undefined && edge !== end && own.length === rows.length) {
			this.#scroll(direction);
			return;
		}
		const next = direction > 0 ? this.items.after(item) : this.items.before(item);
		if (!next) {
			if (edge !== end) this.#scroll(direction);
			return;
		}
		this.#selected = ref(next);
		if (direction < 0 && this.items.lines(next).length > this.height()) this.#showEnd(next);
		else this.#reveal(next);
	}

	/** Scrolls, by default by a page. The selection moves along. */
	page(direction: 1 | -1, by = Math.max(1, this.height() - 1)): void {
		const before = this.#top;
		this.rows();
		this.#scroll(direction * by);
		const rows = this.rows();
		const hasMoved = !isSame(before, this.#top) || before.line !== this.#top.line;
		const edge = direction > 0 ? this.items.last() : this.items.first();
		const started = rows.find(({ line }) => line === 0) ?? rows[0];
		const next = hasMoved ? started?.item : edge;
		if (next) this.#selected = ref(next);
	}

	#collect(): WindowRow[] {
		const rows: WindowRow[] = [];
		let item = this.items.at(this.#top);
		if (item && !isSame(item, this.#top)) this.#top = { ...ref(item), line: 0 };
		let line = this.#top.line;
		while (item && rows.length < this.height()) {
			const lines = this.items.lines(item);
			for (; line < lines.length && rows.length < this.height(); line++) {
				rows.push({ item, line, text: lines[line] ?? "" });
			}
			line = 0;
			item = this.items.after(item);
		}
		return rows;
	}

	/** Scrolls as little as possible until an item is visible. */
	#reveal(item: PagerItem): void {
		const { length } = this.items.lines(item);
		const seen = this.#collect().filter((row) => isSame(row.item, item));
		if (seen.length === length) return;
		if (isBefore(item, this.#top) || length >= this.height()) this.#top = { ...ref(item), line: 0 };
		else this.#showEnd(item);
	}

	/** Shows the end of an item in the last row, or as much as there is above it. */
	#showEnd(item: PagerItem): void {
		this.#top = { ...ref(item), line: this.items.lines(item).length };
		this.#scroll(-this.height());
	}

	#scroll(rows: number): void {
		let { line } = this.#top;
		let item = this.items.at(this.#top);
		let left = Math.abs(rows);
		while (item && left > 0) {
			if (rows < 0) {
				const taken = Math.min(left, line);
				line -= taken;
				left -= taken;
				if (left === 0) break;
				const previous = this.items.before(item);
				if (!previous) break;
				item = previous;
				line = this.items.lines(item).length;
			} else {
				const { length } = this.items.lines(item);
				const taken = Math.min(left, length - 1 - line);
				line += taken;
				left -= taken;
				if (left === 0) break;
				const next = this.items.after(item);
				if (!next) break;
				item = next;
				line = 0;
				left -= 1;
			}
		}
		if (item) this.#top = { ...ref(item), line };
	}
}

function ref({ entry, part }: ItemRef): ItemRef {
	return { entry, part };
}

function isSame(a: ItemRef, b: ItemRef): boolean {
	return a.entry === b.entry && a.part === b.part;
}

function isBefore(a: ItemRef, b: ItemRef & { line: number }): boolean {
	return a.entry < b.entry || (a.entry === b.entry && (a.part < b.part || (a.part === b.part && b.line > 0)));
}

import {
	type Component,
	CURSOR_MARKER,
	decodeKittyPrintable,
	type Focusable,
	matchesKey,
	truncateToWidth,
	visibleWidth,
} from "@mariozechner/pi-tui";
import { fuzzyFilter, fuzzyMatch, markMatch } from "./fuzzy.js";
import type { Keymap } from "./keymap.js";
import { column, oneLine, spread } from "./line.js";
import type { Theme } from "./theme.js";

/** The look and the keys of a dialog. */
export interface Look {
	theme: Theme;
	keymap: Keymap;
	/** Rows of the screen; a dialog takes about a third of them. Default 30. */
	rows?(): number;
}

/** A row of a `SelectDialog`. Texts may come from anywhere. */
export interface SelectItem<T> {
	label: string;
	value: T;
	/** Stands at the right. */
	description?: string;
}

/** Settings of a `SelectDialog`. */
export interface SelectDialogOptions<T> {
	title: string;
	items: readonly SelectItem<T>[];
	/** Index of the item that is selected at first. */
	selected?: number;
	/** What the keys line says about enter. Default `select`. */
	verb?: string;
	onSelect(value: T): void;
	onCancel(): void;
}

const MAX_ROWS = 10;
const MIN_ROWS = 3;

/** Chooses one of a list: arrows, page keys, and typing filters. */
export class SelectDialog<T> implements Component, Focusable {
	focused = false;
	#filter = "";
	#shown: readonly SelectItem<T>[];
	#selected: number;

	constructor(
		private readonly look: Look,
		private readonly options: SelectDialogOptions<T>,
	) {
		this.#shown = options.items;
		const selected = Number.isInteger(options.selected) ? (options.selected ?? 0) : 0;
		this.#selected = Math.max(0, Math.min(selected, options.items.length - 1));
	}

	render(width: number): string[] {
		const { theme, keymap } = this.look;
		const rows = Math.max(MIN_ROWS, Math.min(MAX_ROWS, Math.floor((this.look.rows?.() ?? 30) / 3)));
		const first = Math.max(0, Math.min(this.#selected - Math.floor(rows / 2), this.#shown.length - rows));
		const shown = this.#shown.slice(first, first + rows);
		const labels = shown.map((item) => oneLine(item.label));
		const lines = shown.map((item, index) => this.#row(item, labels[index] ?? "", first + index, width));
		const keys = `${keymap.keyOf("dialog.accept")} ${this.options.verb ?? "select"} · ${keymap.keyOf("dialog.cancel")} cancel`;
		return [
			theme.dim("─".repeat(width)),
			this.#titleLine(width),
			...(lines.length > 0 ? lines : [theme.dim("   nothing matches")]),
			theme.dim(` ${keys}`),
		].map((line) => (visibleWidth(line) > width ? truncateToWidth(line, width, "…") : line));
	}

	handleInput(data: string): void {
		const { keymap } = this.look;
		const page = MAX_ROWS - 1;
		if (keymap.matches(data, "dialog.cancel")) this.options.onCancel();
		else if (keymap.matches(data, "dialog.accept")) this.#accept();
		else if (keymap.matches(data, "dialog.up")) this.#move(this.#selected - 1, true);
		else if (keymap.matches(data, "dialog.down")) this.#move(this.#selected + 1, true);
		else if (keymap.matches(data, "dialog.pageUp")) this.#move(this.#selected - page, false);
		else if (keymap.matches(data, "dialog.pageDown")) this.#move(this.#selected + page, false);
		else if (matchesKey(data, "home")) this.#move(0, false);
		else if (matchesKey(data, "end")) this.#move(this.#shown.length - 1, false);
		else if (matchesKey(data, "backspace")) this.#setFilter([...this.#filter].slice(0, -1).join(""));
		else if (matchesKey(data, "ctrl+u")) this.#setFilter("");
		else if (matchesKey(data, "ctrl+w")) this.#setFilter(this.#filter.replace(/\S*\s*$/, ""));
		else this.#setFilter(this.#filter + typedText(data));
	}

	invalidate(): void {} // nothing cached

	#titleLine(width: number): string {
		const { theme } = this.look;
		const count = theme.dim(`${this.#shown.length === 0 ? 0 : this.#selected + 1}/${this.#shown.length}`);
		const cursor = this.focused ? CURSOR_MARKER : "";
		const filter = this.#filter
			? `${theme.accent(oneLine(this.#filter))}${cursor}`
			: `${cursor}${theme.dim("type to filter")}`;
		const title = ` ${theme.bold(oneLine(this.options.title))}`;
		return spread(title, `${filter}  ${count} `, width);
	}

	#row(item: SelectItem<T>, label: string, index: number, width: number): string {
		const { theme } = this.look;
		const current = index === this.#selected;
		const description = item.description ? oneLine(item.description) : "";
		const room = Math.max(1, width - 4);
		// The label comes first: a description gets what is left, at most half, and nothing when that is too little.
		const rest = Math.max(room - visibleWidth(label) - 2, Math.floor(room / 2) - 2);
		const right = description && rest >= 8 && width >= 30 ? truncateToWidth(description, rest, "…") : "";
		const labelWidth = right ? room - visibleWidth(right) - 2 : room;
		const cut = column(label, labelWidth);
		const matched = this.#filter ? (fuzzyMatch(this.#filter, cut)?.positions ?? []) : [];
		const text = markMatch(cut, matched, theme.accent);
		const mark = current ? theme.accent(" → ") : "   ";
		return `${mark}${current ? theme.bold(text) : text}${right ? `  ${theme.dim(right)}` : ""}`.replace(/ +$/, "");
	}

	#accept(): void {
		const item = this.#shown[this.#selected];
		if (item) this.options.onSelect(item.value);
	}

	#move(to: number, wraps: boolean): void {
		const count = this.#shown.length;
		if (count === 0) return;
		this.#selected = wraps ? (to + count) % count : Math.max(0, Math.min(to, count - 1));
	}

	#setFilter(filter: string): void {
		if (filter === this.#filter) return;
		this.#filter = filter;
		this.#shown = fuzzyFilter(this.options.items, filter, (item) => `${item.label} ${item.description ?? ""}`);
		this.#selected = 0;
	}
}

/** The text that a key or a paste types; empty for all other keys. */
export function typedText(data: string): string {
	const pasted = /^\x1b\[200~([\s\S]*)\x1b\[201~$/.exec(data)?.[1];
	if (pasted !== undefined) return pasted.replace(/[\x00-\x1f\x7f-\x9f]+/g, " ");
	const printable = decodeKittyPrintable(data) ?? data;
	return /^[^\x00-\x1f\x7f-\x9f]+$/.test(printable) ? printable : "";
}

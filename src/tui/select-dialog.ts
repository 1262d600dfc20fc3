import { type Component, CURSOR_MARKER, type Focusable, visibleWidth, wrapTextWithAnsi } from "@mariozechner/pi-tui";
import { type DialogStyle, hint, type KeyHint, keyLines } from "./dialog-style.js";
import { fuzzyFilter } from "./fuzzy.js";
import type { KeyAction } from "./key-table.js";
import { typedText } from "./keymap.js";
import { clipLine, oneLine, spread } from "./line.js";
import {
	describedWidths,
	drawRow,
	type RowWidths,
	rowWidths,
	type SelectColumn,
	type SelectItem,
	wordPositions,
} from "./select-row.js";

export type { SelectColumn, SelectItem } from "./select-row.js";

/** A key of a dialog besides those that move, choose and close. */
export interface SelectAction<T> {
	/** A key that types a character cannot be typed into the filter then. */
	key: KeyAction;
	/** Asked at each frame where it changes. */
	does: string | (() => string);
	/** @param item what is selected; undefined when the list is empty */
	run(item: SelectItem<T> | undefined): void;
}

/** Settings of a `SelectDialog`. */
export interface SelectDialogOptions<T> {
	title: string;
	/** All items, which typing filters; or a function that finds those that fit what is typed, best first. */
	items: readonly SelectItem<T>[] | ((filter: string) => readonly SelectItem<T>[]);
	columns?: readonly SelectColumn[];
	/** Index of the item that is selected at first. */
	selected?: number;
	/** What the keys line says about enter; empty leaves it out. Default `select`. */
	verb?: string;
	/** What the list says when it is empty and nothing is typed. */
	empty?: string;
	/** Takes half of the screen, not a third. */
	isTall?: boolean;
	/** Says more of the selected item, above the keys. */
	details?(item: SelectItem<T>): string;
	actions?: readonly SelectAction<T>[];
	/** Which units of a label to mark. Default: the letters that match. */
	positions?(filter: string, label: string): readonly number[];
	/** Hears each change of the filter, after the list has changed. */
	onFilter?(filter: string): void;
	/** @param filter as typed */
	onSelect(value: T, filter: string): void;
	onCancel(): void;
}

const MAX_ROWS = 10;
const MIN_ROWS = 3;
const MAX_DETAIL_ROWS = 3;
/** Rule, title and keys. */
const FRAME_ROWS = 4;
const HINT = "type to filter";
/** A filter that is longer was pasted by mistake; what it costs to match grows with it. UTF-16 units. */
const MAX_FILTER_LENGTH = 200;

/** Chooses one of a list: arrows, page keys, and typing filters. Draws the rows that are on the screen, no others. */
export class SelectDialog<T> implements Component, Focusable {
	focused = false;
	/** A line above the keys; null for none. */
	note: { text: string; isProblem: boolean } | null = null;
	#filter = "";
	#shown: readonly SelectItem<T>[];
	#selected: number;
	#widths: { items: readonly SelectItem<T>[]; width: number; widths: RowWidths } | null = null;

	constructor(
		private readonly style: DialogStyle,
		private readonly options: SelectDialogOptions<T>,
	) {
		this.#shown = this.#find();
		const selected = Number.isInteger(options.selected) ? (options.selected ?? 0) : 0;
		this.#selected = Math.max(0, Math.min(selected, this.#shown.length - 1));
	}

	/** What is typed. */
	get filter(): string {
		return this.#filter;
	}

	/** The item that enter would choose. */
	get selected(): SelectItem<T> | undefined {
		return this.#shown[this.#selected];
	}

	/** Looks for the items again; the same value stays selected, wherever it now stands. */
	refresh(): void {
		const value = this.selected?.value;
		this.#shown = this.#find();
		const at = value === undefined ? -1 : this.#shown.findIndex((item) => item.value === value);
		this.#move(at >= 0 ? at : this.#selected, false);
	}

	render(width: number): string[] {
		const { theme } = this.style;
		const rows = this.#rows();
		const first = Math.max(0, Math.min(this.#selected - Math.floor(rows / 2), this.#shown.length - rows));
		const shown = this.#shown.slice(first, first + rows);
		const { positions = wordPositions } = this.options;
		const layout = {
			theme,
			width,
			columns: this.options.columns ?? [],
			widths: this.#rowWidths(width),
			hasSigns: shown.some(({ sign }) => sign !== undefined),
			positions: (label: string) => (this.#filter ? positions(this.#filter, label) : []),
		};
		const lines = shown.map((item, index) => drawRow(item, first + index === this.#selected, layout));
		const empty = this.#filter ? "nothing matches" : (this.options.empty ?? "nothing to choose from");
		return [
			theme.dim("─".repeat(width)),
			this.#titleLine(width),
			...(lines.length > 0 ? lines : [theme.dim(`   ${empty}`)]),
			...this.#detailLines(
				width,
				shown.some((item, at) => !lines[at]?.includes(oneLine(this.#sentence(item)))),
			),
			...this.#noteLine(),
			...keyLines(this.#keys(), this.style, width),
		].map((line) => clipLine(line, width));
	}

	handleInput(data: string): void {
		const { keymap } = this.style;
		const page = Math.max(1, this.#rows() - 1);
		if (keymap.matches(data, "dialog.cancel")) this.options.onCancel();
		else if (keymap.matches(data, "dialog.accept")) this.#accept();
		else if (keymap.matches(data, "dialog.up")) this.#move(this.#selected - 1, true);
		else if (keymap.matches(data, "dialog.down")) this.#move(this.#selected + 1, true);
		else if (keymap.matches(data, "dialog.pageUp")) this.#move(this.#selected - page, false);
		else if (keymap.matches(data, "dialog.pageDown")) this.#move(this.#selected + page, false);
		else if (keymap.matches(data, "dialog.top")) this.#move(0, false);
		else if (keymap.matches(data, "dialog.bottom")) this.#move(this.#shown.length - 1, false);
		else if (this.#act(data)) return;
		else if (keymap.matches(data, "tui.editor.deleteCharBackward"))
			this.#setFilter([...this.#filter].slice(0, -1).join(""));
		else if (keymap.matches(data, "tui.editor.deleteToLineStart")) this.#setFilter("");
		else if (keymap.matches(data, "tui.editor.deleteWordBackward"))
			this.#setFilter(this.#filter.replace(/\S*\s*$/, ""));
		else this.#setFilter(this.#filter + typedText(data));
	}

	invalidate(): void {} // nothing cached that has styles

	#find(): readonly SelectItem<T>[] {
		const { items } = this.options;
		if (typeof items === "function") return items(this.#filter);
		return fuzzyFilter(items, this.#filter, ({ label, description = "", fields = [] }) =>
			[label, description, ...fields].join(" "),
		);
	}

	#rows(): number {
		const screen = this.style.rows?.() ?? 30;
		const share = this.options.isTall ? Math.floor(screen / 2) - 1 : Math.min(MAX_ROWS, Math.floor(screen / 3));
		// What is asked must be seen, also on a screen of a few rows.
		return Math.max(1, Math.min(Math.max(MIN_ROWS, share), screen - FRAME_ROWS));
	}

	#rowWidths(width: number): RowWidths {
		const { columns } = this.options;
		if (this.#widths?.items !== this.#shown || this.#widths.width !== width) {
			const widths = columns ? rowWidths(this.#shown, columns, width) : describedWidths(this.#shown, width);
			this.#widths = { items: this.#shown, width, widths };
		}
		return this.#widths.widths;
	}

	#titleLine(width: number): string {
		const { theme } = this.style;
		const count = `${this.#shown.length === 0 ? 0 : this.#selected + 1}/${this.#shown.length}`;
		const cursor = this.focused ? CURSOR_MARKER : "";
		const title = oneLine(this.options.title);
		// What is typed must be seen: of a long filter its end, of the title what is left.
		const room = Math.max(4, width - Math.min(visibleWidth(title) + 1, 13) - count.length - 5);
		const typed = this.#filter ? theme.accent(endOf(oneLine(this.#filter), room)) : "";
		const isHinted = typed === "" && visibleWidth(title) + HINT.length + count.length + 7 <= width;
		const hint = isHinted ? theme.dim(HINT) : "";
		const right = `${typed}${cursor}${hint}${typed || hint ? "  " : ""}${theme.dim(count)} `;
		const left = ` ${clipLine(title, Math.max(1, width - visibleWidth(right) - 3))}`;
		return spread(theme.bold(left), right, width);
	}

	/** What a row says of its label: the description, or the field that takes the room which is left. */
	#sentence({ description, fields = [] }: SelectItem<T>): string {
		const growing = this.options.columns?.findIndex(({ grows }) => grows) ?? -1;
		return description ?? fields[growing] ?? "";
	}

	/** @param isCut whether a row on the screen has no room for all of its sentence */
	#detailLines(width: number, isCut: boolean): string[] {
		const { selected } = this;
		const text = selected && (this.options.details?.(selected) ?? (isCut ? this.#sentence(selected) : undefined));
		if (!text) return [];
		const lines = wrapTextWithAnsi(oneLine(text), Math.max(1, width - 2));
		return lines.slice(0, MAX_DETAIL_ROWS).map((line) => this.style.theme.dim(` ${line}`));
	}

	#noteLine(): string[] {
		const { theme } = this.style;
		if (this.note === null) return [];
		return [(this.note.isProblem ? theme.warning : theme.dim)(` ${oneLine(this.note.text)}`)];
	}

	#keys(): KeyHint[] {
		const { verb = "select", actions = [] } = this.options;
		const accept: KeyHint[] = verb === "" ? [] : [hint(verb, "dialog.accept")];
		return [
			...accept,
			...actions.map(({ key, does }) => hint(typeof does === "function" ? does() : does, key)),
			hint(verb === "" ? "close" : "cancel", "dialog.cancel"),
		];
	}

	#act(data: string): boolean {
		const action = this.options.actions?.find(({ key }) => this.style.keymap.matches(data, key));
		action?.run(this.selected);
		return action !== undefined;
	}

	#accept(): void {
		const item = this.selected;
		if (item) this.options.onSelect(item.value, this.#filter);
	}

	#move(to: number, wraps: boolean): void {
		const count = this.#shown.length;
		this.#selected = count === 0 ? 0 : wraps ? (to + count) % count : Math.max(0, Math.min(to, count - 1));
	}

	#setFilter(text: string): void {
		const filter = text.slice(0, MAX_FILTER_LENGTH).toWellFormed();
		if (filter === this.#filter) return;
		this.#filter = filter;
		this.#selected = 0;
		this.#shown = this.#find();
		this.options.onFilter?.(filter);
	}
}

/** The end of a text that fits, with `…` before it when something is left out. */
function endOf(text: string, width: number): string {
	if (visibleWidth(text) <= width) return text;
	const characters = [...text];
	while (characters.length > 0 && visibleWidth(characters.join("")) > width - 1) characters.shift();
	return `…${characters.join("")}`;
}

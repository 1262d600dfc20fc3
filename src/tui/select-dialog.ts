import { type Component, CURSOR_MARKER, type Focusable, visibleWidth, wrapTextWithAnsi } from "@mariozechner/pi-tui";
import { clickable, clickedRow, WHEEL } from "./clicks.js";
import {
	type DialogStyle,
	fitsTitle,
	hint,
	type KeyHint,
	keyLines,
	MAX_TITLE_ROWS,
	questionRows,
	RowBudget,
	titleLines,
} from "./dialog-style.js";
import { fuzzyFilter } from "./fuzzy.js";
import type { KeyAction } from "./key-table.js";
import { typedText } from "./keymap.js";
import { clipLine, oneLine, spread } from "./line.js";
import { ScrollText } from "./scroll.js";
import {
	describedWidths,
	drawRow,
	listWindow,
	type RowLayout,
	rowWidths,
	type SelectColumn,
	type SelectItem,
	wordPositions,
} from "./select-row.js";

export type { SelectColumn, SelectItem } from "./select-row.js";

/** An additional key of a dialog. */
export interface SelectAction<T> {
	/** If it types a character, that character cannot be typed into the filter. */
	key: KeyAction;
	/** For the keys line; a function is called in each frame. */
	label: string | (() => string);
	/** Whether there is something to do; otherwise the key is not listed and has no effect. Default: always. */
	isOffered?(): boolean;
	/** @param item the selected item; undefined when the list is empty */
	run(item: SelectItem<T> | undefined): void;
}

/** Settings of a `SelectDialog`. */
export interface SelectDialogOptions<T> {
	/** A function is called in each frame. */
	title: string | (() => string);
	/** All items, filtered as the user types; or a function that returns the matching ones, best first. */
	items: readonly SelectItem<T>[] | ((filter: string) => readonly SelectItem<T>[]);
	columns?: readonly SelectColumn[];
	/** The items that decide which columns there is room for. Default: the shown ones. */
	columnItems?(): readonly SelectItem<T>[];
	/** Labels that are too long lose their middle instead of their end. */
	cutsMiddle?: boolean;
	/** Index of the initially selected item. */
	selected?: number;
	/** Label of Enter in the keys line; an empty one omits the key. Default `select`. */
	verb?: string;
	/** Shown when the list is empty without a filter. */
	empty?: string;
	/** Uses half of the screen instead of a third. */
	isTall?: boolean;
	/** Additional text about the selected item, shown above the keys. */
	details?(item: SelectItem<T>): string;
	/** Maximum number of rows of this text. Default 3. */
	detailRows?: number;
	actions?: readonly SelectAction<T>[];
	/** Whether typed text filters the items. Default true. */
	filters?: boolean;
	/** Items that begin with the typed text, or contain its words, stay in their order. Default: the best match comes first. */
	keepsOrder?: boolean;
	/** Indices of the UTF-16 units of a label to highlight. Default: the letters that match. */
	positions?(filter: string, label: string): readonly number[];
	/** Called after each change of the filter and the list. */
	onFilter?(filter: string): void;
	/** @param filter as typed */
	onSelect(value: T, filter: string): void;
	onCancel(): void;
}

const MAX_ROWS = 10;
const MIN_ROWS = 3;
const MAX_DETAIL_ROWS = 3;
/** Rows of a dialog around a long title, and those that the screen keeps below. */
const OTHER_ROWS = 8;
const HINT = "type to filter";
/** A longer filter was pasted by mistake and would be slow to match. UTF-16 units. */
const MAX_FILTER_LENGTH = 200;

/** Lets the user choose from a list with arrows, page keys and a filter. Draws only the visible rows. */
export class SelectDialog<T> implements Component, Focusable {
	focused = false;
	/** A line above the keys. */
	note: { text: string; isProblem: boolean } | null = null;
	#filter = "";
	#shown: readonly SelectItem<T>[];
	#selected: number;
	/** A title that does not fit, which the page keys scroll; it may be what the user approves. */
	readonly #scroll = new ScrollText(() => {
		const screen = this.style.rows?.() ?? 30;
		return Math.max(1, Math.min(Math.max(MAX_TITLE_ROWS, Math.floor(screen / 3)), screen - OTHER_ROWS));
	});
	#longTitle: { text: string; width: number; lines: string[] } | null = null;
	/** False while a part of the title was not shown: Enter shows it instead of selecting. */
	#isRead = true;
	#known: {
		items: readonly SelectItem<T>[];
		width: number;
		layout: Pick<RowLayout, "widths" | "hasSigns">;
	} | null = null;

	constructor(
		private readonly style: DialogStyle,
		private readonly options: SelectDialogOptions<T>,
	) {
		this.#shown = this.#find();
		const selected = Number.isInteger(options.selected) ? (options.selected ?? 0) : 0;
		this.#selected = Math.max(0, Math.min(selected, this.#shown.length - 1));
	}

	/** The typed text. */
	get filter(): string {
		return this.#filter;
	}

	/** The selected item; undefined when the list is empty. */
	get selected(): SelectItem<T> | undefined {
		return this.#shown[this.#selected];
	}

	/** Finds the items again. The same value stays selected, even at another index. */
	refresh(): void {
		const value = this.selected?.value;
		this.#shown = this.#find();
		const at = value === undefined ? -1 : this.#shown.findIndex((item) => item.value === value);
		this.#move(at >= 0 ? at : this.#selected, false);
	}

	render(width: number): string[] {
		const { theme } = this.style;
		const { positions = wordPositions } = this.options;
		const layout = {
			theme,
			width,
			columns: this.options.columns ?? [],
			...this.#layout(width),
			cutsMiddle: this.options.cutsMiddle === true,
			positions: (label: string) => (this.#filter ? positions(this.#filter, label) : []),
		};
		const list = this.#listLines(this.#rows(), layout);
		const { length } = list.lines;
		const budget = new RowBudget(this.style);
		const one = budget.take(1);
		const title = budget.takeLines(this.#titleLines(width));
		const few = one + budget.take(Math.min(MIN_ROWS, length) - one);
		const keys = budget.takeLines(keyLines(this.#keys(), this.style, width));
		const note = budget.takeLines(this.#noteLines(width));
		const rule = budget.takeLines([theme.dim("─".repeat(width))]);
		const details = budget.takeLines(this.#detailLines(width, list.isCut));
		const rows = few + budget.take(length - few);
		return [
			...rule,
			...title,
			...(rows < length ? this.#listLines(rows, layout).lines : list.lines),
			...details,
			...note,
			...keys,
		].map((line) => clipLine(line, width));
	}

	handleInput(data: string): void {
		const { keymap } = this.style;
		const page = Math.max(1, this.#rows() - 1);
		const clicked = clickedRow(data);
		if (clicked !== null) this.#click(clicked);
		else if (keymap.matches(data, "dialog.cancel")) this.options.onCancel();
		else if (this.#longTitle && this.#scrollTitle(data)) return;
		else if (keymap.matches(data, "dialog.accept")) this.#accept();
		else if (keymap.matches(data, "dialog.up")) this.#move(this.#selected - 1, data !== WHEEL.up);
		else if (keymap.matches(data, "dialog.down")) this.#move(this.#selected + 1, data !== WHEEL.down);
		else if (keymap.matches(data, "dialog.pageUp")) this.#move(this.#selected - page, false);
		else if (keymap.matches(data, "dialog.pageDown")) this.#move(this.#selected + page, false);
		else if (keymap.matches(data, "dialog.top")) this.#move(0, false);
		else if (keymap.matches(data, "dialog.bottom")) this.#move(this.#shown.length - 1, false);
		else if (this.#act(data)) return;
		else if (keymap.matches(data, "tui.editor.deleteCharBackward"))
			this.#setFilter([...this.#filter].slice(0, -1).join(""));
		else if (keymap.matches(data, "tui.editor.deleteToLineStart")) this.#setFilter("");
		else if (keymap.matches(data, "tui.editor.deleteWordBackward")) this.#setFilter(withoutLastWord(this.#filter));
		else if (this.#filters) this.#setFilter(this.#filter + typedText(data));
	}

	invalidate(): void {} // nothing cached that has styles

	/** @returns whether the key scrolls the title */
	#scrollTitle(data: string): boolean {
		const { keymap } = this.style;
		if (!this.#isRead && keymap.matches(data, "dialog.accept")) return this.#scroll.page();
		const isPage = keymap.matches(data, "dialog.pageUp") || keymap.matches(data, "dialog.pageDown");
		return isPage && this.#scroll.handle(data, keymap);
	}

	get #filters(): boolean {
		return this.options.filters ?? true;
	}

	#find(): readonly SelectItem<T>[] {
		const { items, keepsOrder } = this.options;
		if (typeof items === "function") return items(this.#filter);
		const textOf = ({ label, description = "", fields = [] }: SelectItem<T>) =>
			[label, description, ...fields].join(" ");
		const words = this.#filter.toLowerCase().split(/\s+/);
		const literal = (item: SelectItem<T>) => words.every((word) => textOf(item).toLowerCase().includes(word));
		const inOrder = keepsOrder ? items.filter(literal) : [];
		if (inOrder.length === 0) return fuzzyFilter(items, this.#filter, textOf);
		const begins = ({ label }: SelectItem<T>) => label.toLowerCase().startsWith(this.#filter.toLowerCase());
		return inOrder.toSorted((a, b) => Number(begins(b)) - Number(begins(a)));
	}

	/** Rows of the list on a screen that is large enough. */
	#rows(): number {
		const screen = this.style.rows?.() ?? 30;
		const share = this.options.isTall ? Math.floor(screen / 2) - 1 : Math.min(MAX_ROWS, Math.floor(screen / 3));
		return Math.max(MIN_ROWS, share);
	}

	/** The rows around the selected one; `isCut` if the description of one is truncated. */
	#listLines(rows: number, layout: RowLayout): { lines: string[]; isCut: boolean } {
		if (this.#shown.length === 0) {
			const none = this.#filter.startsWith("/")
				? "nothing matches · commands can be typed after this dialog"
				: "nothing matches";
			const empty = this.#filter ? none : (this.options.empty ?? "nothing to choose from");
			return { lines: [layout.theme.dim(`   ${empty}`)], isCut: false };
		}
		let isCut = false;
		const lines = listWindow(this.#shown, this.#selected, rows).map((row) => {
			if (typeof row === "string") return layout.theme.dim(` ${oneLine(row)}`);
			const item = this.#shown[row];
			if (!item) return "";
			const line = drawRow(item, row === this.#selected, layout);
			isCut ||= !line.includes(oneLine(this.#descriptionOf(item)));
			return clickable(line, row, this.style);
		});
		return { lines, isCut };
	}

	/** Computed from all items, not only the visible ones: the columns must not move while the list scrolls. */
	#layout(width: number): Pick<RowLayout, "widths" | "hasSigns"> {
		const { columns } = this.options;
		const items = this.options.columnItems?.() ?? this.#shown;
		if (this.#known?.items !== items || this.#known.width !== width) {
			const widths = columns ? rowWidths(items, columns, width) : describedWidths(items, width);
			const hasSigns = items.some(({ sign }) => sign !== undefined);
			this.#known = { items, width, layout: { widths, hasSigns } };
		}
		return this.#known.layout;
	}

	#titleLines(width: number): string[] {
		const { theme } = this.style;
		const count = `${this.#shown.length === 0 ? 0 : this.#selected + 1}/${this.#shown.length}`;
		const cursor = this.focused ? CURSOR_MARKER : "";
		const { title: given } = this.options;
		const text = typeof given === "function" ? given() : given;
		if (!fitsTitle(text, width)) return this.#longTitleLines(text, width, `${cursor}${theme.dim(count)} `);
		this.#longTitle = null;
		this.#isRead = true;
		const title = oneLine(text);
		// Decided without the filter, so that typing does not move the rows.
		const isLong = visibleWidth(title) + count.length + 4 > width;
		const beside = isLong ? 0 : visibleWidth(title);
		// The end of a long filter must be visible; the title gets the rest.
		const room = Math.max(4, width - Math.min(beside + 1, 13) - count.length - 5);
		const typed = this.#filter ? theme.accent(endOf(oneLine(this.#filter), room)) : "";
		const isHinted = this.#filters && typed === "" && beside + HINT.length + count.length + 7 <= width;
		const hint = isHinted ? theme.dim(HINT) : "";
		const right = `${typed}${cursor}${hint}${typed || hint ? "  " : ""}${theme.dim(count)} `;
		if (isLong) return [...titleLines(title, this.style, width), spread("", right, width)];
		const left = ` ${clipLine(title, Math.max(1, width - visibleWidth(right) - 3))}`;
		return [spread(theme.bold(left), right, width)];
	}

	#longTitleLines(text: string, width: number, count: string): string[] {
		const { theme, keymap } = this.style;
		if (this.#longTitle?.text !== text || this.#longTitle.width !== width) {
			this.#longTitle = { text, width, lines: questionRows(text, width - 2) };
			this.#isRead = false;
		}
		const { lines } = this.#longTitle;
		const { from, to } = this.#scroll.window(lines.length);
		if (to === lines.length) this.#isRead = true;
		const keys = keymap.keyOf("dialog.pageUp", "dialog.pageDown");
		const isCut = to - from < lines.length;
		const range = `${from + 1}–${to} of ${lines.length} · ${keys}`;
		const fits = visibleWidth(` lines ${range}  ${count}`) <= width;
		const position = isCut ? ` ${fits ? "lines " : ""}${range}` : "";
		const shown = lines.slice(from, to).map((line) => clipLine(` ${theme.bold(line.trimEnd())}`, width));
		return [...shown, spread(theme.warning(position), count, width)];
	}

	/** @returns an item's description, or its text in the growing column */
	#descriptionOf({ description, fields = [] }: SelectItem<T>): string {
		const growing = this.options.columns?.findIndex(({ grows }) => grows) ?? -1;
		return description ?? fields[growing] ?? "";
	}

	/** @param isCut whether the description of a visible row is truncated */
	#detailLines(width: number, isCut: boolean): string[] {
		const { selected } = this;
		const text = selected && (this.options.details?.(selected) ?? (isCut ? this.#descriptionOf(selected) : undefined));
		if (!text) return [];
		const lines = wrapTextWithAnsi(oneLine(text), Math.max(1, width - 2));
		const { detailRows = MAX_DETAIL_ROWS } = this.options;
		return lines.slice(0, detailRows).map((line) => this.style.theme.dim(` ${line}`));
	}

	#noteLines(width: number): string[] {
		const { theme } = this.style;
		if (this.note === null) return [];
		const style = this.note.isProblem ? theme.warning : theme.dim;
		const lines = wrapTextWithAnsi(oneLine(this.note.text), Math.max(1, width - 2));
		return lines.slice(0, MAX_DETAIL_ROWS).map((line) => style(` ${line}`));
	}

	#keys(): KeyHint[] {
		const { verb = "select" } = this.options;
		const isCut = this.#longTitle !== null && !this.#isRead;
		const accept: KeyHint[] = verb === "" ? [] : [hint(isCut ? "read on" : verb, "dialog.accept")];
		return [
			...accept,
			...this.#offered.map(({ key, label }) => hint(typeof label === "function" ? label() : label, key)),
			hint(verb === "" ? "close" : "cancel", "dialog.cancel"),
		];
	}

	get #offered(): readonly SelectAction<T>[] {
		return (this.options.actions ?? []).filter((action) => action.isOffered?.() ?? true);
	}

	#act(data: string): boolean {
		const action = this.#offered.find(({ key }) => this.style.keymap.matches(data, key));
		action?.run(this.selected);
		return action !== undefined;
	}

	#accept(): void {
		const item = this.selected;
		if (item) this.options.onSelect(item.value, this.#filter);
	}

	/** Chooses a row, or toggles it where several can be chosen. A title that was not read to its end is shown first. */
	#click(row: number): void {
		if (this.#longTitle && !this.#isRead) {
			this.#scroll.page();
			return;
		}
		this.#move(row, false);
		const toggle = this.#offered.find(({ key }) => key === "dialog.toggle");
		if (toggle) toggle.run(this.selected);
		else this.#accept();
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

/** @returns the end of a text, at most `width` columns, after `…` if truncated */
function endOf(text: string, width: number): string {
	if (visibleWidth(text) <= width) return text;
	const characters = [...text];
	while (characters.length > 0 && visibleWidth(characters.join("")) > width - 1) characters.shift();
	return `…${characters.join("")}`;
}

function withoutLastWord(text: string): string {
	const words = text.trimEnd();
	let end = words.length;
	while (end > 0 && words.charAt(end - 1).trim() !== "") end--;
	return words.slice(0, end);
}

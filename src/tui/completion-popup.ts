import { truncateToWidth, visibleWidth } from "@mariozechner/pi-tui";
import { trimEndOf } from "../util/trim.js";
import type { Completion, CompletionRow } from "./completion.js";
import { fuzzyMatch, markMatch } from "./fuzzy.js";
import { clipLine, column, oneLine } from "./line.js";
import type { Theme } from "./theme.js";

const MAX_LABEL_WIDTH = 30;

const MAX_ROWS = 8;

/** The completions below the editor. The first is selected, unless Enter submits what is typed. */
export class CompletionPopup {
	/** -1 without a selected row. */
	#selected: number;
	#isChosen = false;
	#widestLabel: number;

	constructor(private completion: Completion) {
		this.#selected = startOf(completion.rows);
		this.#widestLabel = widestLabel(completion.rows);
	}

	get hasRows(): boolean {
		return this.completion.rows.length > 0;
	}

	get selected(): CompletionRow | undefined {
		return this.completion.rows[this.#selected];
	}

	/** The row that Tab accepts: the selected one, else the first. */
	get offered(): CompletionRow | undefined {
		return this.selected ?? this.completion.rows[0];
	}

	/** What Enter does after the typed text. */
	onEnter(typed: string): { accepts: boolean; submits: boolean } {
		const row = this.selected;
		if (!row) return { accepts: false, submits: true };
		// A completely typed row is submitted even if another one matches better.
		const isTyped = this.completion.rows.some(({ insert }) => insert.trimEnd() === typed.trimEnd());
		if (isTyped && !this.#isChosen) return { accepts: false, submits: true };
		// `/do` matches `/undo`, which nobody meant to run: such a row is completed first.
		const isMeant = this.#isChosen || row.insert.toLowerCase().startsWith(firstWord(typed).toLowerCase());
		return { accepts: true, submits: isMeant && (row.enter === "submit" || row.enter === "submitTyped") };
	}

	/** Keeps only the rows that match the typed text, none of them chosen. @returns false when nothing remains to show */
	narrow(typed: string): boolean {
		const wanted = typed.trimEnd();
		const rows = this.completion.rows.filter(({ insert, label }) => fitsIn(wanted, insert) || fitsIn(wanted, label));
		this.completion = { ...this.completion, rows };
		this.#widestLabel = widestLabel(rows);
		this.#select(-1);
		return rows.length > 0 || this.completion.usage !== undefined;
	}

	/** Shows other rows. A row selected with the arrows stays selected. */
	replace(completion: Completion): void {
		const chosen = this.#isChosen ? this.selected?.insert : undefined;
		this.completion = completion;
		this.#widestLabel = widestLabel(completion.rows);
		this.#select(completion.rows.findIndex(({ insert }) => insert === chosen));
	}

	/** Moves the selection and wraps around at the ends. */
	move(rows: number): void {
		this.#isChosen = true;
		const count = this.completion.rows.length;
		const from = this.selected || rows > 0 ? this.#selected : 0;
		if (count > 0) this.#selected = (((from + rows) % count) + count) % count;
	}

	/** Selects a row; at -1 as if none had been chosen. */
	#select(index: number): void {
		this.#isChosen &&= index >= 0;
		this.#selected = index >= 0 ? index : startOf(this.completion.rows);
	}

	/** @returns at most a third of the screen's rows, the last one a count if not all are shown, and one for the usage, each at most `width` columns */
	render(width: number, screenRows: number, theme: Theme): string[] {
		const { rows, usage } = this.completion;
		const maxRows = Math.max(3, Math.min(MAX_ROWS, Math.floor(screenRows / 3)));
		const isCut = rows.length > maxRows;
		const count = isCut ? maxRows - 1 : maxRows;
		const first = Math.max(0, Math.min(this.#selected - Math.floor(count / 2), rows.length - count));
		const shown = rows.slice(first, first + count);
		// Of all rows, not only the visible ones: the descriptions must not move while the list scrolls.
		const labelWidth = Math.min(MAX_LABEL_WIDTH, Math.floor(width / 2), this.#widestLabel);
		const lines = shown.map((row, index) => this.#row(row, first + index === this.#selected, labelWidth, width, theme));
		if (isCut)
			lines.push(theme.dim(truncateToWidth(`   ${Math.max(0, this.#selected) + 1}/${rows.length}`, width, "")));
		if (usage) {
			const text = `${usage.name} ${oneLine(usage.hint)}`.trimEnd();
			lines.unshift(theme.dim(truncateToWidth(`   ${text}  ${oneLine(usage.description)}`, width, "…")));
		}
		return lines;
	}

	#row(row: CompletionRow, current: boolean, labelWidth: number, width: number, theme: Theme): string {
		const safe = oneLine(row.label);
		const label = clipLine(safe, width - 4);
		// The positions are those of the label as it is.
		const marked = markMatch(label, safe === row.label ? (row.matched ?? []) : [], theme.accent);
		const hint = row.hint ? theme.dim(` ${oneLine(row.hint)}`) : "";
		const head = `${current ? theme.accent(" → ") : "   "}${column(`${current ? theme.bold(marked) : marked}${hint}`, Math.max(labelWidth, row.hint ? 0 : visibleWidth(label)))}`;
		const room = width - visibleWidth(head) - 3;
		const origin = row.origin && room >= 40 ? oneLine(row.origin) : "";
		const description = row.description && room >= 10 ? oneLine(row.description) : "";
		if (!description && !origin) return truncateToWidth(trimEndOf(head, " "), width, "…");
		const middle = column(description, room - (origin ? visibleWidth(origin) + 2 : 0));
		return trimEndOf(
			`${head}  ${current ? middle : theme.muted(middle)}${origin ? `  ${theme.dim(origin)}` : ""}`,
			" ",
		);
	}
}

/** The row that is selected at first. */
function startOf(rows: readonly CompletionRow[]): number {
	const enter = rows[0]?.enter;
	return enter === "submitTyped" || enter === "insertChosen" ? -1 : 0;
}

function firstWord(text: string): string {
	return /^\S*/.exec(text)?.[0] ?? "";
}

/** Fuzzy match; typed text that contains whitespace must be a literal prefix. */
function fitsIn(typed: string, text: string): boolean {
	return /\s/.test(typed) ? text.startsWith(typed) : fuzzyMatch(typed, text) !== null;
}

function widestLabel(rows: readonly CompletionRow[]): number {
	return rows.reduce((widest, row) => Math.max(widest, visibleWidth(labelOf(row))), 0);
}

function labelOf(row: CompletionRow): string {
	return row.hint ? `${oneLine(row.label)} ${oneLine(row.hint)}` : oneLine(row.label);
}

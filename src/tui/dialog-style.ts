import { visibleWidth, wrapTextWithAnsi } from "@mariozechner/pi-tui";
import { revealInvisible } from "../util/reveal.js";
import type { KeyAction } from "./key-table.js";
import type { Keymap } from "./keymap.js";
import { clipLine, oneLine } from "./line.js";
import type { Theme } from "./theme.js";

/** Style and keys of a dialog. */
export interface DialogStyle {
	theme: Theme;
	keymap: Keymap;
	/** Rows of the screen; a dialog uses about a third of them. Default 30. */
	rows?(): number;
	/** Whether rows are marked for the mouse. Default: no. */
	marksRows?(): boolean;
}

/** Rows below a dialog: those of the footer. */
const ROWS_BELOW = 2;

/** The rows that a dialog can use without losing its first ones. Its parts take theirs in the order of their importance. */
export class RowBudget {
	#left: number;

	constructor({ rows }: DialogStyle) {
		this.#left = Math.max(2, (rows?.() ?? 30) - ROWS_BELOW);
	}

	/** @returns the number of rows to use: `wanted`, or as many as are left */
	take(wanted: number): number {
		const taken = Math.max(0, Math.min(wanted, this.#left));
		this.#left -= taken;
		return taken;
	}

	/** Takes rows only if all of them are left. @returns whether they were */
	takeAll(wanted: number): boolean {
		if (wanted > this.#left) return false;
		this.#left -= wanted;
		return true;
	}

	/** @returns the first lines, as many as there are rows left */
	takeLines(lines: readonly string[]): readonly string[] {
		return lines.slice(0, this.take(lines.length));
	}
}

/** The label of one or more actions in a dialog's keys line. */
export interface KeyHint {
	does: string;
	actions: readonly KeyAction[];
	/** Joins the keys of several actions. Default: a space. */
	separator?: string;
}

/** Longer titles are truncated: a hook could supply pages. */
export const MAX_TITLE_ROWS = 4;
const MAX_TITLE = 1000;

/** The title of a dialog on as many rows as it needs. */
export function titleLines(title: string, { theme }: DialogStyle, width: number): string[] {
	const lines = wrapTextWithAnsi(oneLine(title), Math.max(1, width - 2));
	const shown = lines.slice(0, MAX_TITLE_ROWS);
	if (shown.length < lines.length) shown.push(`${shown.pop() ?? ""}…`);
	return shown.map((line) => clipLine(` ${theme.bold(line.trimEnd())}`, width));
}

/** Longer lines are split before they are wrapped, because the cost of wrapping is quadratic in the length. UTF-16 units. */
const PIECE = /.{1,400}/gsu;

/** Untrusted text of a question, complete: every row of it, each at most `width` columns. */
export function questionRows(text: string, width: number): string[] {
	const lines = revealInvisible(text).replace(/\t/g, "   ").split("\n");
	return lines.flatMap(splitPieces).flatMap((piece) => wrapTextWithAnsi(piece, Math.max(1, width)));
}

/** The pieces of a line in which it is wrapped. */
export function splitPieces(line: string): string[] {
	return line.match(PIECE) ?? [""];
}

/** Whether `titleLines` shows a title completely, and as it is: it joins the lines of a text. */
export function fitsTitle(title: string, width: number): boolean {
	if (title.length > MAX_TITLE || title.trimEnd().includes("\n")) return false;
	return wrapTextWithAnsi(oneLine(title), Math.max(1, width - 2)).length <= MAX_TITLE_ROWS;
}

/** Creates a hint; several actions can share one, such as up and down. */
export function hint(does: string, ...actions: readonly KeyAction[]): KeyHint {
	return { does, actions };
}

/** The keys that scroll or move a selection. */
export const UP_DOWN = ["dialog.up", "dialog.down"] as const satisfies readonly KeyAction[];

/**
 * Lists keys with their labels, such as `enter select · esc cancel`. Actions without a key are omitted.
 * @returns as many lines as needed, each at most `width` columns
 */
export function keyLines(hints: readonly KeyHint[], { theme, keymap }: DialogStyle, width: number): string[] {
	const lines: string[] = [];
	let line = "";
	for (const { does, actions, separator } of hints) {
		const key = separator
			? actions
					.map((action) => keymap.keyOf(action))
					.filter(Boolean)
					.join(separator)
			: keymap.keyOf(...actions);
		if (key === "") continue;
		const segment = `${key} ${does}`.trim();
		const longer = line === "" ? segment : `${line} · ${segment}`;
		if (line !== "" && visibleWidth(longer) + 1 > width) {
			lines.push(line);
			line = segment;
		} else line = longer;
	}
	return [...lines, line].map((text) => theme.dim(clipLine(` ${text}`, width)));
}

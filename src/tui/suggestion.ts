import { visibleWidth, wrapTextWithAnsi } from "@mariozechner/pi-tui";
import { graphemes } from "./internals/measure-text.js";

/** Starts the cell that the cursor is on. */
export const CURSOR_CELL = "\x1b[7m";

/**
 * Draws a suggested prompt, dim, into the lines of an empty editor; the cursor is on its first letter. The keys follow on
 * its last row, or on a row of their own if they do not fit.
 * @param lines border, the row with the cursor, border
 */
export function drawSuggestion(
	[top = "", line = "", ...rest]: readonly string[],
	text: string,
	keys: string,
	{ width, dim }: { width: number; dim(text: string): string },
): string[] {
	const [row = "", ...others] = suggestionRows(text, keys, Math.max(1, width - 2));
	const first = graphemes.segment(row)[Symbol.iterator]().next().value?.segment ?? "";
	const at = line.indexOf(CURSOR_CELL) + CURSOR_CELL.length;
	const drawn = `${line.slice(0, at)}${first}\x1b[0m${dim(row.slice(first.length))}`;
	return [top, drawn, ...others.map((other) => ` ${dim(other)}`), ...rest];
}

/** Draws a dim text after the cursor of an empty editor. A text that does not fit is left out. @param lines as for `drawSuggestion` */
export function drawPlaceholder(
	[top = "", line = "", ...rest]: readonly string[],
	text: string,
	width: number,
	dim: (text: string) => string,
): string[] {
	const at = line.indexOf(CURSOR_CELL);
	if (text === "" || at < 0 || visibleWidth(text) > width - 4) return [top, line, ...rest];
	const end = at + CURSOR_CELL.length + " \x1b[0m".length;
	return [top, `${line.slice(0, end)} ${dim(text)}`, ...rest];
}

function suggestionRows(text: string, keys: string, room: number): string[] {
	const rows = wrapTextWithAnsi(text, room);
	const last = `${rows.at(-1) ?? ""}   ${keys}`;
	return visibleWidth(last) <= room ? [...rows.slice(0, -1), last] : [...rows, ...wrapTextWithAnsi(keys, room)];
}

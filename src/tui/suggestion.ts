import { visibleWidth, wrapTextWithAnsi } from "@mariozechner/pi-tui";
import { graphemes } from "./internals/measure-text.js";
import type { Keymap } from "./keymap.js";
import { visibleControls } from "./safe-line.js";

/** Starts the cell that the cursor is on. */
export const CURSOR_CELL = "\x1b[7m";

/** The keys of a suggestion: the first two send it, the others make it the editor's text. */
const USES = ["app.followUp", "tui.input.submit", "tui.input.tab", "tui.editor.cursorRight"] as const;

/** @returns what a key does with the suggestion of the empty editor */
export function suggestionUse(data: string, keymap: Keymap): (typeof USES)[number] | undefined {
	return USES.find((action) => keymap.matches(data, action));
}

/** How ghost text is drawn. */
interface GhostLook {
	width: number;
	dim(text: string): string;
}

/** Draws the suggestion or, without one, the placeholder into the lines of the empty editor. */
export function drawGhostText(
	lines: readonly string[],
	{ suggestion, placeholder, ...look }: GhostLook & { suggestion: string; placeholder: string },
	keymap: Keymap,
): string[] {
	if (suggestion === "") return drawPlaceholder(lines, placeholder, look);
	const keys = `${keymap.keyOf("tui.input.submit")} sends · ${keymap.keyOf("tui.input.tab")} edits`;
	return drawSuggestion(lines, visibleControls(suggestion), keys, look);
}

/**
 * Draws a suggested prompt, dim, into the lines of an empty editor; the cursor is on its first letter. The keys follow on
 * its last row, or on a row of their own if they do not fit.
 * @param lines border, the row with the cursor, border
 */
function drawSuggestion(
	[top = "", line = "", ...rest]: readonly string[],
	text: string,
	keys: string,
	{ width, dim }: GhostLook,
): string[] {
	const [row = "", ...others] = suggestionRows(text, keys, Math.max(1, width - 2));
	const first = graphemes.segment(row)[Symbol.iterator]().next().value?.segment ?? "";
	const at = line.indexOf(CURSOR_CELL) + CURSOR_CELL.length;
	const drawn = `${line.slice(0, at)}${first}\x1b[0m${dim(row.slice(first.length))}`;
	return [top, drawn, ...others.map((other) => ` ${dim(other)}`), ...rest];
}

/** Draws a dim text after the cursor of an empty editor. A text that does not fit is left out. @param lines as for `drawSuggestion` */
function drawPlaceholder(
	[top = "", line = "", ...rest]: readonly string[],
	text: string,
	{ width, dim }: GhostLook,
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

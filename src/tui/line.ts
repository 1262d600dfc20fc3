import { truncateToWidth, visibleWidth } from "@mariozechner/pi-tui";
import { plural } from "../util/format-amounts.js";
import { revealInvisible } from "../util/reveal.js";
import { joinLines } from "../util/trim.js";

const BLANK = 0x20;

/** Truncates a line to `width` columns. A truncated line ends in `…`, in the style that surrounds the line. */
export function clipLine(line: string, width: number): string {
	if (visibleWidth(line) <= width) return line;
	const cut = truncateToWidth(line, Math.max(0, width), width > 1 ? "…" : "");
	// pi-tui resets styles around the ellipsis even when the line has none, which would end the style around the line.
	return line.includes("\x1b") ? cut : cut.replaceAll("\x1b[0m", "");
}

/**
 * Puts `left` at the start and `right` at the end of a line of `width` columns. When they do not fit, `left` is
 * truncated; when little of it would remain, `right` is omitted.
 */
export function spread(left: string, right: string, width: number): string {
	const room = width - visibleWidth(right) - 2;
	if (!right || room < Math.min(visibleWidth(left), 16)) return clipLine(left, width);
	const cut = clipLine(left, room);
	return cut + " ".repeat(width - visibleWidth(cut) - visibleWidth(right)) + right;
}

/** Turns untrusted text into one line: invisible characters are shown by name, line ends as `↵`. */
export function oneLine(text: string, maxLength = 1_000): string {
	const start = text.length > maxLength ? `${text.slice(0, maxLength)}…` : text;
	return joinLines(revealInvisible(start), " ↵ ").replaceAll("\t", " ");
}

/** Truncates or pads text to exactly `width` columns. */
export function column(text: string, width: number): string {
	const cut = truncateToWidth(text, width, "…");
	return cut + " ".repeat(Math.max(0, width - visibleWidth(cut)));
}

/** @returns number of lines; a final line end starts another one */
export function countLines(text: string): number {
	let lines = 1;
	for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n", at + 1)) lines += 1;
	return lines;
}

/** @returns the line without trailing spaces */
export function withoutBlankEnd(line: string): string {
	let end = line.length;
	while (end > 0 && line.charCodeAt(end - 1) === BLANK) end -= 1;
	return end === line.length ? line : line.slice(0, end);
}

/** The line that replaces lines that do not fit. */
export function moreLines(count: number): string {
	return `… ${plural(count, "more line")}`;
}

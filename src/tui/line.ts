import { truncateToWidth, visibleWidth } from "@mariozechner/pi-tui";
import { revealInvisible } from "../util/reveal.js";

const BLANK = 0x20;

/**
 * One line with `left` at its start and `right` at its end. What is narrow loses `right` first, then the end of `left`.
 * @returns at most `width` columns
 */
export function spread(left: string, right: string, width: number): string {
	const room = width - visibleWidth(right) - 1;
	if (!right || room < Math.min(visibleWidth(left), 12)) return truncateToWidth(left, width, "…");
	const cut = truncateToWidth(left, room, "…");
	return cut + " ".repeat(width - visibleWidth(cut) - visibleWidth(right)) + right;
}

/** Text from outside as one line that hides nothing: invisible characters by name, line ends as `↵`. */
export function oneLine(text: string, maxLength = 1_000): string {
	const start = text.length > maxLength ? `${text.slice(0, maxLength)}…` : text;
	return revealInvisible(start)
		.replace(/\s*\n\s*/g, " ↵ ")
		.replace(/\t/g, " ");
}

/** Text cut or filled with blanks to exactly `width` columns. */
export function column(text: string, width: number): string {
	const cut = truncateToWidth(text, width, "…");
	return cut + " ".repeat(Math.max(0, width - visibleWidth(cut)));
}

/** The line without the blanks at its end. */
export function withoutBlankEnd(line: string): string {
	let end = line.length;
	while (end > 0 && line.charCodeAt(end - 1) === BLANK) end -= 1;
	return end === line.length ? line : line.slice(0, end);
}

import { truncateToWidth, visibleWidth, wrapTextWithAnsi } from "@mariozechner/pi-tui";
import { revealLine } from "../../util/reveal.js";
import { collapseCarriageReturns, sanitize } from "../../util/sanitize.js";

/** Characters of one line that are worth laying out: wrapping costs the square of a line's length. */
const MAX_LINE_LENGTH = 2000;

/** Text from outside as lines that are safe to draw: only colours are left of its control sequences, tabs are blanks. */
export function cleanLines(text: string): string[] {
	const clean = sanitize(collapseCarriageReturns(text), { maxLineLength: MAX_LINE_LENGTH });
	return clean.replace(/\t/g, "   ").split("\n");
}

/** Text from outside as one line with every invisible character shown, for names, subjects and messages. */
export function cleanLine(text: string, maxLength = 500): string {
	return revealLine(text, { maxLength });
}

/** A line that is at most `width` columns wide; one that is cut ends in `…`. */
export function clipLine(line: string, width: number): string {
	if (visibleWidth(line) <= width) return line;
	const cut = truncateToWidth(line, Math.max(0, width), width > 1 ? "…" : "");
	// It resets styles around the ellipsis, also where there were none: the caller's style must go on.
	return line.includes("\x1b") ? cut : cut.replaceAll("\x1b[0m", "");
}

/** Lines wrapped at words, each at most `width` columns. */
export function wrapLines(lines: readonly string[], width: number): string[] {
	const room = Math.max(1, width);
	const wrapped: string[] = [];
	for (const line of lines) {
		if (visibleWidth(line) <= room) wrapped.push(line);
		else for (const part of wrapTextWithAnsi(line, room)) wrapped.push(clipLine(part, room));
	}
	return wrapped;
}

/** One line with `left` and, against the right edge, `right`; where both do not fit the left is cut, then the right left out. */
export function spread(left: string, right: string, width: number): string {
	if (!right) return clipLine(left, width);
	const rightWidth = visibleWidth(right);
	const room = width - rightWidth - 2;
	if (room < Math.min(visibleWidth(left), 16)) return clipLine(left, width);
	const cut = clipLine(left, room);
	return cut + " ".repeat(width - rightWidth - visibleWidth(cut)) + right;
}

/** The same line repeated in a style, from the line's first visible character to its last. */
export function styled(lines: readonly string[], style: (text: string) => string): string[] {
	return lines.map((line) => (line === "" ? line : style(line)));
}

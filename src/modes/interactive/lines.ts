import { visibleWidth, wrapTextWithAnsi } from "@mariozechner/pi-tui";
import { clipLine } from "../../tui/line.js";
import { revealLine } from "../../util/reveal.js";
import { collapseCarriageReturns, sanitize } from "../../util/sanitize.js";

export { clipLine, spread } from "../../tui/line.js";

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

/** The same line repeated in a style, from the line's first visible character to its last. */
export function styled(lines: readonly string[], style: (text: string) => string): string[] {
	return lines.map((line) => (line === "" ? line : style(line)));
}

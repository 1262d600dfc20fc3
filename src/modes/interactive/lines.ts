import { truncateToWidth, visibleWidth, wrapTextWithAnsi } from "@mariozechner/pi-tui";
import { revealLine } from "../../util/reveal.js";
import { collapseCarriageReturns, sanitize } from "../../util/sanitize.js";

/** Maximum characters of a line: the time to wrap a line grows with the square of its length. */
const MAX_LINE_LENGTH = 2000;

/** Splits untrusted text into lines that are safe to draw: removes control sequences except colors and expands tabs. */
export function cleanLines(text: string): string[] {
	const clean = sanitize(collapseCarriageReturns(text), { maxLineLength: MAX_LINE_LENGTH });
	return clean.replace(/\t/g, "   ").split("\n");
}

/** Turns untrusted text into one line with every invisible character made visible, for names, subjects and messages. */
export function cleanLine(text: string, maxLength = 500): string {
	return revealLine(text, { maxLength });
}

/** Cuts a line to at most `width` columns. A cut line ends in `…`. */
export function clipLine(line: string, width: number): string {
	if (visibleWidth(line) <= width) return line;
	const cut = truncateToWidth(line, Math.max(0, width), width > 1 ? "…" : "");
	// truncateToWidth resets styles around the ellipsis even in plain text, which would end the caller's style.
	return line.includes("\x1b") ? cut : cut.replaceAll("\x1b[0m", "");
}

/** Wraps lines at words, each to at most `width` columns. */
export function wrapLines(lines: readonly string[], width: number): string[] {
	const room = Math.max(1, width);
	const wrapped: string[] = [];
	for (const line of lines) {
		if (visibleWidth(line) <= room) wrapped.push(line);
		else for (const part of wrapTextWithAnsi(line, room)) wrapped.push(clipLine(part, room));
	}
	return wrapped;
}

/** One line with `left` and a right-aligned `right`. If both do not fit, cuts `left`, then omits `right`. */
export function spread(left: string, right: string, width: number): string {
	if (!right) return clipLine(left, width);
	const rightWidth = visibleWidth(right);
	const room = width - rightWidth - 2;
	if (room < Math.min(visibleWidth(left), 16)) return clipLine(left, width);
	const cut = clipLine(left, room);
	return cut + " ".repeat(width - rightWidth - visibleWidth(cut)) + right;
}

/** Applies a style to each line that is not empty. */
export function styled(lines: readonly string[], style: (text: string) => string): string[] {
	return lines.map((line) => (line === "" ? line : style(line)));
}

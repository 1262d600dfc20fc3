import { visibleWidth, wrapTextWithAnsi } from "@mariozechner/pi-tui";
import { clipLine } from "../../tui/line.js";
import { withoutLinks } from "../../tui/links.js";
import { ERASE_REST } from "../../tui/safe-line.js";
import { revealLine } from "../../util/reveal.js";
import { collapseCarriageReturns, sanitize, stripAll } from "../../util/sanitize.js";

/**
 * Splits untrusted text into lines that are safe to draw: removes control sequences except colors and expands tabs.
 * Text of a person or a model must not be limited.
 * @param maxLineLength maximum characters of a line; a longer line is truncated and ends in `…`
 */
export function cleanLines(text: string, maxLineLength?: number): string[] {
	const clean = sanitize(collapseCarriageReturns(text), maxLineLength === undefined ? {} : { maxLineLength });
	return clean.replace(/\t/g, "   ").split("\n");
}

/** Turns untrusted text into one line with every invisible character made visible, for names, subjects and messages. */
export function cleanLine(text: string, maxLength = 500): string {
	return revealLine(text, { maxLength });
}

/** A drawn line without styles, links and background. */
export function plainLine(line: string): string {
	return stripAll(withoutLinks(line.replaceAll(ERASE_REST, "")));
}

/** Maximum columns of the name of a machine before the title of a tool, in rows of any width and in narrow rows. */
const MAX_HOST = 24;
const MAX_SHORT_HOST = 10;
/** Rows with fewer columns are narrow. */
const NARROW = 60;

/** The name of the machine on which a command or tool runs, before its title; in a narrow row only its last word. */
export function hostLabel(name: string, width: number): string {
	if (width >= NARROW) return `${cleanLine(name, MAX_HOST)}: `;
	return `${cleanLine(name.trim().split(/\s/).at(-1) ?? name, MAX_SHORT_HOST)}: `;
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

/** Applies a style to each line that is not empty. */
export function styled(lines: readonly string[], style: (text: string) => string): string[] {
	return lines.map((line) => (line === "" ? line : style(line)));
}

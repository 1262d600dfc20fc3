import { CURSOR_MARKER, truncateToWidth, visibleWidth } from "@mariozechner/pi-tui";
import { showCharacter } from "../util/sanitize.js";
import { IMAGE_MARK } from "./terminal-images.js";

/** At the end of a line: gives the rest of the row the background of the styles before it. */
export const ERASE_REST = "\x1b[K";

/** A control character that starts neither a style nor, at the end of the line, the erasure of the rest of the row. */
const FOREIGN = /[\x00-\x1a\x1c-\x1f\x7f-\x9f]|\x1b(?!\[[\d;:]*m|\[K(?:\x1b\[[\d;:]*m)*$)/;
/**
 * Sequences that components may write (styles, links, the marks of cursor and images, and the erasure of the rest of the row at the end
 * of the line), or a control character.
 */
const OWN = new RegExp(
	`\\x1b\\[K(?=(?:\\x1b\\[[\\d;:]*m)*$)|\\x1b\\[[\\d;:]*m|\\x1b\\]8;[^\\x00-\\x1f\\x7f-\\x9f]*(?:\\x07|\\x1b\\\\)|${CURSOR_MARKER}|${IMAGE_MARK}|[\\x00-\\x1f\\x7f-\\x9f]`,
	"g",
);

/**
 * Makes a component's line safe for the terminal: one row of at most `width` columns, without control sequences other
 * than styles, links and marks; control characters become visible ones.
 */
export function safeLine(line: string, width: number): string {
	const safe = FOREIGN.test(line) ? line.replace(/[\r\n]+/g, " ").replace(OWN, showForeign) : line;
	return visibleWidth(safe) > width ? truncateToWidth(safe, width, "…") : safe;
}

function showForeign(found: string): string {
	if (found.length > 1) return found;
	return found === "\t" ? "   " : showCharacter(found);
}

/** A line whose background reaches the end of the row, with blanks instead, so that something can be put over a part of it. */
export function filledRow(line: string, width: number): string {
	if (!line.includes(ERASE_REST)) return line;
	return line.replace(ERASE_REST, " ".repeat(Math.max(0, width - visibleWidth(line))));
}

/** Replaces control characters, except line ends and tabs, with visible ones. */
export function visibleControls(text: string): string {
	return text.replace(/[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]/g, showCharacter);
}

const RESET = "\x1b[m";
const STYLE_RUN = /(?:\x1b\[[\d;:]*m)+/g;
const STYLE = /\x1b\[([\d;:]*)m/g;
const LINK = /\x1b\]8;[^;\x07\x1b]*;([^\x07\x1b]*)(?:\x07|\x1b\\)/g;
const LINK_END = "\x1b]8;;\x07";

/** Kinds of styles, one bit each. A style replaces the previous one of its kind; one code turns it off. */
const FOREGROUND = 1;
const BACKGROUND = 2;
const WEIGHT = 4;
/** Kinds by the code that turns them off. */
const KINDS_BY_END: ReadonlyMap<number, number> = new Map([
	[22, WEIGHT],
	[23, 8],
	[24, 16],
	[25, 32],
	[27, 64],
	[28, 128],
	[29, 256],
	[39, FOREGROUND],
	[49, BACKGROUND],
	[55, 512],
	[59, 1024],
]);
/** Kinds of the codes below 10, from 0 on. */
const KINDS_BY_START = [0, WEIGHT, WEIGHT, 8, 16, 32, 32, 64, 128, 256];
/** Any other style: treated as on until the end of the line. */
const OTHER = 2048;

/**
 * Ends all styles and links that a line leaves on, in as few bytes as possible: where all styles end, one reset replaces
 * the codes that end each of them.
 */
export function sealLine(line: string): string {
	if (!line.includes("\x1b")) return line;
	let on = 0;
	const styled = line.replace(STYLE_RUN, (run) => {
		const before = on;
		for (const [, parameters = ""] of run.matchAll(STYLE)) on = apply(on, parameters);
		if (on !== 0) return run;
		return before === 0 ? "" : RESET;
	});
	const sealed = on === 0 ? styled : styled + RESET;
	const link = sealed.includes("\x1b]8;") ? [...sealed.matchAll(LINK)].at(-1)?.[1] : "";
	return link ? sealed + LINK_END : sealed;
}

/** @returns the kinds that are on after a style sequence */
function apply(on: number, parameters: string): number {
	const codes = parameters.split(";");
	let kinds = on;
	for (let at = 0; at < codes.length; at += 1) {
		const code = Number(codes[at]);
		if (code === 38 || code === 48 || code === 58) {
			kinds |= code === 38 ? FOREGROUND : code === 48 ? BACKGROUND : 1024;
			at += codes[at + 1] === "5" ? 2 : 4;
		} else if (code === 0) kinds = 0;
		else if (code < 10) kinds |= KINDS_BY_START[code] ?? 0;
		else if (KINDS_BY_END.has(code)) kinds &= ~(KINDS_BY_END.get(code) ?? 0);
		else if ((code >= 30 && code < 38) || (code >= 90 && code < 98)) kinds |= FOREGROUND;
		else if ((code >= 40 && code < 48) || (code >= 100 && code < 108)) kinds |= BACKGROUND;
		else kinds |= OTHER;
	}
	return kinds;
}

/** Some terminals send control characters in a paste as keys. */
const CONTROL_KEY = /\x1b\[(\d+);5u/g;

const PASTE = "\x1b[200~";
const PASTE_END = "\x1b[201~";

/** @returns the text of a paste, with line feeds as line ends; null if the input is none */
export function readPaste(data: string): string | null {
	if (!data.startsWith(PASTE) || !data.endsWith(PASTE_END)) return null;
	const pasted = data.slice(PASTE.length, -PASTE_END.length);
	return pasted.replace(CONTROL_KEY, controlCharacter).replace(/\r\n?/g, "\n");
}

/** @returns the control character of a key with Ctrl, or the key itself */
function controlCharacter(key: string, code: string): string {
	return /[a-z]/i.test(String.fromCharCode(Number(code))) ? String.fromCharCode(Number(code) & 0x1f) : key;
}

import type { Theme } from "../../../../tui/theme.js";
import { plural } from "../../../format.js";
import { cleanLines, clipLine, wrapLines } from "../../lines.js";
import { transcriptHint } from "../../transcript-hint.js";
import type { ViewStyle } from "../view.js";

/** Lines of a collapsed output. */
export const PREVIEW_LINES = 6;
/** Maximum lines of an expanded output. */
const MAX_EXPANDED_LINES = 2000;
/** Maximum characters that a preview reads. */
const PREVIEW_CHARACTERS = 20_000;

/** The last lines of an output, below a row that counts the omitted ones. */
export function tailOf(text: string, width: number, style: ViewStyle): string[] {
	const whole = text.trimEnd();
	if (!whole) return [];
	if (style.expanded) return capped(wrapLines(cleanLines(whole), width), style, "above");
	const cut = whole.length > PREVIEW_CHARACTERS ? lastLines(whole) : whole;
	const lines = cleanLines(cut);
	const hidden = countLines(whole) - Math.min(lines.length, PREVIEW_LINES);
	// Show a single extra line instead of a row that counts it.
	const count = hidden === 1 ? PREVIEW_LINES + 1 : PREVIEW_LINES;
	const shown = lines.slice(-count).map((line) => clipLine(line, width));
	return hidden > 1 ? [more(hidden, "above", width, style), ...shown] : shown;
}

/** The first lines of an output, above a row that counts the omitted ones. */
export function headOf(text: string, width: number, style: ViewStyle): string[] {
	const whole = text.trimEnd();
	if (!whole) return [];
	if (style.expanded) return capped(wrapLines(cleanLines(whole), width), style, "below");
	const lines = cleanLines(whole.slice(0, PREVIEW_CHARACTERS));
	return headOfLines(
		lines.map((line) => clipLine(line, width)),
		countLines(whole),
		width,
		style,
	);
}

/** The message of a failed tool. Long lines are wrapped, not cut, because a hint follows at the end. */
export function failureOf(message: string, width: number, style: ViewStyle): string[] {
	const whole = message.trimEnd();
	const text = style.expanded ? whole : whole.slice(0, PREVIEW_CHARACTERS);
	const lines = text ? wrapLines(cleanLines(text), width) : [];
	return style.expanded ? capped(lines, style, "below") : headOfLines(lines, lines.length, width, style);
}

/** Number of shown and omitted lines of `total`. @param preview lines of a collapsed output */
export function shareOf(total: number, style: ViewStyle, preview = PREVIEW_LINES): { shown: number; rest: number } {
	const limit = style.expanded ? MAX_EXPANDED_LINES : preview;
	// Show a single extra line instead of a row that counts it.
	return total <= limit + 1 ? { shown: total, rest: 0 } : { shown: limit, rest: total - limit };
}

/** The first of `total` lines; `lines` contains at least the ones to show. */
function headOfLines(lines: readonly string[], total: number, width: number, style: ViewStyle): string[] {
	const { shown, rest } = shareOf(total, style);
	return rest > 0 ? [...lines.slice(0, shown), more(rest, "below", width, style)] : lines.slice(0, shown);
}

function capped(lines: readonly string[], style: ViewStyle, where: "above" | "below"): string[] {
	if (lines.length <= MAX_EXPANDED_LINES) return [...lines];
	const left = style.theme.dim(`… ${plural(lines.length - MAX_EXPANDED_LINES, "line")} ${where}`);
	return where === "above"
		? [left, ...lines.slice(-MAX_EXPANDED_LINES)]
		: [...lines.slice(0, MAX_EXPANDED_LINES), left];
}

/** The status of a failed command or call, which ends in a mark at the right edge. */
export function failureMark(status: string, theme: Theme): string {
	return theme.error(status ? `${status} ✗` : "✗");
}

/** A row that counts omitted lines. */
export function more(hidden: number, where: "above" | "below", width: number, style: ViewStyle): string {
	const hint = transcriptHint(style);
	return style.theme.dim(clipLine(`… ${plural(hidden, "line")} ${where}${hint && ` · ${hint}`}`, width));
}

function lastLines(text: string): string {
	let start = text.length;
	for (let count = 0; count <= PREVIEW_LINES && start > 0; count++) start = text.lastIndexOf("\n", start - 1);
	return text.slice(Math.max(start + 1, text.length - PREVIEW_CHARACTERS));
}

function countLines(text: string): number {
	let count = 1;
	for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n", at + 1)) count++;
	return count;
}

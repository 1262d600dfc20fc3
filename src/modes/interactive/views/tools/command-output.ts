import { clipLine } from "../../../../tui/line.js";
import { sealLine } from "../../../../tui/safe-line.js";
import type { Theme } from "../../../../tui/theme.js";
import { stripAll } from "../../../../util/sanitize.js";
import { plural } from "../../../format.js";
import { cleanLine, cleanLines, styled, wrapLines } from "../../clean-text.js";
import { transcriptHint } from "../../transcript-hint.js";
import type { ViewStyle } from "../view.js";

/** Lines of a collapsed output. */
export const PREVIEW_LINES = 6;
/** Maximum characters that a preview reads. */
const PREVIEW_CHARACTERS = 20_000;

/** The part of an output that was not kept because the output was too long. */
export interface OutputCut {
	/** Number of lines before the kept ones; null if unknown. */
	lines: number | null;
	/** File with the full output. */
	file: string | undefined;
}

/**
 * The last lines of an output, below a row that counts the omitted ones; all kept lines in an expanded view.
 * @param cut the part before `text`; null if `text` is complete
 * @param styledText the same lines, perhaps more after them, with colors and styles, none of which continues on the next line
 */
export function tailOf(
	text: string,
	width: number,
	style: ViewStyle,
	cut: OutputCut | null = null,
	styledText?: string,
): string[] {
	const whole = text.trimEnd();
	if (!whole) return [];
	const total = countLines(whole);
	if (style.expanded) {
		const rows = wrapLines(withStyles(cleanLines(whole), styledText, total), width);
		return [...(cut ? cutRows(cut, width, style) : []), ...rows.map(sealLine)];
	}
	const lines = cleanLines(whole.length > PREVIEW_CHARACTERS ? lastLines(whole) : whole);
	const hidden = total - Math.min(lines.length, PREVIEW_LINES) + (cut?.lines ?? 0);
	// Show a single extra line instead of a row that counts it.
	const count = hidden === 1 && !cut ? PREVIEW_LINES + 1 : PREVIEW_LINES;
	const shown = withStyles(lines.slice(-count), styledText, total).map((line) => clipLine(line, width));
	if (hidden === 0 || (hidden === 1 && !cut)) return shown;
	return [more(hidden, "above", width, style, cut?.lines === null), ...shown];
}

/**
 * The last lines of an output with their colors and styles. Nothing but these comes from `styledText`, which a session file
 * may contain: a line with another text is ignored.
 * @param total number of lines of the output
 */
function withStyles(lines: readonly string[], styledText: string | undefined, total: number): readonly string[] {
	if (styledText === undefined) return lines;
	const candidates = styledText.split("\n");
	return lines.map((line, at) => {
		const candidate = candidates[total - lines.length + at] ?? "";
		if (candidate.length > PREVIEW_CHARACTERS) return line;
		const [colored = ""] = cleanLines(candidate);
		return stripAll(colored).trimEnd() === line.trimEnd() ? colored : line;
	});
}

/** The first lines of an output, above a row that counts the omitted ones; all lines in an expanded view. */
export function headOf(text: string, width: number, style: ViewStyle): string[] {
	const whole = text.trimEnd();
	if (!whole) return [];
	if (style.expanded) return wrapLines(cleanLines(whole), width);
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
	return headOfLines(lines, lines.length, width, style);
}

/** Number of shown and omitted lines of `total`. @param preview lines of a collapsed output */
export function shareOf(total: number, style: ViewStyle, preview = PREVIEW_LINES): { shown: number; rest: number } {
	// Show a single extra line instead of a row that counts it.
	return style.expanded || total <= preview + 1 ? { shown: total, rest: 0 } : { shown: preview, rest: total - preview };
}

/** The first of `total` lines; `lines` contains at least the ones to show. */
function headOfLines(lines: readonly string[], total: number, width: number, style: ViewStyle): string[] {
	const { shown, rest } = shareOf(total, style);
	return rest > 0 ? [...lines.slice(0, shown), more(rest, "below", width, style)] : lines.slice(0, shown);
}

/** Where an expanded output begins and what is not there. */
function cutRows({ lines, file }: OutputCut, width: number, style: ViewStyle): string[] {
	const missing = lines ? `${plural(lines, "line")} above` : "earlier output";
	const place = file === undefined ? "not saved" : `full output: ${cleanLine(file, 300)}`;
	return styled(wrapLines([`… ${missing} · ${place}`], width), style.theme.dim);
}

/** The status of a failed command or call, which ends in a mark at the right edge. */
export function failureMark(status: string, theme: Theme): string {
	return theme.error(status ? `${status} ✗` : "✗");
}

/** A row that counts omitted lines. @param isMinimum whether there are more that nobody has counted */
export function more(
	hidden: number,
	where: "above" | "below",
	width: number,
	style: ViewStyle,
	isMinimum = false,
): string {
	const hint = transcriptHint(style);
	const count = `${isMinimum ? "more than " : ""}${plural(hidden, "line")}`;
	return style.theme.dim(clipLine(`… ${count} ${where}${hint && ` · ${hint}`}`, width));
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

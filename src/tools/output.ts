import { plural } from "../util/format-amounts.js";
import { collapseCarriageReturns } from "../util/sanitize.js";

/** Maximum size of a tool's output. */
export interface OutputLimits {
	maxLines: number;
	/** Of UTF-8. */
	maxBytes: number;
}

/** CSI; OSC, DCS and similar, up to their terminator or the end of the line; other sequences of two or three characters. */
export const ESCAPE_SEQUENCES =
	/(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]?|(?:\x1b[\]PX^_]|[\x90\x98\x9d-\x9f])[^\x07\x1b\x9c\n]*(?:\x07|\x1b\\|\x9c)?|\x1b[ -/]*[0-~]?/g;

const CONTROLS = /[\x00-\x08\x0b-\x1f\x7f-\x9f]/g;

/** The limits of all built-in tools. */
export const OUTPUT_LIMITS: OutputLimits = { maxLines: 2000, maxBytes: 50 * 1024 };

/** How output was cut: sizes of the complete output, as far as it was read, and of the returned part. */
export interface TruncationResult {
	truncated: boolean;
	truncatedBy: "lines" | "bytes" | null;
	totalLines: number;
	totalBytes: number;
	outputLines: number;
	outputBytes: number;
}

/** A text that was cut to its limits. */
export interface Truncated {
	/** Without the newline at the cut; the complete text if nothing was cut. */
	text: string;
	truncation: TruncationResult;
	/** Not even one line fitted: `text` is part of a line. */
	partialLine: boolean;
	/** `text` with its colors and styles, if they were asked for and it has any. @see styledOutput */
	styled?: string;
}

/**
 * Keeps the start of a text: as many complete lines as fit both limits, or the start of the first line if that does not
 * fit, cut between code points. A line ends with a newline or at the end of the text.
 */
export function truncateHead(text: string, limits: OutputLimits = OUTPUT_LIMITS): Truncated {
	return truncate(text, limits, (totalLines, maxLines) => {
		const byLines = totalLines > maxLines ? startOfLine(text, maxLines) - 1 : text.length;
		const fitting = headFitting(text.slice(0, byLines), limits.maxBytes);
		if (fitting === byLines) return { start: 0, end: byLines };
		// The newline that ends the last line need not fit.
		const lastEnd = text[fitting] === "\n" ? fitting : text.lastIndexOf("\n", fitting - 1);
		return lastEnd > 0 ? { start: 0, end: lastEnd } : { start: 0, end: fitting };
	});
}

/**
 * Keeps the end of a text: as many complete lines as fit both limits, or the end of the last line if that does not fit,
 * cut between code points.
 */
export function truncateTail(text: string, limits: OutputLimits = OUTPUT_LIMITS): Truncated {
	return truncate(text, limits, (totalLines, maxLines) => {
		const byLines = totalLines > maxLines ? startOfLastLines(text, maxLines) : 0;
		const fitting = byLines + tailFitting(text.slice(byLines), limits.maxBytes);
		if (fitting === byLines || text[fitting - 1] === "\n") return { start: fitting, end: text.length };
		const nextStart = text.indexOf("\n", fitting) + 1;
		const hasCompleteLine = nextStart > 0 && nextStart < text.length;
		return { start: hasCompleteLine ? nextStart : fitting, end: text.length };
	});
}

/** Lines at the end of a text that `cutMiddle` keeps: tools end with a summary, or where the complete text is. */
const KEPT_END: OutputLimits = { maxLines: 20, maxBytes: 4 * 1024 };

/**
 * Cuts the middle of a text that exceeds the limits of tools, and says so there.
 * @param next how to get the rest
 * @returns null for a text within the limits
 */
export function cutMiddle(text: string, next: string): string | null {
	const all = truncateHead(text);
	if (!all.truncation.truncated) return null;
	const end = truncateTail(text, KEPT_END);
	// A line that is too long is data, not a summary.
	if (end.partialLine) return `${all.text}\n\n${announceCut("first", all, next)}`;
	const maxLines = OUTPUT_LIMITS.maxLines - end.truncation.outputLines;
	const maxBytes = OUTPUT_LIMITS.maxBytes - end.truncation.outputBytes;
	const start = truncateHead(text.slice(0, text.length - end.text.length), { maxLines, maxBytes });
	const { outputLines, totalLines, outputBytes, totalBytes } = start.truncation;
	const missing = `${plural(totalLines - outputLines, "line")} (${formatBytes(totalBytes - outputBytes)})`;
	return `${start.text}\n\n[Cut: ${missing} here are not shown. ${next}]\n\n${end.text}`;
}

/**
 * Converts a command's output to plain text: without escape sequences, overwritten parts of lines, and control characters
 * other than newline and tab.
 */
export function plainOutput(text: string): string {
	return dropControls(collapseCarriageReturns(text.replace(ESCAPE_SEQUENCES, "")));
}

/** Removes control characters other than newline and tab. */
export function dropControls(text: string): string {
	return text.replace(CONTROLS, "");
}

/** `12 bytes`, `3.4 KB`, `50 KB`, `1.2 MB`, `5 GB`. */
export function formatBytes(bytes: number): string {
	if (bytes < 1024) return plural(bytes, "byte");
	const [amount, unit] =
		bytes < 1024 ** 2
			? [bytes / 1024, "KB"]
			: bytes < 1024 ** 3
				? [bytes / 1024 ** 2, "MB"]
				: [bytes / 1024 ** 3, "GB"];
	return `${Number(amount.toFixed(amount < 10 ? 1 : 0))} ${unit}`;
}

/**
 * A note for the model about a cut.
 * @param which the part that was kept
 * @param next how to get the rest
 */
export function announceCut(which: "first" | "last", { truncation, partialLine }: Truncated, next: string): string {
	const { outputLines, outputBytes, totalLines, totalBytes } = truncation;
	const shown = partialLine
		? `${formatBytes(outputBytes)} of a line`
		: `${outputLines} of ${plural(totalLines, "line")} (${formatBytes(outputBytes)} of ${formatBytes(totalBytes)})`;
	return `[Cut: only the ${which} ${shown} are shown. ${next}]`;
}

/** Number of lines in a text; a final newline starts no further line. */
export function countLines(text: string): number {
	let lines = 0;
	for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n", at + 1)) lines++;
	return text === "" || text.endsWith("\n") ? lines : lines + 1;
}

function truncate(
	text: string,
	{ maxLines, maxBytes }: OutputLimits,
	cut: (totalLines: number, maxLines: number) => { start: number; end: number },
): Truncated {
	const totalLines = countLines(text);
	const totalBytes = Buffer.byteLength(text);
	if (totalLines <= maxLines && totalBytes <= maxBytes) {
		const untouched = { totalLines, totalBytes, outputLines: totalLines, outputBytes: totalBytes };
		return { text, partialLine: false, truncation: { truncated: false, truncatedBy: null, ...untouched } };
	}
	const { start, end } = cut(totalLines, Math.max(maxLines, 1));
	const kept = text.slice(start, end);
	const outputLines = countLines(kept);
	const partialLine =
		(start > 0 && text[start - 1] !== "\n") || (end < text.length && text[end] !== "\n" && text[end - 1] !== "\n");
	const truncatedBy = outputLines >= maxLines && !partialLine ? "lines" : "bytes";
	const outputBytes = Buffer.byteLength(kept);
	return {
		text: kept,
		partialLine,
		truncation: { truncated: true, truncatedBy, totalLines, totalBytes, outputLines, outputBytes },
	};
}

/** Start of the line with this index (0-based); the line must exist. */
function startOfLine(text: string, index: number): number {
	let at = 0;
	for (let line = 0; line < index; line++) at = text.indexOf("\n", at) + 1;
	return at;
}

/** Start of the last `lines` lines; the text must have more. */
function startOfLastLines(text: string, lines: number): number {
	let at = text.endsWith("\n") ? text.length - 1 : text.length;
	for (let line = 0; line < lines; line++) at = text.lastIndexOf("\n", at - 1);
	return at + 1;
}

/** Length of the longest start that fits. */
function headFitting(text: string, maxBytes: number): number {
	if (text.length * 3 <= maxBytes) return text.length;
	return new TextEncoder().encodeInto(text, new Uint8Array(Math.max(maxBytes, 0))).read;
}

/** Start of the longest end that fits. */
function tailFitting(text: string, maxBytes: number): number {
	let bytes = 0;
	let start = text.length;
	while (start > 0) {
		const code = text.charCodeAt(start - 1);
		const isPair = (code & 0xfc00) === 0xdc00 && start > 1 && (text.charCodeAt(start - 2) & 0xfc00) === 0xd800;
		bytes += isPair ? 4 : code < 0x80 ? 1 : code < 0x800 ? 2 : 3;
		if (bytes > maxBytes) break;
		start -= isPair ? 2 : 1;
	}
	return start;
}

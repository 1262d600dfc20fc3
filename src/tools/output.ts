import type { TruncationResult } from "./tool.js";

/** How much of an output a model gets. */
export interface OutputLimits {
	maxLines: number;
	/** Of UTF-8. */
	maxBytes: number;
}

/** The limits of every built-in tool. */
export const OUTPUT_LIMITS: OutputLimits = { maxLines: 2000, maxBytes: 50 * 1024 };

/** What is left of a text, and how it was cut. */
export interface Truncated {
	/** Without the newline at the place of the cut; the whole text when nothing was cut. */
	text: string;
	truncation: TruncationResult;
	/** Not even one whole line fitted: `text` is a piece of a line. */
	partialLine: boolean;
}

/**
 * Keeps the beginning of a text: as many whole lines as fit both limits. When the first line alone is too long its
 * beginning is kept, cut between code points. A line is what a newline ends, or what follows the last one.
 */
export function truncateHead(text: string, limits: OutputLimits = OUTPUT_LIMITS): Truncated {
	return truncate(text, limits, (totalLines, maxLines) => {
		const byLines = totalLines > maxLines ? startOfLine(text, maxLines) - 1 : text.length;
		const fitting = headFitting(text.slice(0, byLines), limits.maxBytes);
		if (fitting === byLines) return { start: 0, end: byLines };
		// A newline right behind the piece ends its last line; it need not fit itself.
		const lastEnd = text[fitting] === "\n" ? fitting : text.lastIndexOf("\n", fitting - 1);
		return lastEnd > 0 ? { start: 0, end: lastEnd } : { start: 0, end: fitting };
	});
}

/**
 * Keeps the end of a text: as many whole lines as fit both limits. When the last line alone is too long its end is
 * kept, cut between code points.
 */
export function truncateTail(text: string, limits: OutputLimits = OUTPUT_LIMITS): Truncated {
	return truncate(text, limits, (totalLines, maxLines) => {
		const byLines = totalLines > maxLines ? startOfLastLines(text, maxLines) : 0;
		const fitting = byLines + tailFitting(text.slice(byLines), limits.maxBytes);
		if (fitting === byLines || text[fitting - 1] === "\n") return { start: fitting, end: text.length };
		const nextStart = text.indexOf("\n", fitting) + 1;
		const hasWholeLine = nextStart > 0 && nextStart < text.length;
		return { start: hasWholeLine ? nextStart : fitting, end: text.length };
	});
}

/** `1 line`, `12 lines`. */
export function count(number: number, noun: string): string {
	return `${number} ${noun}${number === 1 ? "" : noun.endsWith("ch") ? "es" : "s"}`;
}

/** `12 bytes`, `3.4 KB`, `50 KB`, `1.2 MB`. */
export function formatBytes(bytes: number): string {
	if (bytes < 1024) return count(bytes, "byte");
	const [amount, unit] = bytes < 1024 * 1024 ? [bytes / 1024, "KB"] : [bytes / (1024 * 1024), "MB"];
	return `${Number(amount.toFixed(amount < 10 ? 1 : 0))} ${unit}`;
}

/**
 * The sentence that tells a model of a cut: what is shown and, in `next`, how to get the rest.
 * @param which the end that was kept
 */
export function announceCut(which: "first" | "last", { truncation, partialLine }: Truncated, next: string): string {
	const { outputLines, outputBytes, totalLines, totalBytes } = truncation;
	const shown = partialLine
		? `${formatBytes(outputBytes)} of a line`
		: `${outputLines} of ${count(totalLines, "line")} (${formatBytes(outputBytes)} of ${formatBytes(totalBytes)})`;
	return `[Cut: only the ${which} ${shown} are shown. ${next}]`;
}

/** Number of lines of a text; a newline at its end begins no other line. */
export function countLines(text: string): number {
	let lines = 0;
	for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n", at + 1)) lines++;
	return text === "" || text.endsWith("\n") ? lines : lines + 1;
}

/** The longest beginning of `text` that takes at most `maxBytes` of UTF-8 and splits no code point. */
export function cutBytes(text: string, maxBytes: number): string {
	return text.slice(0, headFitting(text, maxBytes));
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

/** Position where the line with this index (from 0) starts; the line must exist. */
function startOfLine(text: string, index: number): number {
	let at = 0;
	for (let line = 0; line < index; line++) at = text.indexOf("\n", at) + 1;
	return at;
}

/** Position where the last `lines` lines start; the text must have more. */
function startOfLastLines(text: string, lines: number): number {
	let at = text.endsWith("\n") ? text.length - 1 : text.length;
	for (let line = 0; line < lines; line++) at = text.lastIndexOf("\n", at - 1);
	return at + 1;
}

/** Length of the longest beginning that fits. */
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
		const isPair = code >= 0xdc00 && code <= 0xdfff && start > 1 && isHighSurrogate(text.charCodeAt(start - 2));
		bytes += isPair ? 4 : code < 0x80 ? 1 : code < 0x800 ? 2 : 3;
		if (bytes > maxBytes) break;
		start -= isPair ? 2 : 1;
	}
	return start;
}

function isHighSurrogate(code: number): boolean {
	return code >= 0xd800 && code <= 0xdbff;
}

import { truncateHead } from "./output.js";
import type { EditToolDetails } from "./tool.js";

/** Default timeout of the search for the shortest diff, ms. */
const MAX_DIFF_MS = 1000;
const CONTEXT_LINES = 3;

interface DiffLine {
	sign: "+" | "-" | " ";
	number: number;
	text: string;
}

/**
 * Compares two texts by line, ignoring line endings and a final newline.
 * @param timeoutMs limit of the search for the shortest diff, which blocks the process; after it, all lines between the
 * common ends count as changed
 */
export async function diffLines(before: string, after: string, timeoutMs = MAX_DIFF_MS): Promise<EditToolDetails> {
	const oldLines = splitLines(before);
	const newLines = splitLines(after);
	const shorter = Math.min(oldLines.length, newLines.length);
	let head = 0;
	while (head < shorter && oldLines[head] === newLines[head]) head++;
	let tail = 0;
	while (tail < shorter - head && oldLines.at(-1 - tail) === newLines.at(-1 - tail)) tail++;

	const changed = await diffMiddle(
		oldLines.slice(head, oldLines.length - tail),
		newLines.slice(head, newLines.length - tail),
		timeoutMs,
	);
	const unchanged = (start: number, end: number) =>
		newLines.slice(start, end).map((text, index): DiffLine => ({ sign: " ", number: start + index + 1, text }));
	const end = newLines.length - tail;
	const lines = [
		...unchanged(Math.max(0, head - CONTEXT_LINES), head),
		...changed.map((line) => ({ ...line, number: line.number + head })),
		...unchanged(end, end + CONTEXT_LINES),
	];
	const width = String(Math.max(oldLines.length, newLines.length)).length + 1;
	return {
		diff: truncateHead(withoutFarLines(lines, width).join("\n")).text,
		added: changed.filter(({ sign }) => sign === "+").length,
		removed: changed.filter(({ sign }) => sign === "-").length,
	};
}

/** Line numbers are 1-based within the given lines. */
async function diffMiddle(oldLines: string[], newLines: string[], timeout: number): Promise<DiffLine[]> {
	const { diffArrays } = await import("diff");
	const changes = diffArrays(oldLines, newLines, { timeout }) ?? [
		{ value: oldLines, added: false, removed: true },
		{ value: newLines, added: true, removed: false },
	];
	let oldNumber = 0;
	let newNumber = 0;
	return changes.flatMap(({ value, added, removed }) =>
		value.map((text): DiffLine => {
			if (!added) oldNumber++;
			if (!removed) newNumber++;
			return { sign: added ? "+" : removed ? "-" : " ", number: removed ? oldNumber : newNumber, text };
		}),
	);
}

/** Omits unchanged lines that are far from changed ones. */
function withoutFarLines(lines: readonly DiffLine[], width: number): string[] {
	const near = new Set<number>();
	for (const [index, { sign }] of lines.entries()) {
		if (sign === " ") continue;
		for (let offset = -CONTEXT_LINES; offset <= CONTEXT_LINES; offset++) near.add(index + offset);
	}
	return lines.flatMap(({ sign, number, text }, index) => {
		if (near.has(index)) return [`${sign}${String(number).padStart(width)} ${text}`];
		return near.has(index - 1) ? [" …"] : [];
	});
}

function splitLines(text: string): string[] {
	const lines = text.split("\n").map((line) => (line.endsWith("\r") ? line.slice(0, -1) : line));
	if (lines.at(-1) === "") lines.pop();
	return lines;
}

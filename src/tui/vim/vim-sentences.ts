import { isBlank, type Lines, lineAt, type Spot } from "./vim-text.js";

function isEmptyLine(lines: Lines, line: number): boolean {
	return lineAt(lines, line).length === 0;
}

/** The empty line after the paragraph of a place. @returns null if the paragraph is the last one */
export function paragraphEnd(lines: Lines, { line }: Spot): Spot | null {
	let at = line;
	while (at < lines.length && isEmptyLine(lines, at)) at += 1;
	while (at < lines.length && !isEmptyLine(lines, at)) at += 1;
	return at < lines.length ? { line: at, col: 0 } : null;
}

/** The empty line before the paragraph of a place. @returns null if the paragraph is the first one */
export function paragraphStart(lines: Lines, { line }: Spot): Spot | null {
	let at = line;
	while (at >= 0 && isEmptyLine(lines, at)) at -= 1;
	while (at >= 0 && !isEmptyLine(lines, at)) at -= 1;
	return at >= 0 ? { line: at, col: 0 } : null;
}

const ENDS: ReadonlySet<string | undefined> = new Set([".", "!", "?"]);
const CLOSERS: ReadonlySet<string | undefined> = new Set([")", "]", '"', "'"]);

/**
 * Where sentences start: behind `.`, `!` or `?` with closing brackets or quotes and a blank or the end of the line, and at the
 * start and the end of each paragraph.
 */
export function sentenceStarts(lines: Lines): Spot[] {
	const starts: Spot[] = [];
	/** Whether a sentence has ended, and the next one starts at the next cell that is not blank. */
	let isDue = true;
	let wasEmpty = false;
	for (const [line, cells] of lines.entries()) {
		if (cells.length === 0) {
			if (!wasEmpty) starts.push({ line, col: 0 });
			wasEmpty = true;
			isDue = true;
			continue;
		}
		wasEmpty = false;
		for (let col = 0; col < cells.length; col += 1) {
			if (isBlank(cells[col])) continue;
			if (isDue) starts.push({ line, col });
			isDue = false;
			if (!ENDS.has(cells[col])) continue;
			let after = col + 1;
			while (CLOSERS.has(cells[after])) after += 1;
			if (after < cells.length && !isBlank(cells[after])) continue;
			isDue = true;
			col = after - 1;
		}
	}
	return starts;
}

/** The start of the next sentence. @returns null if the sentence is the last one */
export function sentenceEnd(lines: Lines, from: Spot): Spot | null {
	return (
		sentenceStarts(lines).find(({ line, col }) => line > from.line || (line === from.line && col > from.col)) ?? null
	);
}

/** The start of the sentence of a place, or of the one before if the place is one. @returns null at the first one */
export function sentenceStart(lines: Lines, from: Spot): Spot | null {
	const isBefore = ({ line, col }: Spot) => line < from.line || (line === from.line && col < from.col);
	return sentenceStarts(lines).findLast(isBefore) ?? null;
}

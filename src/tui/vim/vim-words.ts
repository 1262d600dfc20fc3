import { kindOf, type Lines, lineAt, nextCell, previousCell, type Spot, textEnd } from "./vim-text.js";

function kindAt(lines: Lines, { line, col }: Spot, isBig: boolean): number {
	return kindOf(lineAt(lines, line)[col], isBig);
}

function isEmptyLine(lines: Lines, line: number): boolean {
	return lineAt(lines, line).length === 0;
}

/**
 * The start of the next word; an empty line counts as one.
 * @param staysOnLine stops behind the end of the line if the next word is on another one, as the last step of an operator does
 * @returns the end of the text without a next word; null at the last cell of the text
 */
export function nextWordStart(lines: Lines, from: Spot, isBig: boolean, staysOnLine: boolean): Spot | null {
	const end = textEnd(lines);
	let next = nextCell(lines, from);
	if (!next) return null;
	let at = from;
	const kind = kindAt(lines, from, isBig);
	if (kind !== 0) {
		while (next && next.line === from.line && kindAt(lines, next, isBig) === kind) {
			at = next;
			next = nextCell(lines, at);
		}
		if (!next) return end;
		if (next.line !== from.line && staysOnLine) return { line: from.line, col: lineAt(lines, from.line).length };
	}
	const isFromEmpty = isEmptyLine(lines, from.line);
	if (staysOnLine && isFromEmpty) return next;
	while (kindAt(lines, next, isBig) === 0 && !isEmptyLine(lines, next.line)) {
		const after = nextCell(lines, next);
		if (!after) return end;
		next = after;
	}
	if (staysOnLine && next.line !== from.line) return { line: from.line, col: lineAt(lines, from.line).length };
	return next;
}

/**
 * The last cell of the word that ends after a place.
 * @param stays does not move if the place is the end of a word already, as `cw` does
 * @returns null at the end of the text
 */
export function nextWordEnd(
	lines: Lines,
	from: Spot,
	isBig: boolean,
	stays: boolean,
	stopsAtEmpty = false,
): Spot | null {
	let at: Spot = from;
	if (!stays || kindAt(lines, from, isBig) === 0) {
		const next = stays ? from : nextCell(lines, from);
		if (!next) return null;
		at = next;
	}
	while (kindAt(lines, at, isBig) === 0) {
		if (stopsAtEmpty && isEmptyLine(lines, at.line)) return at;
		const next = nextCell(lines, at);
		if (!next) return at;
		at = next;
	}
	const kind = kindAt(lines, at, isBig);
	while (true) {
		const next = nextCell(lines, at);
		if (!next || next.line !== at.line || kindAt(lines, next, isBig) !== kind) return at;
		at = next;
	}
}

/** The start of the word before a place; an empty line counts as one. @returns null at the start of the text */
export function previousWordStart(lines: Lines, from: Spot, isBig: boolean): Spot | null {
	let at = previousCell(lines, from);
	if (!at) return null;
	while (kindAt(lines, at, isBig) === 0 && !isEmptyLine(lines, at.line)) {
		const before = previousCell(lines, at);
		if (!before) return at;
		at = before;
	}
	return runStart(lines, at, isBig);
}

/** The end of the word before a place; an empty line counts as one. @returns null at the start of the text */
export function previousWordEnd(lines: Lines, from: Spot, isBig: boolean): Spot | null {
	let at = previousCell(lines, from);
	if (!at) return null;
	const kind = kindAt(lines, from, isBig);
	if (kind !== 0) {
		while (at.line === from.line && kindAt(lines, at, isBig) === kind) {
			const before = previousCell(lines, at);
			if (!before) return at;
			at = before;
		}
	}
	while (kindAt(lines, at, isBig) === 0 && !isEmptyLine(lines, at.line)) {
		const before = previousCell(lines, at);
		if (!before) return at;
		at = before;
	}
	return at;
}

/** The first cell of the word, or of the blanks, in which a place is. */
export function runStart(lines: Lines, { line, col }: Spot, isBig: boolean): Spot {
	const kind = kindAt(lines, { line, col }, isBig);
	let start = col;
	while (start > 0 && kindAt(lines, { line, col: start - 1 }, isBig) === kind) start -= 1;
	return { line, col: start };
}

/** The last cell of the word, or of the blanks, in which a place is. */
export function runEnd(lines: Lines, { line, col }: Spot, isBig: boolean): Spot {
	const cells = lineAt(lines, line);
	const kind = kindAt(lines, { line, col }, isBig);
	let end = col;
	while (end + 1 < cells.length && kindAt(lines, { line, col: end + 1 }, isBig) === kind) end += 1;
	return { line, col: end };
}

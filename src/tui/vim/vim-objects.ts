import { bracketObject, isBracketKey, quoteObject, tagObject } from "./vim-blocks.js";
import type { FoundObject } from "./vim-motions.js";
import { sentenceStarts } from "./vim-sentences.js";
import type { VimState } from "./vim-state.js";
import {
	isBefore,
	isBlank,
	isSame,
	kindOf,
	type Lines,
	lineAt,
	nextCell,
	previousCell,
	type Spot,
	textEnd,
} from "./vim-text.js";
import { runEnd, runStart } from "./vim-words.js";

/** The keys after `i` or `a`. */
export const OBJECT_KEYS: ReadonlySet<string> = new Set("wWsp\"'`()b[]{}B<>t");

/** What the keys of a text object ask for. */
export interface ObjectUse {
	key: string;
	isInner: boolean;
	count: number;
	/** The selection that it extends; null: a new part. */
	selected: { from: Spot; to: Spot } | null;
}

/** @returns null where the text has no such object */
export function findObject(state: VimState, use: ObjectUse): FoundObject | null {
	const { key, selected } = use;
	const { lines } = state;
	if (key === "w" || key === "W") return wordObject(lines, state.cursor, { ...use, isBig: key === "W" });
	if (key === "s") return sentenceObject(lines, state.cursor, use);
	if (key === "p") return paragraphObject(lines, state.cursor, use);
	if (key === "t") return tagObject(lines, state.cursor, use, selected ?? undefined);
	if (isBracketKey(key)) {
		if (!selected) return bracketObject(lines, state.cursor, use);
		return largerBracket(lines, selected, use);
	}
	return quoteObject(lines, state.cursor, use);
}

function largerBracket(lines: Lines, selected: { from: Spot; to: Spot }, use: ObjectUse): FoundObject | null {
	let before: FoundObject | null = null;
	for (let extra = 0; ; extra += 1) {
		const found = bracketObject(lines, selected.from, { ...use, count: use.count + extra });
		if (!found || (before && isSame(before.from, found.from))) return null;
		before = found;
		const last = found.kind === "exclusive" ? (previousCell(lines, found.to) ?? found.to) : found.to;
		if (isBefore(found.from, selected.from) || isBefore(selected.to, last)) return found;
	}
}

function wordObject(
	lines: Lines,
	cursor: Spot,
	{
		isInner,
		isBig,
		count,
		selected,
	}: { isInner: boolean; isBig: boolean; count: number; selected: ObjectUse["selected"] },
): FoundObject | null {
	if (selected && isSame(cursor, selected.from)) return wordsBefore(lines, cursor, { isInner, isBig, count }, selected);
	const isBlankAt = ({ line, col }: Spot) => kindOf(lineAt(lines, line)[col], isBig) === 0;
	let from = runStart(lines, cursor, isBig);
	let to = cursor;
	let next: Spot | null = from;
	if (selected) {
		from = selected.from;
		next = nextCell(lines, cursor);
	}
	const startsOnWord = next !== null && !isBlankAt(next);
	for (let done = 0; done < count; done += 1) {
		if (!next) return null;
		const startsBlank = isBlankAt(next);
		to = runEnd(lines, next, isBig);
		if (!isInner) {
			const other = nextCell(lines, to);
			const isSameLine = other?.line === to.line;
			if (startsBlank) {
				if (!other) return null;
				to = runEnd(lines, skipBlanks(lines, other, isBig), isBig);
			} else if (other && isSameLine && isBlankAt(other)) {
				to = runEnd(lines, other, isBig);
			}
		}
		next = nextCell(lines, to);
	}
	if (!isInner && startsOnWord && !isBlankAt(to) && !selected) {
		const before = { line: from.line, col: from.col - 1 };
		if (before.col >= 0 && isBlankAt(before)) {
			const start = runStart(lines, before, isBig);
			if (start.col > 0) from = start;
		}
	}
	return { from, to, kind: "inclusive" };
}

function skipBlanks(lines: Lines, from: Spot, isBig: boolean): Spot {
	let at = from;
	while (kindOf(lineAt(lines, at.line)[at.col], isBig) === 0 && lineAt(lines, at.line).length > 0) {
		const next = nextCell(lines, at);
		if (!next) return at;
		at = next;
	}
	return at;
}

/** Extends a selection whose cursor is at its start: towards the start of the text. */
function wordsBefore(
	lines: Lines,
	cursor: Spot,
	{ isInner, isBig, count }: { isInner: boolean; isBig: boolean; count: number },
	{ from, to }: { from: Spot; to: Spot },
): FoundObject | null {
	let start = cursor;
	for (let done = 0; done < count * (isInner ? 1 : 2); done += 1) {
		const before = previousCell(lines, start);
		if (!before) return done > 0 ? { from: start, to, kind: "inclusive" } : null;
		start = runStart(lines, before, isBig);
	}
	return { from: isBefore(from, start) ? from : start, to, kind: "inclusive" };
}

/** Sentences and the blanks between them. */
function sentenceObject(lines: Lines, cursor: Spot, { isInner, count, selected }: ObjectUse): FoundObject | null {
	const parts = sentenceParts(lines);
	const place =
		selected && !isSame(selected.from, selected.to) ? (nextCell(lines, selected.to) ?? selected.to) : cursor;
	const first = parts.findLastIndex(({ from }) => !isBefore(place, from));
	const part = parts[first];
	if (!part) return null;
	let from = first;
	let last = first + count * (isInner ? 1 : 2) - 1;
	if (!isInner && !part.isBlank && parts[last]?.isBlank !== true) {
		last -= 1;
		if (parts[first - 1]?.isBlank) from -= 1;
	}
	if (!isInner && part.isBlank && !parts[last]) return null;
	const end = parts[Math.min(last, parts.length - 1)];
	const start = parts[from];
	if (!start || !end) return null;
	const isExtended = selected !== null && !isSame(selected.from, selected.to);
	const to = nextCell(lines, end.to) ?? textEnd(lines);
	return { from: isExtended ? selected.from : start.from, to, kind: "exclusive" };
}

interface SentencePart {
	from: Spot;
	/** Its last cell. */
	to: Spot;
	isBlank: boolean;
}

function sentenceParts(lines: Lines): SentencePart[] {
	const starts = sentenceStarts(lines);
	const parts: SentencePart[] = [];
	const [firstStart] = starts;
	if (firstStart && firstStart.col > 0)
		parts.push({
			from: { line: firstStart.line, col: 0 },
			to: previousCell(lines, firstStart) ?? firstStart,
			isBlank: true,
		});
	for (const [index, from] of starts.entries()) {
		const next = starts[index + 1];
		const last = next
			? previousCell(lines, next)
			: { line: lines.length - 1, col: Math.max(0, lineAt(lines, lines.length - 1).length - 1) };
		if (!last) continue;
		let to = last;
		while (isBefore(from, to) && isBlank(lineAt(lines, to.line)[to.col])) to = previousCell(lines, to) ?? from;
		parts.push({ from, to, isBlank: false });
		const blank = nextCell(lines, to);
		if (blank && isBefore(to, last)) parts.push({ from: blank, to: last, isBlank: true });
	}
	return parts;
}

function paragraphObject(lines: Lines, cursor: Spot, { isInner, count, selected }: ObjectUse): FoundObject | null {
	const isBlankLine = (line: number) => lineAt(lines, line).every(isBlank);
	const runLast = (line: number) => {
		let last = line;
		while (last + 1 < lines.length && isBlankLine(last + 1) === isBlankLine(line)) last += 1;
		return last;
	};
	const isExtended = selected !== null && selected.from.line !== selected.to.line;
	let first = isExtended ? selected.to.line + 1 : cursor.line;
	if (first >= lines.length) return null;
	if (!isExtended) while (first > 0 && isBlankLine(first - 1) === isBlankLine(cursor.line)) first -= 1;
	const startsBlank = isBlankLine(first);
	let last = first - 1;
	let hasBlank = false;
	for (let done = 0; done < count * (isInner ? 1 : 2); done += 1) {
		if (last + 1 >= lines.length) {
			// The blank lines after the last paragraph may be missing.
			if (!isInner && !startsBlank && done === count * 2 - 1) break;
			return null;
		}
		if (isBlankLine(last + 1) && !startsBlank) hasBlank = true;
		last = runLast(last + 1);
	}
	if (!isInner && !startsBlank && !hasBlank && !isExtended) while (first > 0 && isBlankLine(first - 1)) first -= 1;
	return { from: { line: isExtended ? selected.from.line : first, col: 0 }, to: { line: last, col: 0 }, kind: "lines" };
}

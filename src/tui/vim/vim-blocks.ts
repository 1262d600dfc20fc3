import type { FoundObject } from "./vim-motions.js";
import {
	type Cells,
	isBefore,
	isBlank,
	isInIndent,
	type Lines,
	lineAt,
	nextCell,
	previousCell,
	type Spot,
} from "./vim-text.js";

const PAIRS: Readonly<Record<string, string>> = {
	"(": ")",
	")": ")",
	b: ")",
	"[": "]",
	"]": "]",
	"{": "}",
	"}": "}",
	B: "}",
	"<": ">",
	">": ">",
};
const OPENERS: Readonly<Record<string, string>> = { ")": "(", "]": "[", "}": "{", ">": "<" };

/** Whether a key, after `i` or `a`, names a block in brackets. */
export function isBracketKey(key: string): boolean {
	return PAIRS[key] !== undefined;
}

/** The block in brackets around a place. @param within the part that it has to be larger than */
export function bracketObject(
	lines: Lines,
	cursor: Spot,
	{ key, isInner, count }: { key: string; isInner: boolean; count: number },
): FoundObject | null {
	const close = PAIRS[key] ?? "";
	const open = OPENERS[close] ?? "";
	const start = openerAround(lines, cursor, open, close, count);
	const end = start && closerAfter(lines, start, open, close);
	if (!start || !end) return null;
	if (!isInner) return { from: start, to: end, kind: "inclusive" };
	return insideOf(lines, start, end);
}

/** The opening bracket of a block around a place; if it is in no block, that of the next one. */
function openerAround(lines: Lines, cursor: Spot, open: string, close: string, count: number): Spot | null {
	const cells = lineAt(lines, cursor.line);
	const first = Math.max(
		0,
		cells.findIndex((cell) => !isBlank(cell)),
	);
	// The indentation before a brace counts as the brace.
	const col = open === "{" && isInIndent(cells, cursor.col) ? first : cursor.col;
	const isOnOpener = cells[col] === open;
	const near = isOnOpener ? { line: cursor.line, col } : openerBefore(lines, cursor, open, close);
	if (!near) return openerAfter(lines, cursor, open, close);
	let start: Spot | null = near;
	for (let depth = count; start && depth > 1; depth -= 1) start = openerBefore(lines, start, open, close);
	return start;
}

function openerAfter(lines: Lines, from: Spot, open: string, close: string): Spot | null {
	let depth = 0;
	for (let at = nextCell(lines, from); at; at = nextCell(lines, at)) {
		const cell = lineAt(lines, at.line)[at.col];
		if (cell === close) depth += 1;
		else if (cell === open && depth === 0) return at;
		else if (cell === open) depth -= 1;
	}
	return null;
}

/** The text between two brackets, without the ends of lines next to them. */
function insideOf(lines: Lines, start: Spot, end: Spot): FoundObject {
	const next = nextCell(lines, start) ?? end;
	const isAtLineEnd = start.col === lineAt(lines, start.line).length - 1;
	const from = isAtLineEnd || isBefore(next, end) ? next : end;
	if (isInIndent(lineAt(lines, end.line), end.col) && end.line > start.line) {
		// A closing bracket on a line of its own: up to the end of the line before.
		let line = end.line - 1;
		while (line > from.line && lineAt(lines, line).length > 0 && lineAt(lines, line).every(isBlank)) line -= 1;
		const to = { line: line + 1, col: 0 };
		return isBefore(from, to) ? { from, to, kind: "exclusive" } : { from, to: from, kind: "exclusive" };
	}
	return { from, to: isBefore(from, end) ? end : from, kind: "exclusive" };
}

function openerBefore(lines: Lines, from: Spot, open: string, close: string): Spot | null {
	let depth = 0;
	for (let at = previousCell(lines, from); at; at = previousCell(lines, at)) {
		const cell = lineAt(lines, at.line)[at.col];
		if (cell === close) depth += 1;
		if (cell === open && depth === 0) return at;
		if (cell === open) depth -= 1;
	}
	return null;
}

function closerAfter(lines: Lines, from: Spot, open: string, close: string): Spot | null {
	let depth = 0;
	for (let at = nextCell(lines, from); at; at = nextCell(lines, at)) {
		const cell = lineAt(lines, at.line)[at.col];
		if (cell === open) depth += 1;
		if (cell === close && depth === 0) return at;
		if (cell === close) depth -= 1;
	}
	return null;
}

/** The quoted text of the line in which a place is, or the next one. */
export function quoteObject(
	lines: Lines,
	{ line, col }: Spot,
	{ key, isInner, count }: { key: string; isInner: boolean; count: number },
): FoundObject | null {
	const cells = lineAt(lines, line);
	const found = cells[col] === key ? pairAround(cells, col, key) : pairNear(cells, col, key);
	if (!found) return null;
	let { start, end } = found;
	if (isInner && count < 2) return { from: { line, col: start + 1 }, to: { line, col: end }, kind: "exclusive" };
	if (!isInner) {
		const closing = end;
		while (isBlank(cells[end + 1])) end += 1;
		if (end === closing) while (isBlank(cells[start - 1])) start -= 1;
	}
	return { from: { line, col: start }, to: { line, col: end }, kind: "inclusive" };
}

function pairAround(cells: Cells, col: number, quote: string): { start: number; end: number } | null {
	let start = cells.indexOf(quote);
	while (start >= 0 && start <= col) {
		const end = nextQuote(cells, start + 1, quote);
		if (end < 0) return null;
		if (col <= end) return { start, end };
		start = cells.indexOf(quote, end + 1);
	}
	return null;
}

function pairNear(cells: Cells, col: number, quote: string): { start: number; end: number } | null {
	let start = col - 1;
	while (start >= 0 && !(cells[start] === quote && !isEscaped(cells, start))) start -= 1;
	if (start < 0) start = nextQuote(cells, col, quote);
	const end = start < 0 ? -1 : nextQuote(cells, start + 1, quote);
	return end < 0 ? null : { start, end };
}

function nextQuote(cells: Cells, from: number, quote: string): number {
	for (let col = from; col < cells.length; col += 1) {
		if (cells[col] === "\\") col += 1;
		else if (cells[col] === quote) return col;
	}
	return -1;
}

function isEscaped(cells: Cells, col: number): boolean {
	let count = 0;
	while (cells[col - 1 - count] === "\\") count += 1;
	return count % 2 === 1;
}

interface Tag {
	name: string;
	isClosing: boolean;
	start: Spot;
	end: Spot;
}

/** The tags around a place, or their content. */
export function tagObject(
	lines: Lines,
	cursor: Spot,
	{ isInner, count }: { isInner: boolean; count: number },
	within?: { from: Spot; to: Spot },
): FoundObject | null {
	const open: Tag[] = [];
	const around: { first: Tag; last: Tag }[] = [];
	for (const tag of tagsOf(lines)) {
		if (!tag.isClosing) open.push(tag);
		else {
			const at = open.findLastIndex(({ name }) => name === tag.name);
			if (at < 0) continue;
			const [first] = open.splice(at);
			if (first && !isBefore(cursor, first.start) && !isBefore(tag.end, cursor)) around.push({ first, last: tag });
		}
	}
	const objects = around.map(({ first, last }): FoundObject => {
		if (!isInner) return { from: first.start, to: last.end, kind: "inclusive" };
		const { line, col } = first.end;
		const isAtEnd = col + 1 >= lineAt(lines, line).length && last.start.line > line;
		const from = isAtEnd ? { line: line + 1, col: 0 } : { line, col: col + 1 };
		return { from, to: isBefore(last.start, from) ? from : last.start, kind: "exclusive" };
	});
	const larger = within
		? objects.filter(({ from, to }) => isBefore(from, within.from) || isBefore(within.to, to))
		: objects;
	return larger[count - 1] ?? null;
}

function tagsOf(lines: Lines): Tag[] {
	const tags: Tag[] = [];
	for (let at: Spot | null = { line: 0, col: 0 }; at; at = nextCell(lines, at)) {
		const cells = lineAt(lines, at.line);
		if (cells[at.col] !== "<") continue;
		const isClosing = cells[at.col + 1] === "/";
		let col = at.col + (isClosing ? 2 : 1);
		let name = "";
		while (col < cells.length && !isBlank(cells[col]) && cells[col] !== ">" && cells[col] !== "/") name += cells[col++];
		if (!/^[A-Za-z]/.test(name)) continue;
		let end: Spot | null = { line: at.line, col };
		while (end && lineAt(lines, end.line)[end.col] !== ">" && lineAt(lines, end.line)[end.col] !== "<")
			end = nextCell(lines, end);
		if (!end || lineAt(lines, end.line)[end.col] === "<") continue;
		if (lineAt(lines, end.line)[end.col - 1] === "/" && !isClosing) continue;
		tags.push({ name, isClosing, start: at, end });
	}
	return tags;
}

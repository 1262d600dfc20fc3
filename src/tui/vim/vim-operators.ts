import type { Motion, MotionKind } from "./vim-motions.js";
import { findObject } from "./vim-objects.js";
import { moveTo, moveToLine, setLines, type VimState } from "./vim-state.js";
import {
	type Cells,
	firstNonBlank,
	inOrder,
	isBefore,
	isBlank,
	isInIndent,
	lineAt,
	replaceLines,
	replaceText,
	type Spot,
	sliceText,
} from "./vim-text.js";

/** A part of the text that an operator works on. Of lines, it is complete lines; else `to` is the place behind it. */
export interface VimRange {
	readonly from: Spot;
	readonly to: Spot;
	readonly isLines: boolean;
}

/** An operator with its operand. */
export interface Operation {
	operator: string;
	range: VimRange;
	/** The named register; empty: none. */
	register: string;
	/** Whether what is removed is always kept in register 1. */
	isLarge?: boolean;
	/** How many steps `>` and `<` shift. */
	shifts?: number;
	isVisual?: boolean;
}

/** The keys of the operators. */
export const OPERATORS: ReadonlySet<string> = new Set(["d", "c", "y", ">", "<", "g~", "gu", "gU"]);

const SHIFT_COLUMNS = 2;

/** The part of the text that an operator with a motion works on. @param from the place that is first in the text */
export function rangeOf(
	state: VimState,
	operator: string,
	[from, end]: readonly [Spot, Spot],
	kind: MotionKind,
): VimRange {
	const { lines } = state;
	if (kind === "lines") return { from, to: end, isLines: true };
	const { length } = lineAt(lines, end.line);
	let to = kind === "inclusive" ? { line: end.line, col: Math.min(length, end.col + 1) } : end;
	const startsInIndent = isInIndent(lineAt(lines, from.line), from.col);
	if (kind === "exclusive" && end.col === 0 && end.line > from.line) {
		// An exclusive motion to the start of a line ends on the line before.
		to = { line: end.line - 1, col: lineAt(lines, end.line - 1).length };
		if (startsInIndent) return { from, to, isLines: true };
	}
	const rest = lineAt(lines, to.line).slice(to.col);
	if (operator === "d" && to.line > from.line && startsInIndent && rest.every(isBlank))
		return { from, to, isLines: true };
	return { from, to, isLines: false };
}

/** Runs an operator. @returns whether the text is now being inserted */
export function operate(state: VimState, operation: Operation): boolean {
	const { operator, range } = operation;
	switch (operator) {
		case "y":
			yank(state, operation);
			return false;
		case "d":
			remove(state, operation);
			return false;
		case "c":
			change(state, operation);
			return true;
		case ">":
		case "<":
			shift(state, range, operator === ">", operation.shifts ?? 1);
			return false;
		default:
			changeCase(state, range, operator.slice(-1));
			return false;
	}
}

function textOf(state: VimState, { from, to, isLines }: VimRange): { lines: Cells[]; isLines: boolean } {
	const lines = isLines ? state.lines.slice(from.line, to.line + 1) : sliceText(state.lines, from, to);
	return { lines: [...lines], isLines };
}

function yank(state: VimState, { range, register, isVisual }: Operation): void {
	state.registers.yank(register, textOf(state, range));
	moveTo(state, isVisual && range.isLines ? { line: range.from.line, col: 0 } : range.from);
}

function keep(state: VimState, { range, register, isLarge = false }: Operation): void {
	const isOnLine = !range.isLines && range.from.line === range.to.line;
	const removal = { name: register, isLarge: isLarge || !isOnLine, isSmall: isOnLine };
	state.registers.remove(removal, textOf(state, range));
}

function isEmpty({ from, to, isLines }: VimRange): boolean {
	return !isLines && !isBefore(from, to);
}

function remove(state: VimState, operation: Operation): void {
	const { range } = operation;
	moveTo(state, range.from);
	if (isEmpty(range)) return;
	keep(state, operation);
	const { from, to } = range;
	if (!range.isLines) {
		setLines(state, replaceText(state.lines, from, to, []));
		return;
	}
	setLines(state, replaceLines(state.lines, from.line, to.line - from.line + 1, []));
	moveToLine(state, Math.min(from.line, state.lines.length - 1));
}

function change(state: VimState, operation: Operation): void {
	const { range } = operation;
	moveTo(state, range.isLines ? { line: range.from.line, col: 0 } : range.from);
	if (isEmpty(range)) return;
	keep(state, operation);
	const { from, to } = range;
	setLines(
		state,
		range.isLines
			? replaceLines(state.lines, from.line, to.line - from.line + 1, [[]])
			: replaceText(state.lines, from, to, []),
	);
}

function shift(state: VimState, { from, to }: VimRange, isRight: boolean, steps: number): void {
	moveTo(state, from);
	const shifted = state.lines.slice(from.line, to.line + 1).map((cells) => {
		const first = cells.findIndex((cell) => !isBlank(cell));
		const indent = first < 0 ? cells : cells.slice(0, first);
		if (cells.length === 0) return cells;
		const width = indent.reduce((sum, cell) => sum + state.widthOf(cell), 0);
		const columns = Math.max(0, width + (isRight ? 1 : -1) * steps * SHIFT_COLUMNS);
		return [...Array.from({ length: columns }, () => " "), ...cells.slice(indent.length)];
	});
	setLines(state, replaceLines(state.lines, from.line, shifted.length, shifted));
	moveToLine(state, from.line);
}

/** Changes the case of a cell: `~` swaps it. */
export function withCase(cell: string, how: string): string {
	if (cell.startsWith("[paste #")) return cell;
	const upper = cell.toUpperCase();
	const lower = cell.toLowerCase();
	const changed = how === "U" ? upper : how === "u" ? lower : cell === lower ? upper : lower;
	// Some characters have no counterpart of one character.
	return [...changed].length === [...cell].length ? changed : cell;
}

function changeCase(state: VimState, range: VimRange, how: string): void {
	const { from, to, isLines } = range;
	moveTo(state, from);
	if (isEmpty(range)) return;
	const changed = textOf(state, range).lines.map((cells) => cells.map((cell) => withCase(cell, how)));
	setLines(
		state,
		isLines
			? replaceLines(state.lines, from.line, changed.length, changed)
			: replaceText(state.lines, from, to, changed),
	);
}

/** What became of a command: it was not possible, it is complete, or text is inserted now. */
export type Outcome = "failed" | "done" | "insert";

/** An operator with what was typed for it. */
export interface Operating {
	operator: string;
	count: number | undefined;
	/** The named register; empty: none. */
	register: string;
}

/** Runs an operator on the text over which a motion moves. */
export function operateMotion(state: VimState, motion: Motion, { operator, count, register }: Operating): Outcome {
	const { cursor } = state;
	const moved = motion.move(state, { count, operator, isVisual: false });
	if (moved === false) return "failed";
	const kind = typeof moved === "string" ? moved : motion.kind;
	const range = rangeOf(state, operator, inOrder(cursor, state.cursor), kind);
	state.cursor = cursor;
	return operate(state, { operator, range, register, isLarge: motion.isLarge ?? false }) ? "insert" : "done";
}

/** Runs an operator on lines, from that of the cursor on. */
export function operateLines(state: VimState, { operator, count = 1, register }: Operating): Outcome {
	const { line, col } = state.cursor;
	const last = state.lines.length - 1;
	if (count > 1 && line === last) return "failed";
	const to = { line: Math.min(last, line + count - 1), col: 0 };
	const isMoved = to.line === line && operator !== "y";
	const from = { line, col: isMoved ? Math.min(col, firstNonBlank(lineAt(state.lines, line))) : col };
	return operate(state, { operator, range: { from, to, isLines: true }, register }) ? "insert" : "done";
}

/** Runs an operator on a text object. */
export function operateObject(
	state: VimState,
	object: { key: string; isInner: boolean },
	{ operator, count = 1, register }: Operating,
): Outcome {
	const found = findObject(state, { ...object, count, selected: null });
	if (!found) return "failed";
	const range = rangeOf(state, operator, [found.from, found.to], found.kind);
	return operate(state, { operator, range, register }) ? "insert" : "done";
}

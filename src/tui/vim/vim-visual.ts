import { joinLines, put, repeatText } from "./vim-edits.js";
import { findObject } from "./vim-objects.js";
import { type Operation, operate, type VimRange } from "./vim-operators.js";
import type { VimRegister } from "./vim-registers.js";
import { keepOnCell, moveTo, moveToLine, type Selection, setLines, type VimState } from "./vim-state.js";
import {
	inOrder,
	isBefore,
	lineAt,
	previousCell,
	replaceLines,
	replaceText,
	type Spot,
	sliceText,
} from "./vim-text.js";

/** The selected text. With `isLines`, complete lines of a selection of characters. */
export function selectedRange(state: VimState, isLines = state.mode === "visualLine"): VimRange {
	const [from, end] = inOrder(state.start, state.cursor);
	const isForward = !isBefore(state.cursor, state.start);
	if (isLines)
		return { from: state.mode === "visualLine" && isForward ? { line: from.line, col: 0 } : from, to: end, isLines };
	const { length } = lineAt(state.lines, end.line);
	if (end.col < length) return { from, to: { line: end.line, col: end.col + 1 }, isLines };
	// Behind the last cell the selection includes the end of the line.
	const hasNext = end.line + 1 < state.lines.length;
	return { from, to: hasNext ? { line: end.line + 1, col: 0 } : { line: end.line, col: length }, isLines };
}

/** The place where each command on a selection finds the same amount of text when it is repeated. */
export function sameAmount(state: VimState, { from, to, isLines }: VimRange, reachesEnd: boolean): () => VimRange {
	const lines = to.line - from.line;
	const cols = lines === 0 ? to.col - from.col : to.col;
	return () => {
		const { cursor } = state;
		const line = Math.min(cursor.line + lines, state.lines.length - 1);
		if (isLines) return { from: cursor, to: { line, col: 0 }, isLines };
		const { length } = lineAt(state.lines, line);
		const col = reachesEnd ? length : Math.min(length, lines === 0 ? cursor.col + cols : cols);
		return { from: cursor, to: { line, col }, isLines };
	};
}

/** The operators of visual mode, by key. `isLines`: on complete lines. */
const OPERATIONS: Readonly<Record<string, { operator: string; isLines?: true }>> = {
	d: { operator: "d" },
	x: { operator: "d" },
	"<del>": { operator: "d" },
	X: { operator: "d", isLines: true },
	D: { operator: "d", isLines: true },
	c: { operator: "c" },
	s: { operator: "c" },
	C: { operator: "c", isLines: true },
	S: { operator: "c", isLines: true },
	R: { operator: "c", isLines: true },
	y: { operator: "y" },
	Y: { operator: "y", isLines: true },
	">": { operator: ">", isLines: true },
	"<": { operator: "<", isLines: true },
	u: { operator: "gu" },
	U: { operator: "gU" },
	"~": { operator: "g~" },
	gu: { operator: "gu" },
	gU: { operator: "gU" },
	"g~": { operator: "g~" },
};

/** A command on a range. @returns whether the text is now being inserted */
export type RangeCommand = (state: VimState, range: VimRange) => boolean;

/** A command of visual mode. */
export interface VisualCommand {
	/** Whether it works on complete lines. */
	isLines: boolean;
	/** Whether `.` repeats it. */
	isChange: boolean;
	run: RangeCommand;
}

/** Finds the command of a key. @param cell the character after `r` */
export function visualCommand(
	key: string,
	{ count, register, cell }: { count: number | undefined; register: string; cell?: string },
): VisualCommand | null {
	const operation = OPERATIONS[key];
	if (operation) {
		const { operator, isLines = false } = operation;
		const more: Omit<Operation, "range"> = { operator, register, isVisual: true, shifts: count ?? 1 };
		return { isLines, isChange: operator !== "y", run: (state, range) => operate(state, { ...more, range }) };
	}
	const change = (run: (state: VimState, range: VimRange) => void, isLines = false): VisualCommand => ({
		isLines,
		isChange: true,
		run: (state, range) => {
			run(state, range);
			return false;
		},
	});
	switch (key) {
		case "J":
		case "gJ":
			return change((state, { from, to }) => {
				if (!joinLines(state, from.line, Math.max(2, to.line - from.line + 1), key === "J")) moveTo(state, from);
			}, true);
		case "r":
			return cell === undefined ? null : change((state, range) => replaceAll(state, range, cell));
		case "p":
		case "P":
			return change((state, range) => putOver(state, range, { register, count: count ?? 1, isKept: key === "P" }));
	}
	return null;
}

/** Replaces each character of a range. */
function replaceAll(state: VimState, { from, to, isLines }: VimRange, cell: string): void {
	moveTo(state, from);
	const old = isLines ? state.lines.slice(from.line, to.line + 1) : sliceText(state.lines, from, to);
	const inserted = old.map((cells) => (cell === "\n" && cells.length > 0 ? [] : cells.map(() => cell)));
	setLines(
		state,
		isLines
			? replaceLines(state.lines, from.line, inserted.length, inserted)
			: replaceText(state.lines, from, to, inserted),
	);
	if (isLines) moveTo(state, { line: from.line, col: 0 });
}

/** Replaces a range with the text of a register, which receives the replaced text unless it `isKept`. */
function putOver(
	state: VimState,
	range: VimRange,
	{ register, count, isKept }: { register: string; count: number; isKept: boolean },
): void {
	const text: VimRegister | undefined = state.registers.read(register);
	const { from, isLines } = range;
	operate(state, { operator: isLines ? "c" : "d", range, register: isKept ? "_" : "", isVisual: true });
	if (!text) {
		if (isLines) {
			setLines(state, replaceLines(state.lines, from.line, 1, []));
			moveToLine(state, Math.min(from.line, state.lines.length - 1));
		}
		return;
	}
	if (isLines) {
		const lines = text.isLines ? repeatText(text.lines, count, true) : repeatText(text.lines, count);
		setLines(state, replaceLines(state.lines, from.line, 1, lines));
		if (text.isLines) moveToLine(state, from.line);
		else moveTo(state, { line: from.line, col: 0 });
		return;
	}
	moveTo(state, from);
	if (!text.isLines) {
		put(state, text, true, count);
		return;
	}
	const lines = [[], ...repeatText(text.lines, count, true), []];
	setLines(state, replaceText(state.lines, from, from, lines));
	moveToLine(state, from.line + 1);
}

/** The place where `I` and `A` insert in visual mode. */
export function insertPlace(state: VimState, { from, to, isLines }: VimRange, isBefore: boolean): Spot {
	if (isLines)
		return isBefore ? { line: from.line, col: 0 } : { line: to.line, col: lineAt(state.lines, to.line).length };
	return isBefore ? from : to;
}

/** Selects a text object, or extends the selection by it. */
export function extendSelection(state: VimState, object: { key: string; isInner: boolean }, count: number): void {
	const [from, to] = inOrder(state.start, state.cursor);
	const isBackwards = isBefore(state.cursor, state.start);
	const isNew = from.line === to.line && from.col === to.col;
	const found = findObject(state, { ...object, count, selected: isNew ? null : { from, to } });
	if (!found || (found.kind === "exclusive" && !isBefore(found.from, found.to))) return;
	const last = found.kind === "exclusive" ? (previousCell(state.lines, found.to) ?? found.to) : found.to;
	if (found.kind !== "lines") state.mode = "visual";
	else {
		state.mode = "visualLine";
		if (from.line === to.line) {
			state.start = { line: found.from.line, col: found.from.line === state.start.line ? state.start.col : 0 };
			moveTo(state, last);
			return;
		}
	}
	const [start, end] = isBackwards && !isNew ? [last, found.from] : [found.from, last];
	state.start = start;
	moveTo(state, end);
}

/** Selects what was selected before. */
export function select(state: VimState, { mode, start, end, want }: Selection): void {
	const inText = ({ line, col }: Spot): Spot => {
		const row = Math.min(line, state.lines.length - 1);
		return { line: row, col: Math.min(col, lineAt(state.lines, row).length) };
	};
	state.mode = mode;
	state.start = inText(start);
	state.cursor = inText(end);
	state.want = want;
}

/** Notes the selection for `gv`. */
export function rememberSelection(state: VimState): void {
	const { mode, start, cursor, want } = state;
	if (mode === "visual" || mode === "visualLine") state.selection = { mode, start, end: cursor, want };
}

export function leaveSelection(state: VimState): void {
	rememberSelection(state);
	state.mode = "normal";
	keepOnCell(state);
}

import { withCase } from "./vim-operators.js";
import type { VimRegister } from "./vim-registers.js";
import { moveTo, moveToLine, setLines, type VimState } from "./vim-state.js";
import { type Cells, endOf, isBlank, lineAt, replaceLines, replaceText, type Spot } from "./vim-text.js";

/** Maximum number of cells that a command inserts, whatever its count. */
const MAX_INSERTED = 100_000;

/** A count that does not make a text longer than an editor can show. */
export function limitedCount(count: number, lines: readonly Cells[]): number {
	const size = lines.reduce((sum, cells) => sum + cells.length + 1, 0);
	return Math.max(1, Math.min(count, Math.floor(MAX_INSERTED / Math.max(1, size))));
}

/** Repeats a text. Of complete lines, it is the lines; else each copy continues on the last line of the one before. */
export function repeatText(lines: readonly Cells[], count: number, isLines = false): Cells[] {
	const copies = limitedCount(count, lines);
	let all: Cells[] = isLines ? [] : [[]];
	for (let done = 0; done < copies; done += 1) {
		all = isLines
			? [...all, ...lines]
			: replaceText(all, endOf({ line: 0, col: 0 }, all), endOf({ line: 0, col: 0 }, all), lines);
	}
	return all;
}

/** Puts a text behind the cursor or, with `P`, before it; lines below or above its line. */
export function put(state: VimState, { lines, isLines }: VimRegister, isBefore: boolean, count: number): void {
	const { line, col } = state.cursor;
	if (isLines) {
		const at = isBefore ? line : line + 1;
		setLines(state, replaceLines(state.lines, at, 0, repeatText(lines, count, true)));
		moveToLine(state, at);
		return;
	}
	const from: Spot = { line, col: isBefore ? col : Math.min(col + 1, lineAt(state.lines, line).length) };
	const inserted = repeatText(lines, count);
	setLines(state, replaceText(state.lines, from, from, inserted));
	const end = endOf(from, inserted);
	moveTo(state, inserted.length > 1 ? from : { line: end.line, col: Math.max(0, end.col - 1) });
}

/** Joins lines, with `J` with a blank between them. @returns false if there are no lines to join */
export function joinLines(state: VimState, line: number, count: number, isSpaced: boolean): boolean {
	if (line + 1 >= state.lines.length) return false;
	const last = Math.min(state.lines.length - 1, line + count - 1);
	let joined = lineAt(state.lines, line);
	let col = 0;
	for (let next = line + 1; next <= last; next += 1) {
		const cells = lineAt(state.lines, next);
		const added = isSpaced
			? cells.slice(
					Math.max(
						0,
						cells.findIndex((cell) => !isBlank(cell)),
					),
				)
			: cells;
		const rest = isSpaced && added.every(isBlank) ? [] : added;
		const needsSpace = isSpaced && rest.length > 0 && rest[0] !== ")" && joined.length > 0 && !isBlank(joined.at(-1));
		col = joined.length;
		joined = [...joined, ...(needsSpace ? [" "] : []), ...rest];
	}
	setLines(state, replaceLines(state.lines, line, last - line + 1, [joined]));
	moveTo(state, { line, col });
	return true;
}

/** Replaces characters with another one, as `r` does. @returns false if the line has fewer */
export function replaceCells(state: VimState, cell: string, count: number): boolean {
	const { line, col } = state.cursor;
	const cells = lineAt(state.lines, line);
	if (col + count > cells.length) return false;
	const isBreak = cell === "\n";
	const inserted = isBreak ? [[], []] : [Array.from({ length: count }, () => cell)];
	setLines(state, replaceText(state.lines, state.cursor, { line, col: col + count }, inserted));
	if (isBreak) moveToLine(state, line + 1);
	else moveTo(state, { line, col: col + count - 1 });
	return true;
}

/** Swaps the case of characters and moves behind them, as `~` does. @returns false in an empty line */
export function swapCase(state: VimState, count: number): boolean {
	const { line, col } = state.cursor;
	const cells = lineAt(state.lines, line);
	if (cells.length === 0) return false;
	const end = Math.min(cells.length, col + count);
	const swapped = cells.slice(col, end).map((cell) => withCase(cell, "~"));
	setLines(state, replaceText(state.lines, state.cursor, { line, col: end }, [swapped]));
	moveTo(state, { line, col: Math.min(end, cells.length - 1) });
	return true;
}

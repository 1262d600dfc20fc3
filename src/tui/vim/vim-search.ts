import type { CharacterSearch, TextSearch, VimState } from "./vim-state.js";
import { type Cells, isBlank, isWordCell, kindOf, type Lines, lineAt, type Spot } from "./vim-text.js";

/**
 * The `count`th occurrence of a character in the line.
 * @param isRepeat `;` and `,`: a search that stops before the character ignores the one next to the cursor
 */
export function findCharacter(
	lines: Lines,
	{ line, col }: Spot,
	{ cell, isForward, stopsBefore }: CharacterSearch,
	count: number,
	isRepeat = false,
): Spot | null {
	const cells = lineAt(lines, line);
	const step = isForward ? 1 : -1;
	let at = col;
	if (isRepeat && stopsBefore && count === 1 && cells[col + step] === cell) at += step;
	for (let found = 0; found < count; found += 1) {
		do at += step;
		while (at >= 0 && at < cells.length && cells[at] !== cell);
		if (at < 0 || at >= cells.length) return null;
	}
	return { line, col: stopsBefore ? at - step : at };
}

/** The `count`th occurrence of a text after, or before, a place; from the end of the text it continues at the start. */
export function findText(lines: Lines, from: Spot, search: TextSearch, count: number): Spot | null {
	const all = lines.flatMap((cells, line) => occurrences(cells, search).map((col) => ({ line, col })));
	if (all.length === 0) return null;
	const isAfter = ({ line, col }: Spot) => line > from.line || (line === from.line && col > from.col);
	const isBefore = ({ line, col }: Spot) => line < from.line || (line === from.line && col < from.col);
	const first = search.isForward ? all.findIndex(isAfter) : all.findLastIndex(isBefore);
	const start = first >= 0 ? first : search.isForward ? 0 : all.length - 1;
	const index = start + (search.isForward ? 1 : -1) * (count - 1);
	return all[((index % all.length) + all.length) % all.length] ?? null;
}

function occurrences(cells: Cells, { cells: sought, isWhole }: TextSearch): number[] {
	const found: number[] = [];
	for (let col = 0; col + sought.length <= cells.length; col += 1) {
		if (sought.some((cell, index) => cells[col + index] !== cell)) continue;
		if (isWhole && (isWordCell(cells[col - 1]) || isWordCell(cells[col + sought.length]))) continue;
		found.push(col);
	}
	return found;
}

/** The search for the word under the cursor or after it, as by `*`: of letters if there is one, else of punctuation. */
export function searchOfWord(state: VimState, isForward: boolean): { search: TextSearch; at: Spot } | null {
	const cells = lineAt(state.lines, state.cursor.line);
	const { col } = state.cursor;
	const isWordAt = (index: number) => isWordCell(cells[index]);
	let start = col;
	if (isWordAt(col)) {
		const kind = kindOf(cells[col]);
		while (start > 0 && kindOf(cells[start - 1]) === kind) start -= 1;
	} else {
		while (start < cells.length && !isWordAt(start)) start += 1;
		if (start === cells.length) {
			start = col;
			while (start < cells.length && isBlank(cells[start])) start += 1;
			if (start === col) while (start > 0 && kindOf(cells[start - 1]) === 1) start -= 1;
		}
	}
	if (start >= cells.length) return null;
	const kind = kindOf(cells[start]);
	let end = start;
	while (end < cells.length && kindOf(cells[end]) === kind) end += 1;
	const search = { cells: cells.slice(start, end), isForward, isWhole: kind > 1 };
	return { search, at: { line: state.cursor.line, col: start } };
}

import { repeatText } from "./vim-edits.js";
import { moveTo, setLines, type VimState } from "./vim-state.js";
import {
	type Cells,
	endOf,
	isBlank,
	kindOf,
	type Lines,
	lineAt,
	previousCell,
	replaceLines,
	replaceText,
	type Spot,
} from "./vim-text.js";

/** What was typed while text was inserted. */
export interface TypedText {
	/** Number of cells before the place of the insert that were deleted; a line end counts as one. */
	readonly erased: number;
	readonly lines: readonly Cells[];
}

/** An insert that has not ended. */
export interface InsertSession {
	/** The text when it began. */
	lines: Lines;
	at: Spot;
	/** How often the typed text is inserted. */
	count: number;
	/** Whether each copy is put on a line of its own, as by `o`. */
	isOnLines: boolean;
}

const LINE_END = "\n";
/** Maximum number of lines that one command opens. */
const MAX_OPENED = 1000;

function flat(lines: Lines): string[] {
	return lines.flatMap((cells, line) => (line === 0 ? [...cells] : [LINE_END, ...cells]));
}

function toLines(cells: readonly string[]): Cells[] {
	const lines: string[][] = [[]];
	for (const cell of cells) cell === LINE_END ? lines.push([]) : lines.at(-1)?.push(cell);
	return lines;
}

/** What was typed in a session that ends with another text. */
export function typedIn({ lines, at }: InsertSession, now: Lines): TypedText {
	const old = flat(lines);
	const text = flat(now);
	const place = flat([...lines.slice(0, at.line), lineAt(lines, at.line).slice(0, at.col)]).length;
	let start = 0;
	while (start < place && start < text.length && old[start] === text[start]) start += 1;
	let end = 0;
	const rest = old.length - place;
	while (end < rest && end < text.length - start && old[old.length - 1 - end] === text[text.length - 1 - end]) end += 1;
	return { erased: place - start, lines: toLines(text.slice(start, text.length - end)) };
}

/** Inserts a typed text at the cursor, which is behind it afterwards. */
export function insertTyped(state: VimState, { erased, lines }: TypedText, count: number): void {
	let from = state.cursor;
	for (let done = 0; done < erased; done += 1) from = backOne(state.lines, from) ?? from;
	const inserted = repeatText(lines, count);
	setLines(state, replaceText(state.lines, from, state.cursor, inserted));
	moveTo(state, endOf(from, inserted));
}

/** Inserts a typed text several times. @param isMore whether it has been inserted once */
export function insertCopies(
	state: VimState,
	typed: TypedText,
	{ isOnLines }: InsertSession,
	count: number,
	isMore = false,
): void {
	if (!isOnLines) {
		const isEmpty = typed.erased === 0 && typed.lines.length === 1 && typed.lines[0]?.length === 0;
		if (!isEmpty) insertTyped(state, typed, count);
		return;
	}
	for (let done = 0; done < Math.min(count, MAX_OPENED); done += 1) {
		if (done > 0 || isMore) {
			const line = state.cursor.line + 1;
			setLines(state, replaceLines(state.lines, line, 0, [[]]));
			moveTo(state, { line, col: 0 });
		}
		insertTyped(state, typed, 1);
	}
}

function backOne(lines: Lines, { line, col }: Spot): Spot | null {
	if (col > 0) return { line, col: col - 1 };
	return line > 0 ? { line: line - 1, col: lineAt(lines, line - 1).length } : null;
}

/** Deletes backwards while text is inserted: a character, the word before the cursor, or all text of the line before it. */
export function eraseBackwards(state: VimState, what: "character" | "word" | "line", at: Spot): void {
	const { line, col } = state.cursor;
	const cells = lineAt(state.lines, line);
	let from: Spot | null;
	if (col === 0 || what === "character") from = backOne(state.lines, state.cursor);
	else {
		let start = what === "line" ? 0 : col;
		if (what === "word") {
			while (start > 0 && isBlank(cells[start - 1])) start -= 1;
			const kind = kindOf(cells[start - 1]);
			while (start > 0 && kind !== 0 && kindOf(cells[start - 1]) === kind) start -= 1;
		} else if (cells.slice(0, col).some((cell) => !isBlank(cell))) {
			// The indentation is kept.
			while (isBlank(cells[start])) start += 1;
		}
		// What was typed in this insert goes first.
		if (at.line === line && at.col < col && at.col > start) start = at.col;
		from = { line, col: start };
	}
	if (!from) return;
	setLines(state, replaceText(state.lines, from, state.cursor, []));
	moveTo(state, from);
}

/** Text that overwrites, as in the mode of `R`. */
export class Overwriting {
	/** What each typed cell replaced; null: nothing, it was added. */
	readonly #replaced: (string | null)[] = [];
	readonly #typed: string[] = [];

	/** What was typed, to be repeated. */
	get lines(): readonly Cells[] {
		return toLines(this.#typed);
	}

	/** Types a text several times. */
	replay(state: VimState, lines: readonly Cells[], count: number): void {
		for (let done = 0; done < Math.min(count, MAX_OPENED); done += 1) {
			for (const cell of flat(lines)) this.type(state, cell);
		}
	}

	type(state: VimState, cell: string): void {
		const { line, col } = state.cursor;
		const old = cell === LINE_END ? undefined : lineAt(state.lines, line)[col];
		const to = old === undefined ? state.cursor : { line, col: col + 1 };
		const inserted = cell === LINE_END ? [[], []] : [[cell]];
		setLines(state, replaceText(state.lines, state.cursor, to, inserted));
		moveTo(state, endOf(state.cursor, inserted));
		this.#replaced.push(old ?? null);
		this.#typed.push(cell);
	}

	/** Restores the cell that was replaced last; before all typed ones, only moves. */
	back(state: VimState): void {
		if (this.#typed.pop() === undefined) {
			moveTo(state, previousCell(state.lines, state.cursor) ?? state.cursor);
			return;
		}
		const old = this.#replaced.pop() ?? null;
		const from = backOne(state.lines, state.cursor) ?? state.cursor;
		setLines(state, replaceText(state.lines, from, state.cursor, [old === null ? [] : [old]]));
		moveTo(state, from);
	}

	/** Restores the cells that the last typed word replaced. */
	backWord(state: VimState): void {
		const isTyped = (test: (cell: string) => boolean) => {
			const last = this.#typed.at(-1);
			return last !== undefined && test(last);
		};
		while (isTyped(isBlank)) this.back(state);
		const kind = kindOf(this.#typed.at(-1));
		while (isTyped((cell) => kindOf(cell) === kind)) this.back(state);
	}
}

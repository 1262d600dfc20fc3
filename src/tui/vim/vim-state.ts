import { type VimRegister, VimRegisters } from "./vim-registers.js";
import { type Cells, firstNonBlank, type Lines, lineAt, type Spot } from "./vim-text.js";

/** What keys do: `normal` includes the keys that an operator waits for. */
export type VimMode = "normal" | "insert" | "replace" | "visual" | "visualLine";

/** A search for characters of a line, as by `f`. */
export interface CharacterSearch {
	readonly cell: string;
	readonly isForward: boolean;
	/** Stops one cell before it, as `t` does. */
	readonly stopsBefore: boolean;
}

/** A search in the text, as by `/`. */
export interface TextSearch {
	readonly cells: Cells;
	readonly isForward: boolean;
	/** Finds whole words only, as `*` does. */
	readonly isWhole: boolean;
}

/** A selection as `gv` restores it. */
export interface Selection {
	readonly mode: "visual" | "visualLine";
	readonly start: Spot;
	readonly end: Spot;
	readonly want: number;
}

/** A text that is edited with the keys of vim. */
export interface VimState {
	lines: Lines;
	cursor: Spot;
	/** The column, on the screen, that vertical motions aim at; Infinity: the end of each line. */
	want: number;
	mode: VimMode;
	/** Where the selection starts; its other end is the cursor. */
	start: Spot;
	/** The last selection. */
	selection: Selection | null;
	registers: VimRegisters;
	characterSearch: CharacterSearch | null;
	textSearch: TextSearch | null;
	/** Where the cursor was when the command began to change the text; null: it has not. */
	changedAt: Spot | null;
	/** Where the last insert ended; `gi` continues there. */
	insertedAt: Spot | null;
	/** @returns how many columns a cell has on the screen */
	widthOf: (cell: string) => number;
}

/** Changes the text. */
export function setLines(state: VimState, lines: Lines): void {
	state.changedAt ??= state.cursor;
	state.lines = lines;
}

/** Moves the cursor, and the column that vertical motions aim at. */
export function moveTo(state: VimState, spot: Spot): void {
	state.cursor = spot;
	state.want = screenColumn(state, spot);
}

/** @returns the column on the screen of a place */
export function screenColumn(state: VimState, { line, col }: Spot): number {
	return lineAt(state.lines, line)
		.slice(0, col)
		.reduce((width, cell) => width + state.widthOf(cell), 0);
}

/** @returns the cell of a line that is at the column that vertical motions aim at; in a selection, that may be its end */
export function wantedColumn(state: VimState, line: number, isVisual = false): number {
	const cells = lineAt(state.lines, line);
	let width = 0;
	for (const [col, cell] of cells.entries()) {
		width += state.widthOf(cell);
		if (width > state.want) return col;
	}
	return isVisual ? cells.length : Math.max(0, cells.length - 1);
}

/** Keeps the cursor on a cell, as all modes but insert do. In visual mode it may be behind the last one. */
export function keepOnCell(state: VimState): void {
	const line = Math.min(Math.max(0, state.cursor.line), state.lines.length - 1);
	const { length } = lineAt(state.lines, line);
	const col = Math.max(0, Math.min(state.cursor.col, length - 1));
	if (line === state.cursor.line && col === state.cursor.col) return;
	state.cursor = { line, col };
	if (state.want !== Number.POSITIVE_INFINITY) state.want = screenColumn(state, state.cursor);
}

/** Moves the cursor to the first cell of a line that is not blank. */
export function moveToLine(state: VimState, line: number): void {
	moveTo(state, { line, col: firstNonBlank(lineAt(state.lines, line)) });
}

/** What the engine needs of the editor. */
export interface VimEngineOptions {
	/** Splits a text into cells. */
	split: (text: string) => readonly string[];
	/** @returns how many columns a cell has on the screen */
	widthOf: (cell: string) => number;
	/** Receives what is yanked or deleted into the register of the clipboard. */
	onCopy?: (register: VimRegister) => void;
}

/** A state in insert mode, before the first key. */
export function createVimState(lines: Lines, options: Pick<VimEngineOptions, "widthOf" | "onCopy">): VimState {
	return {
		lines,
		cursor: { line: 0, col: 0 },
		want: 0,
		mode: "insert",
		start: { line: 0, col: 0 },
		selection: null,
		registers: new VimRegisters(options.onCopy),
		characterSearch: null,
		textSearch: null,
		changedAt: null,
		insertedAt: null,
		widthOf: options.widthOf,
	};
}

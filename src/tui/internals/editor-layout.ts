import { assertMembers } from "./members.js";

/** The private members of `Editor` that place its cursor and its rows. */
interface LayoutMembers {
	state: { cursorLine: number };
	scrollOffset: number;
	lastWidth: number;
	setCursorCol(col: number): void;
	segment(text: string, mode: "grapheme"): Iterable<Intl.SegmentData>;
	buildVisualLineMap(width: number): EditorRow[];
}

/** A row of an editor: a part of one of its lines. Both numbers from 0, in UTF-16 units. */
export interface EditorRow {
	readonly logicalLine: number;
	readonly startCol: number;
	readonly length: number;
}

/** The cells and rows of an editor. */
export interface EditorLayout {
	/** Splits a line into graphemes; a paste mark is one of them. */
	cells(line: string): string[];
	placeCursor(line: number, col: number): void;
	/**
	 * The cursor's line and cell, both from 0. Behind the last cell of a line, the number of its cells.
	 * @param lines the cells of the editor's lines
	 */
	cursor(lines: readonly (readonly string[])[]): { line: number; col: number };
	/** The rows as they were drawn last, from the first one that is shown. */
	rows(): EditorRow[];
}

/** @throws TypeError in another version of pi-tui */
export function editorLayout(editor: { getCursor(): { line: number; col: number } }): EditorLayout {
	assertMembers<LayoutMembers>(editor, "Editor", {
		state: "object",
		scrollOffset: "number",
		lastWidth: "number",
		setCursorCol: "function",
		segment: "function",
		buildVisualLineMap: "function",
	});
	return {
		cells: (line) => Array.from(editor.segment(line, "grapheme"), ({ segment }) => segment),
		placeCursor: (line, col) => {
			editor.state.cursorLine = line;
			editor.setCursorCol(col);
		},
		cursor: (lines) => {
			const { line, col } = editor.getCursor();
			let length = 0;
			const cells = lines[line] ?? [];
			const at = cells.findIndex((cell) => {
				length += cell.length;
				return length > col;
			});
			return { line, col: at < 0 ? cells.length : at };
		},
		rows: () => editor.buildVisualLineMap(editor.lastWidth).slice(editor.scrollOffset),
	};
}

import { joinLines, put, replaceCells, swapCase } from "./vim-edits.js";
import { setLines, type VimState } from "./vim-state.js";
import { firstNonBlank, isBlank, lineAt, replaceLines, type Spot } from "./vim-text.js";

/** Commands that are short for an operator with a motion. */
export const SHORT: Readonly<Record<string, readonly [operator: string, motion: string]>> = {
	x: ["d", "l"],
	"<del>": ["d", "l"],
	X: ["d", "h"],
	D: ["d", "$"],
	C: ["c", "$"],
	s: ["c", "l"],
};
/** Commands that are short for an operator on lines. */
export const SHORT_LINES: Readonly<Record<string, string>> = { S: "c", Y: "y" };

/** Keys of commands of two keys that a prompt does not have: marks, macros, windows and folds. */
export const IGNORED: ReadonlySet<string> = new Set(["Z", "z", "m", "'", "`", "q", "@", "[", "]"]);

/** Where text is inserted, and whether on a line of its own. */
interface InsertCommand {
	at(state: VimState): Spot;
	opensLine?: true;
}

/** Commands that begin an insert. */
export const INSERTS: Readonly<Record<string, InsertCommand>> = {
	i: { at: ({ cursor }) => cursor },
	R: { at: ({ cursor }) => cursor },
	a: { at: (state) => ({ line: state.cursor.line, col: Math.min(lineOf(state).length, state.cursor.col + 1) }) },
	A: { at: (state) => ({ line: state.cursor.line, col: lineOf(state).length }) },
	I: {
		at: (state) => {
			const cells = lineOf(state);
			return { line: state.cursor.line, col: cells.every(isBlank) ? cells.length : firstNonBlank(cells) };
		},
	},
	gI: { at: ({ cursor }) => ({ line: cursor.line, col: 0 }) },
	gi: {
		at: ({ lines, cursor, insertedAt }) => {
			const { line, col } = insertedAt ?? cursor;
			const row = Math.min(line, lines.length - 1);
			return { line: row, col: Math.min(col, lineAt(lines, row).length) };
		},
	},
	o: { at: ({ cursor }) => ({ line: cursor.line + 1, col: 0 }), opensLine: true },
	O: { at: ({ cursor }) => ({ line: cursor.line, col: 0 }), opensLine: true },
};

function lineOf({ lines, cursor }: VimState): readonly string[] {
	return lineAt(lines, cursor.line);
}

/** Opens an empty line. */
export function openLine(state: VimState, line: number): void {
	setLines(state, replaceLines(state.lines, line, 0, [[]]));
}

/** Finds a command that changes the text without a motion. @param cell the character after `r` @returns null if the key is none */
export function editCommand(
	key: string,
	{ register, cell }: { register: string; cell: string | undefined },
): ((state: VimState, count: number | undefined) => boolean) | null {
	switch (key) {
		case "r":
			return cell === undefined ? null : (state, count = 1) => replaceCells(state, cell, count);
		case "~":
			return (state, count = 1) => swapCase(state, count);
		case "J":
		case "gJ":
			return (state, count = 2) => joinLines(state, state.cursor.line, Math.max(2, count), key === "J");
		case "p":
		case "P":
			return (state, count = 1) => {
				const text = state.registers.read(register);
				if (text) put(state, text, key === "P", count);
				return text !== undefined;
			};
	}
	return null;
}

/** A line as the characters that a person sees: a folded paste is one of them. */
export type Cells = readonly string[];

/** A text as its lines: at least one. */
export type Lines = readonly Cells[];

/** A place in a text, both numbers from 0. `col` counts cells; that behind the last cell is the length of the line. */
export interface Spot {
	readonly line: number;
	readonly col: number;
}

/** The cells of a line; empty for a line that does not exist. */
export function lineAt(lines: Lines, line: number): Cells {
	return lines[line] ?? [];
}

export function isBefore(one: Spot, other: Spot): boolean {
	return one.line < other.line || (one.line === other.line && one.col < other.col);
}

export function isSame(one: Spot, other: Spot): boolean {
	return one.line === other.line && one.col === other.col;
}

/** @returns both, the first in the text first */
export function inOrder(one: Spot, other: Spot): [Spot, Spot] {
	return isBefore(other, one) ? [other, one] : [one, other];
}

export function isBlank(cell: string | undefined): boolean {
	return cell === " " || cell === "\t";
}

/** @returns the column of the first cell that is not blank; in a blank line, of the last cell */
export function firstNonBlank(cells: Cells): number {
	const at = cells.findIndex((cell) => !isBlank(cell));
	return at < 0 ? Math.max(0, cells.length - 1) : at;
}

/** Whether only blanks are before a column, which may itself be blank. */
export function isInIndent(cells: Cells, col: number): boolean {
	const first = cells.findIndex((cell) => !isBlank(cell));
	return (first < 0 ? cells.length : first) >= col;
}

/** @returns the text between two places, `to` excluded, as its lines */
export function sliceText(lines: Lines, from: Spot, to: Spot): Cells[] {
	if (from.line === to.line) return [lineAt(lines, from.line).slice(from.col, to.col)];
	return [
		lineAt(lines, from.line).slice(from.col),
		...lines.slice(from.line + 1, to.line),
		lineAt(lines, to.line).slice(0, to.col),
	];
}

/** @returns the text with the part between two places replaced, `to` excluded */
export function replaceText(lines: Lines, from: Spot, to: Spot, inserted: Lines): Cells[] {
	const before = lineAt(lines, from.line).slice(0, from.col);
	const after = lineAt(lines, to.line).slice(to.col);
	const [first = [], ...rest] = inserted;
	const last = rest.pop();
	const middle = last ? [[...before, ...first], ...rest, [...last, ...after]] : [[...before, ...first, ...after]];
	return [...lines.slice(0, from.line), ...middle, ...lines.slice(to.line + 1)];
}

/** @returns the text with `count` lines from `line` on replaced; an empty text is one empty line */
export function replaceLines(lines: Lines, line: number, count: number, inserted: Lines): Cells[] {
	const replaced = [...lines.slice(0, line), ...inserted, ...lines.slice(line + count)];
	return replaced.length > 0 ? replaced : [[]];
}

/** @returns the place behind an inserted text */
export function endOf(from: Spot, inserted: Lines): Spot {
	const last = inserted.at(-1) ?? [];
	if (inserted.length <= 1) return { line: from.line, col: from.col + last.length };
	return { line: from.line + inserted.length - 1, col: last.length };
}

/** The last place of a text, behind its last cell. */
export function textEnd(lines: Lines): Spot {
	return { line: lines.length - 1, col: lineAt(lines, lines.length - 1).length };
}

/** @returns the next cell of the text, line ends left out; an empty line counts as a cell. null at the last one */
export function nextCell(lines: Lines, { line, col }: Spot): Spot | null {
	if (col + 1 < lineAt(lines, line).length) return { line, col: col + 1 };
	return line + 1 < lines.length ? { line: line + 1, col: 0 } : null;
}

/** @returns the previous cell of the text, as `nextCell` counts them; null at the first one */
export function previousCell(lines: Lines, { line, col }: Spot): Spot | null {
	if (col > 0) return { line, col: col - 1 };
	return line > 0 ? { line: line - 1, col: Math.max(0, lineAt(lines, line - 1).length - 1) } : null;
}

const CLASSES: readonly [RegExp, number][] = [
	[/^[ \t\xa0\u2000-\u200b\u3000]/, 0],
	[/^[\w\xc0-\xff]/, 2],
	[/^\p{Emoji_Presentation}/u, 3],
	[/^\p{Script=Hiragana}/u, 4],
	[/^\p{Script=Katakana}/u, 5],
	[/^\p{Script=Han}/u, 6],
	[/^\p{Script=Hangul}/u, 7],
	[/^[\p{P}\p{S}\x00-\xbf]/u, 1],
];
const FOLDED = 8;

/** The kind of a cell: words are cells of one kind; 0 is blank, 1 punctuation. @param isBig WORDS: all that is not blank is of one kind */
export function kindOf(cell: string | undefined, isBig = false): number {
	if (cell === undefined || isBlank(cell)) return 0;
	const kind = cell.startsWith("[paste #") ? FOLDED : (CLASSES.find(([pattern]) => pattern.test(cell))?.[1] ?? 2);
	return isBig ? Math.min(1, kind) : kind;
}

/** Whether a cell belongs to a word of letters, such as those that `*` looks for. */
export function isWordCell(cell: string | undefined): boolean {
	return kindOf(cell) > 1;
}

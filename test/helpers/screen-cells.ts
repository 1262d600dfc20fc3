import type headless from "@xterm/headless";
import type { Rgb } from "../../src/themes/color.js";

/** A character of the screen with its style. A color is null for the terminal's own, the number of a palette color, or RGB. */
export interface Cell {
	/** Empty in the second column of a wide character. */
	text: string;
	color: number | Rgb | null;
	background: number | Rgb | null;
	isDim: boolean;
	isInverse: boolean;
}

/** The visible rows of a terminal as cells. */
export function screenCells({ buffer: { active }, rows, cols }: headless.Terminal): Cell[][] {
	return Array.from({ length: rows }, (_, row) => {
		const line = active.getLine(active.baseY + row);
		if (!line) throw new Error(`No row ${row}`);
		return cellsOf(line, cols);
	});
}

function cellsOf(line: headless.IBufferLine, columns: number): Cell[] {
	return Array.from({ length: columns }, (_, column) => {
		const cell = line.getCell(column);
		if (!cell) throw new Error(`No cell in column ${column}`);
		return {
			text: cell.getChars(),
			color: cell.isFgDefault() ? null : colorOf(cell.getFgColor(), cell.isFgRGB()),
			background: cell.isBgDefault() ? null : colorOf(cell.getBgColor(), cell.isBgRGB()),
			isDim: cell.isDim() !== 0,
			isInverse: cell.isInverse() !== 0,
		};
	});
}

/** Whether a cell is a bar of the gutter: a colored blank next to one without a color. */
export function isBar(cells: readonly Cell[], column: number): boolean {
	const [bar, next] = cells.slice(column);
	return bar?.text === " " && bar.background !== null && next?.background === null;
}

/**
 * A row as text, without trailing blanks that were never written. The bar of the gutter is shown as `▎`: it is a colored blank,
 * which text cannot show. In the transcript it is in the first column, in the pager after the pointer.
 */
export function rowText(line: headless.IBufferLine | undefined): string {
	if (!line) return "";
	const text = line.translateToString(true);
	const cells = cellsOf(line, Math.min(3, line.length));
	const at = [0, 1].find((column) => isBar(cells, column));
	return at === undefined ? text : `${text.slice(0, at)}▎${text.slice(at + 1)}`;
}

function colorOf(value: number, isRgb: boolean): number | Rgb {
	return isRgb ? [value >> 16, (value >> 8) & 0xff, value & 0xff] : value;
}

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

/**
 * A row as text, without trailing blanks that were never written. The bar of the gutter is shown as `▎`: it is a colored blank,
 * which text cannot show. In the transcript it is in the first column, in the pager after the pointer. A cursor has no color.
 */
export function rowText(line: headless.IBufferLine | undefined): string {
	const text = line?.translateToString(true) ?? "";
	const at = [0, 1].find((column) => isBar(line?.getCell(column)));
	return at === undefined ? text : `${text.slice(0, at)}▎${text.slice(at + 1)}`;
}

function isBar(cell: headless.IBufferCell | undefined): boolean {
	return cell?.getChars() === " " && cell.isInverse() !== 0 && !cell.isFgDefault();
}

function colorOf(value: number, isRgb: boolean): number | Rgb {
	return isRgb ? [value >> 16, (value >> 8) & 0xff, value & 0xff] : value;
}

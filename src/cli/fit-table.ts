import { clipMiddle } from "../util/clip-middle.js";

/** Columns between two cells. */
const GAP = 2;

export interface FitOptions {
	/** Columns of the terminal; undefined: any number fits. */
	columns: number | undefined;
	/** Headings of columns that may be omitted, the least important one first. */
	omitted: readonly string[];
	/** Heading of the column whose cells are then cut in the middle. */
	cut: string;
}

/**
 * Fits a table into a terminal. A column is omitted completely, and which ones does not depend on what is in the others.
 * @param table rows of equal length, the headings first
 * @returns `left`: the headings of the omitted columns
 */
export function fitTable(
	table: readonly (readonly string[])[],
	{ columns = Number.MAX_SAFE_INTEGER, omitted, cut }: FitOptions,
): { table: string[][]; left: string[] } {
	const [headings = []] = table;
	const widths = headings.map((_, column) => Math.max(0, ...table.map((row) => row[column]?.length ?? 0)));
	const left: string[] = [];
	const isKept = (column: number) => !left.includes(headings[column] ?? "");
	const excess = () => widths.reduce((sum, width, column) => sum + (isKept(column) ? width + GAP : 0), -GAP) - columns;
	for (const heading of omitted) if (excess() > 0 && headings.includes(heading)) left.push(heading);
	const cutColumn = headings.indexOf(cut);
	const room = (widths[cutColumn] ?? 0) - Math.max(0, excess());
	const cells = (row: readonly string[]) =>
		row.map((cell, column) => (column === cutColumn ? clipMiddle(cell, Math.max(cut.length, room)) : cell));
	return { table: table.map((row) => cells(row).filter((_, column) => isKept(column))), left };
}

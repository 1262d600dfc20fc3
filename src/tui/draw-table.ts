import { visibleWidth, wrapTextWithAnsi } from "@mariozechner/pi-tui";
import type { Tokens } from "marked";
import { withoutBlankEnd } from "./line.js";
import { sealLine } from "./safe-line.js";
import type { Style } from "./theme.js";

/** Columns between two cells. */
const GAP = 2;
/** Longer words are broken to fit into a cell. Columns. */
const MAX_WORD_WIDTH = 16;
/** Indent of the lines that a listed cell wraps into. */
const HANG = "  ";

/** How the parts of a table are drawn. */
interface TableDrawing {
	/** @returns styled text of a cell */
	cell(cell: Tokens.TableCell): string;
	head: Style;
	rule: Style;
}

/**
 * Draws a table with its columns aligned and a rule under its head. If the words do not fit next to each other, each row
 * becomes a list of cells after the names of their columns.
 * @returns lines of at most `width` columns
 */
export function drawTable(table: Tokens.Table, width: number, drawing: TableDrawing): string[] {
	const head = table.header.map((cell) => drawing.head(drawing.cell(cell)));
	const rows = table.rows.map((row) => row.map(drawing.cell));
	const widths = columnWidths([head, ...rows], width);
	if (!widths) return listed(head, rows, width, drawing);
	const line = (cells: readonly string[]) => alignedRow(cells, widths, table.align);
	const total = widths.reduce((sum, columns) => sum + columns, GAP * (widths.length - 1));
	return [...line(head), drawing.rule("─".repeat(total)), ...rows.flatMap(line)];
}

/** @returns the width of each column, or null if words of more than one column would have to be broken */
function columnWidths(rows: readonly (readonly string[])[], width: number): number[] | null {
	const columns = rows[0]?.map((_, column) => rows.map((row) => row[column] ?? "")) ?? [];
	const natural = columns.map((cells) => cells.reduce((most, cell) => Math.max(most, visibleWidth(cell)), 1));
	const widths = columns.map((cells) =>
		cells.reduce((most, cell) => Math.max(most, Math.min(MAX_WORD_WIDTH, longestWord(cell))), 1),
	);
	let room = width - GAP * (columns.length - 1) - widths.reduce((sum, columns) => sum + columns, 0);
	if (room < 0) return null;
	// The narrowest columns reach their natural width first.
	while (room > 0) {
		const narrow = [...widths.keys()].filter((column) => (widths[column] ?? 0) < (natural[column] ?? 0));
		if (narrow.length === 0) break;
		for (const column of narrow.slice(0, room)) widths[column] = (widths[column] ?? 0) + 1;
		room -= Math.min(room, narrow.length);
	}
	return widths;
}

function longestWord(text: string): number {
	return text.split(/\s+/).reduce((most, word) => Math.max(most, visibleWidth(word)), 0);
}

function alignedRow(cells: readonly string[], widths: readonly number[], align: Tokens.Table["align"]): string[] {
	const wrapped = widths.map((width, column) => wrapCell(cells[column] ?? "", width));
	const height = Math.max(...wrapped.map((lines) => lines.length));
	return Array.from({ length: height }, (_, row) => {
		const texts = widths.map((width, column) => padded(wrapped[column]?.[row] ?? "", width, align[column] ?? "left"));
		return withoutBlankEnd(texts.join(" ".repeat(GAP)));
	});
}

/** Wraps a cell. Each line ends its styles, which would otherwise reach the next cell. */
function wrapCell(text: string, width: number): string[] {
	const lines = wrapTextWithAnsi(text, width);
	// pi-tui continues the style of a quote after this form of a reset only.
	return lines.length === 1 ? lines : lines.map((line) => sealLine(line).replaceAll("\x1b[m", "\x1b[0m"));
}

function padded(text: string, width: number, align: "left" | "center" | "right"): string {
	const room = Math.max(0, width - visibleWidth(text));
	const before = align === "right" ? room : align === "center" ? Math.floor(room / 2) : 0;
	return " ".repeat(before) + text + " ".repeat(room - before);
}

function listed(
	head: readonly string[],
	rows: readonly (readonly string[])[],
	width: number,
	drawing: TableDrawing,
): string[] {
	return rows.flatMap((cells, row) => {
		const lines = cells.flatMap((cell, column) => {
			if (!cell && !head[column]) return [];
			const name = head[column] ? `${head[column]}${drawing.head(":")} ` : "";
			const indent = width > MAX_WORD_WIDTH ? HANG : "";
			const wrapped = wrapTextWithAnsi(name + cell, width - indent.length);
			return wrapped.map((line, at) => (at === 0 ? line : indent + line));
		});
		return row > 0 ? [drawing.rule("─".repeat(width)), ...lines] : lines;
	});
}

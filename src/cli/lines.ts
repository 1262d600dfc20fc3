import type { ModeIO } from "../modes/mode.js";
import { stripAll } from "../util/sanitize.js";

/** Prints lines as the answer of a command; into a terminal without control sequences. */
export async function printLines(io: ModeIO, lines: readonly string[]): Promise<void> {
	if (lines.length === 0) return;
	const text = lines.map((line) => `${line}\n`).join("");
	await io.out(io.outIsTerminal ? stripAll(text) : text);
}

/** Prints problems and hints, one line each. */
export function printNotices(io: ModeIO, lines: readonly string[]): void {
	for (const line of lines) io.err(`${stripAll(line)}\n`);
}

/** Prints a value as indented JSON. */
export async function printJson(io: ModeIO, value: unknown): Promise<void> {
	await io.out(`${JSON.stringify(value, wellFormed, 2)}\n`);
}

/** Rows as lines, columns side by side; the last column is not padded. */
export function tableLines(rows: readonly (readonly string[])[]): string[] {
	const widths: number[] = [];
	for (const row of rows) {
		for (const [column, cell] of row.entries()) widths[column] = Math.max(widths[column] ?? 0, cell.length);
	}
	return rows.map((row) =>
		row
			.map((cell, column) => cell.padEnd(widths[column] ?? 0))
			.join("  ")
			.trimEnd(),
	);
}

function wellFormed(_: string, field: unknown): unknown {
	return typeof field === "string" ? field.toWellFormed() : field;
}

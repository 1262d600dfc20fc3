import { errorText } from "../errors.js";
import type { ModeIO } from "../modes/mode.js";
import { stripAll } from "../util/sanitize.js";

/** Exit code when the reader of stdout has closed it: 128 + SIGPIPE. */
const READER_GONE = 141;

/**
 * The streams of the process. Reserves stdout for answers: other writes to it, such as those of hooks, go to stderr from
 * now on. A closed stdout ends the program silently, as it does for other commands; a full disk is named.
 */
export function standardIO(): ModeIO {
	const { stdout, stderr } = process;
	let onOutputLost: (code: number) => void = (code) => process.exit(code);
	const write = stdout.write.bind(stdout);
	stdout.write = stderr.write.bind(stderr) as typeof stdout.write;
	let isGone = false;
	/** Resolves when stdout drains; shared by all waiting writers. */
	let room: Promise<void> | null = null;
	stdout.on("error", (error: NodeJS.ErrnoException) => {
		if (isGone) return;
		isGone = true;
		if (error.code === "EPIPE") return onOutputLost(READER_GONE);
		stderr.write(`pi: cannot write the output: ${stripAll(errorText(error))}\n`);
		process.exitCode = 1; // the program may have chosen its exit code already
		onOutputLost(1);
	});
	stderr.on("error", () => {
		// Problems cannot be reported anywhere else.
	});
	return {
		async out(text) {
			if (isGone || write(text) || stdout.destroyed) return;
			room ??= new Promise<void>((resolve) => {
				const settle = () => {
					stdout.off("drain", settle).off("close", settle);
					room = null;
					resolve();
				};
				stdout.on("drain", settle).on("close", settle);
			});
			await room;
		},
		err: (text) => void stderr.write(text),
		onOutputLost(end) {
			onOutputLost = end;
		},
		outIsTerminal: stdout.isTTY === true,
		...(stdout.isTTY && { columns: stdout.columns }),
	};
}

/** Prints lines to stdout; without control sequences if it is a terminal. */
export async function printLines(io: ModeIO, lines: readonly string[]): Promise<void> {
	if (lines.length === 0) return;
	const text = lines.map((line) => `${line}\n`).join("");
	await io.out(io.outIsTerminal ? stripAll(text) : text);
}

/** Prints problems and hints to stderr, one line each. */
export function printNotices(io: Pick<ModeIO, "err">, lines: readonly string[]): void {
	for (const line of lines) io.err(`${stripAll(line)}\n`);
}

/** Prints a value as indented JSON. */
export async function printJson(io: ModeIO, value: unknown): Promise<void> {
	await io.out(`${JSON.stringify(value, wellFormed, 2)}\n`);
}

/** Formats rows as aligned columns; the last column is not padded. */
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

/**
 * Fits lines into a terminal: wraps them between words, with an indent, or cuts them, as is better for rows of a table.
 * @param columns undefined: any length fits
 */
export function fitLines(
	lines: readonly string[],
	columns: number | undefined,
	how: "wrap" | "cut" = "wrap",
): string[] {
	if (columns === undefined || columns <= MIN_COLUMNS) return [...lines];
	return lines.flatMap((line) => {
		if (line.length <= columns) return [line];
		if (how === "wrap") return wrapWords(line, columns);
		const start = line.slice(0, columns - 1).replace(/[\ud800-\udbff]$/, "");
		return [`${start.trimEnd()}…`];
	});
}

/** With fewer, lines are left to the terminal. */
const MIN_COLUMNS = 20;
const INDENT = "  ";

function wrapWords(line: string, columns: number): string[] {
	const lines: string[] = [];
	let rest = line;
	while (rest.length > columns) {
		const space = rest.lastIndexOf(" ", columns);
		// A path that is longer than a line is left to the terminal.
		const end = space > INDENT.length ? space : rest.indexOf(" ", columns);
		if (end < 0) break;
		lines.push(rest.slice(0, end).trimEnd());
		rest = INDENT + rest.slice(end).trimStart();
	}
	return [...lines, rest];
}

function wellFormed(_: string, field: unknown): unknown {
	return typeof field === "string" ? field.toWellFormed() : field;
}

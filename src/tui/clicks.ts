/**
 * The mouse as components see it: rows that can be clicked carry a mark, and a click on one arrives as input, like a key. So
 * dialogs inside other dialogs need nothing of their own, and what is clicked is what was drawn.
 */
const ROW = "\x1b_pi:row:";
const WHEEL_UP_INPUT = "\x1b_pi:wheel:up\x07";
const WHEEL_DOWN_INPUT = "\x1b_pi:wheel:down\x07";
const START = "\x1b_pi:";
const END = "\x07";

/** A turn of the wheel, as input. */
export const WHEEL = { up: WHEEL_UP_INPUT, down: WHEEL_DOWN_INPUT } as const;

/** Marks a line as a part of a row that can be clicked, if rows are marked at all. @param row its number, from 0 */
export function clickable(line: string, row: number, { marksRows }: { marksRows?(): boolean }): string {
	return marksRows?.() ? `${ROW}${row}${END}${line}` : line;
}

/** A line as it is written to the terminal. */
export function withoutMark(line: string): string {
	return line.startsWith(ROW) ? line.slice(line.indexOf(END) + 1) : line;
}

/** The mark of a line, which is also the input of a click on it; empty without one. */
export function markOf(line: string): string {
	return line.startsWith(ROW) ? line.slice(0, line.indexOf(END) + 1) : "";
}

/** @returns the number of the row that was clicked; null for any other input */
export function clickedRow(data: string): number | null {
	return data.startsWith(ROW) ? Number(data.slice(ROW.length, -1)) : null;
}

/** Whether an input is a click or a turn of the wheel. Terminals cannot send one. */
export function isOfMouse(data: string): boolean {
	return data.startsWith(START);
}

/** Rows that text scrolls with a notch of the wheel. */
const WHEEL_ROWS = 3;

/** @returns how many rows text scrolls down; 0 for any other input */
export function wheelRows(data: string): number {
	if (data === WHEEL_UP_INPUT) return -WHEEL_ROWS;
	return data === WHEEL_DOWN_INPUT ? WHEEL_ROWS : 0;
}

/** The action that a click or a turn of the wheel stands for in a component that does not read them itself. */
export function mouseAction(data: string): "dialog.accept" | "dialog.up" | "dialog.down" {
	if (data === WHEEL_UP_INPUT) return "dialog.up";
	return data === WHEEL_DOWN_INPUT ? "dialog.down" : "dialog.accept";
}

import { visibleWidth } from "@mariozechner/pi-tui";
import { clearFrom } from "./frame-writer.js";

/** Size of a terminal in cells. */
export interface ScreenSize {
	columns: number;
	rows: number;
}

/** The last frame, and what is known about the terminal since. */
export interface DrawnFrame {
	/** Lines on the screen above the cursor, as they were written. */
	linesAboveCursor: readonly string[];
	/** Rows above these lines that were drawn. */
	rowsAbove: number;
	drawn: ScreenSize;
	now: ScreenSize;
	/** Row of the cursor that the terminal reported after a resize, from 0; null when unknown. */
	cursorRow: number | null;
}

/** What the terminal shows of the last frame. */
export interface Measured {
	/** Output that clears it. */
	clear: string;
	/** Number of lines that were on the screen and are in the scrollback. */
	unreached: number;
	/** Number of rows at the top of the screen with the end of a line whose start is in the scrollback. They stay there. */
	kept: number;
	/** Number of rows above the lines of the last frame that the screen shows. */
	shown: number;
}

/** Before the first frame. */
export const NOTHING_DRAWN: Measured = { clear: "", unreached: 0, kept: 0, shown: 0 };

/** Measures what the terminal shows of the last frame, which may have had another size. */
export function measureScreen({ linesAboveCursor, rowsAbove, drawn, now, cursorRow }: DrawnFrame): Measured {
	const heights = linesAboveCursor.map((line) => heightOf(line, drawn.columns, now.columns));
	const isSameSize = drawn.columns === now.columns && drawn.rows === now.rows;
	// Without a report: a smaller window loses rows at its end first, a larger one gets blank rows there.
	const known = isSameSize ? heights.length : cursorRow;
	let room = known ?? Math.min(now.rows - 1, heights.length);
	let reached = 0;
	let kept = 0;
	for (const height of heights.toReversed()) {
		if (height > room) {
			kept = cursorRow === null ? 0 : room;
			break;
		}
		room -= height;
		reached += 1;
	}
	const unreached = heights.length - reached;
	const sum = heights.reduce((total, height) => total + height, rowsAbove);
	return {
		clear: clearFrom(Math.min(sum, known ?? sum) - kept),
		unreached,
		kept,
		shown: cursorRow !== null && unreached === 0 ? Math.min(room, rowsAbove) : 0,
	};
}

/** Number of rows of a line. Terminals wrap lines when the window gets narrower. */
export function heightOf(line: string, drawnColumns: number, columns: number): number {
	return columns >= drawnColumns ? 1 : Math.max(1, Math.ceil(visibleWidth(line) / columns));
}

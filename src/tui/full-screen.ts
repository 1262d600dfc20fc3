import { type Component, CURSOR_MARKER, visibleWidth } from "@mariozechner/pi-tui";
import { withoutMark } from "./clicks.js";
import { safeLine, sealLine } from "./safe-line.js";

const BEGIN = "\x1b[?2026h";
const END = "\x1b[?2026l";
/** Saves the cursor, switches to the alternate screen and clears it. */
const ENTER = "\x1b[?1049h\x1b[?25l\x1b[H\x1b[2J";
/** Returns to the main screen, with the cursor where it was. */
const LEAVE = "\x1b[?1049l";
const CLEAR = "\x1b[?25l\x1b[H\x1b[2J";
const SHOW_CURSOR = "\x1b[?25h";
const HIDE_CURSOR = "\x1b[?25l";

/** Stands for the program that uses the alternate screen. */
export const LENT: Component = { render: () => [], invalidate() {} };

/** Draws one component on the terminal's alternate screen: only changed rows, at fixed positions, without scrolling. */
export class FullScreen {
	/** True from the first frame until `leave`. */
	#isEntered = false;
	/** The rows of the last frame as the component drew them. */
	lines: readonly string[] = [];
	/** What the alternate screen shows; null when the next frame must draw everything. */
	#shown: { columns: number; rows: number; lines: readonly string[]; cursor: string } | null = null;

	constructor(
		readonly component: Component,
		/** Whether the terminal's own cursor is shown where the component marks it. */
		private readonly showsCursor: () => boolean,
	) {}

	/** @returns output that shows the component; the first frame, and one of another size, draws every row */
	frame(columns: number, rows: number): string {
		const isSameSize = this.#shown?.columns === columns && this.#shown.rows === rows;
		const before = isSameSize ? this.#shown : null;
		this.lines = this.component.render(columns).slice(0, rows);
		let cursor = HIDE_CURSOR;
		const lines = this.lines.map((marked, row) => {
			const line = withoutMark(marked);
			const at = line.indexOf(CURSOR_MARKER);
			if (at !== -1) {
				const column = visibleWidth(line.slice(0, at)) + 1;
				cursor = `\x1b[${row + 1};${column}H${this.showsCursor() ? SHOW_CURSOR : HIDE_CURSOR}`;
			}
			return sealLine(safeLine(line.replaceAll(CURSOR_MARKER, ""), columns));
		});
		let out = before ? "" : this.#shown ? CLEAR : ENTER;
		for (let row = 0; row < rows; row += 1) {
			const line = lines[row] ?? "";
			const old = before?.lines[row] ?? "";
			if (line !== old) out += `\x1b[${row + 1};1H${old ? "\x1b[K" : ""}${line}`;
		}
		if (out === "" && before?.cursor === cursor) return "";
		this.#shown = { columns, rows, lines, cursor };
		this.#isEntered = true;
		return `${BEGIN}${out}${cursor}${END}`;
	}

	/** @returns output that shows a clear alternate screen for another program; the next frame draws every row again */
	lend(): string {
		const out = this.#isEntered ? CLEAR : ENTER;
		this.#shown = null;
		this.#isEntered = true;
		return out;
	}

	/** @returns output that returns to the main screen as it was found */
	leave(): string {
		const out = this.#isEntered ? LEAVE : "";
		this.#shown = null;
		this.#isEntered = false;
		return out;
	}
}

import { CURSOR_MARKER, visibleWidth } from "@mariozechner/pi-tui";
import { hasImage } from "./terminal-images.js";

/** The position of the terminal's cursor: a line of the frame and a column, both from 0. */
export interface CursorPosition {
	line: number;
	column: number;
}

/** The content of the screen. */
export interface Frame {
	/** Sealed lines, each at most one row wide; the last ones are on the screen, the others above it. */
	lines: readonly string[];
	/** On a line that is on the screen; null leaves the cursor where it is. */
	cursor: CursorPosition | null;
	/** Rows of the terminal. */
	rows: number;
}

const BEGIN = "\x1b[?2026h";
const END = "\x1b[?2026l";
const CLEAR_ROW = "\x1b[K";
/** Bytes for moving the end of the screen, in addition to a line feed for each added line. */
const MOVE_BYTES = 16;

/**
 * Computes the output that changes one frame into the next: only changed lines and cursor moves. Line numbers start at
 * the first line that was drawn and has not been lifted; lines that have scrolled off cannot be changed.
 */
export class FrameWriter {
	#lines: readonly string[] = [];
	/** The first line that is on the screen. */
	#top = 0;
	/** The line that the terminal's cursor is on. */
	#at = 0;
	/** The last line that the terminal has a row for. */
	#reach = 0;
	/** The column where the cursor was placed; null when text was written since. */
	#column: number | null = null;
	#out = "";

	/** The first line that is on the screen; the lines before it have scrolled off. */
	get top(): number {
		return this.#top;
	}

	/** The line that the terminal's cursor is on. */
	get cursorLine(): number {
		return this.#at;
	}

	/** The lines on and above the screen, from the first that has not been lifted. */
	get lines(): readonly string[] {
		return this.#lines;
	}

	/** Starts over: nothing is drawn, and the cursor is at the start of the row for the first line. */
	restart(): void {
		this.#lines = [];
		this.#top = 0;
		this.#at = 0;
		this.#reach = 0;
		this.#column = null;
	}

	/** Forgets the first lines, which have scrolled off. */
	lift(count: number): void {
		this.#lines = this.#lines.slice(count);
		this.#top -= count;
		this.#at -= count;
		this.#reach -= count;
	}

	/**
	 * @param clear moves the cursor to the row of the first drawn line and clears the rest
	 * @param from the first line that is drawn, at most the first one on the screen; the lines before it have scrolled off
	 * @returns output that draws the lines
	 */
	redraw({ lines, cursor, rows }: Frame, clear: string, from = 0): string {
		this.#out = BEGIN + clear + lines.slice(from).join("\r\n");
		this.#column = null;
		this.#lines = lines;
		this.#at = Math.max(0, lines.length - 1);
		this.#reach = this.#at;
		this.#top = Math.max(0, lines.length - rows);
		return this.#finish(cursor);
	}

	/** @returns output that changes the last frame into this one; null when a line above the screen would have to change */
	update({ lines, cursor, rows }: Frame): string | null {
		const first = firstDifference(this.#lines, lines);
		this.#out = "";
		if (first === -1) {
			this.#placeCursor(cursor);
			return this.#out;
		}
		if (first < this.#top || (lines.length < this.#lines.length && lines.length <= this.#top)) return null;
		this.#out = BEGIN;
		this.#column = null;
		const moved = this.#worthMoving(lines, first, rows);
		// At most as many lines at a time as fit above the moved ones.
		const room = rows - moved;
		for (let until = first + room; moved > 0 && until < lines.length - moved; until += room) {
			this.#change([...lines.slice(0, until), ...lines.slice(lines.length - moved)], rows, moved);
		}
		this.#change(lines, rows, moved);
		return this.#finish(cursor);
	}

	/** @returns output that moves the cursor below the last line */
	leave(): string {
		if (this.#lines.length === 0) return "";
		const rows = this.#lines.length - this.#at;
		return `${rows > 0 ? `\x1b[${rows}B` : ""}\r\n`;
	}

	/** @returns how many lines at the end of both frames are equal, if moving them is cheaper than rewriting them; else 0 */
	#worthMoving(lines: readonly string[], first: number, rows: number): number {
		const added = lines.length - this.#lines.length;
		if (added <= 0) return 0;
		let count = 0;
		let bytes = 0;
		for (let line = this.#lines.length - 1; line >= first; line -= 1) {
			const text = this.#lines[line] ?? "";
			if (text !== lines[line + added]) break;
			// Not every terminal moves images along with their lines.
			if (hasImage(text)) return 0;
			count += 1;
			bytes += Buffer.byteLength(text);
		}
		const room = rows - count;
		return room > 0 && bytes > MOVE_BYTES * (1 + Math.ceil(added / room)) + 2 * added ? count : 0;
	}

	/** Draws other lines; the last `moved` of them are moved down, if there is room, instead of rewritten. */
	#change(lines: readonly string[], rows: number, moved: number): void {
		const before = this.#lines;
		const first = firstDifference(before, lines);
		const top = Math.max(this.#top, lines.length - rows);
		const added = lines.length - before.length;
		const blank = moved > 0 && added > 0 && first >= top ? this.#moveEndDown(added, moved) : null;
		const end = blank ? blank.to : lines.length;
		for (let line = blank ? Math.min(first, blank.from) : first; line < end; line += 1) {
			const text = lines[line] ?? "";
			const old = blank && line >= blank.from ? "" : before[line];
			if (old !== text) this.#write(line, (old ? CLEAR_ROW : "") + text);
		}
		for (let line = lines.length; line < before.length; line += 1) this.#write(line, CLEAR_ROW);
		if (lines.length < before.length) this.#moveTo(Math.max(0, lines.length - 1));
		this.#lines = lines;
		this.#top = top;
	}

	/** Makes room above the last lines. @returns the range of blank lines, `to` excluded */
	#moveEndDown(added: number, count: number): { from: number; to: number } {
		const from = this.#lines.length - count;
		this.#moveTo(this.#lines.length - 1);
		// Line feeds first: they scroll a full screen, so that inserting rows pushes nothing off its end.
		this.#out += "\n".repeat(added);
		this.#at += added;
		this.#reach = Math.max(this.#reach, this.#at);
		this.#moveTo(from);
		this.#out += `\r\x1b[${added}L`;
		return { from, to: from + added };
	}

	/** Writes text into the row of a line. */
	#write(line: number, text: string): void {
		if (line === this.#at) this.#out += "\r";
		else if (line === this.#at + 1) {
			this.#out += "\r\n";
			this.#at = line;
		} else {
			this.#moveTo(line);
			this.#out += "\r";
		}
		this.#reach = Math.max(this.#reach, line);
		this.#out += text;
	}

	/** Moves the cursor to the row of a line, in any column; adds missing rows. */
	#moveTo(line: number): void {
		const known = Math.min(line, this.#reach);
		if (known > this.#at) this.#out += `\x1b[${known - this.#at}B`;
		else if (known < this.#at) this.#out += `\x1b[${this.#at - known}A`;
		if (line > known) this.#out += "\r\n".repeat(line - known);
		this.#reach = Math.max(this.#reach, line);
		this.#at = line;
	}

	#finish(cursor: CursorPosition | null): string {
		this.#placeCursor(cursor);
		return this.#out + END;
	}

	#placeCursor(cursor: CursorPosition | null): void {
		if (!cursor || (this.#at === cursor.line && this.#column === cursor.column)) return;
		this.#moveTo(cursor.line);
		if (this.#column !== cursor.column) this.#out += `\x1b[${cursor.column + 1}G`;
		this.#column = cursor.column;
	}
}

/** @returns the first line that differs; -1 when all are equal */
function firstDifference(before: readonly string[], after: readonly string[]): number {
	const length = Math.max(before.length, after.length);
	for (let line = 0; line < length; line += 1) if (before[line] !== after[line]) return line;
	return -1;
}

/**
 * @returns output that moves up by `rows`, at most to the top of the screen, and clears from there to the end. The first
 * cell is cleared last: clearing from the first cell of the screen, tmux would push the cleared text into the scrollback
 */
export function clearFrom(rows: number): string {
	return `${rows > 0 ? `\x1b[${rows}A` : ""}\r\x1b[C\x1b[J\r\x1b[K`;
}

/** Removes the cursor's mark from the lines. @returns its position; null when it is not on the screen */
export function takeCursor(lines: string[], rows: number): CursorPosition | null {
	for (let line = lines.length - 1; line >= Math.max(0, lines.length - rows); line -= 1) {
		const text = lines[line] ?? "";
		const at = text.indexOf(CURSOR_MARKER);
		if (at === -1) continue;
		lines[line] = text.slice(0, at) + text.slice(at + CURSOR_MARKER.length);
		return { line, column: visibleWidth(text.slice(0, at)) };
	}
	return null;
}

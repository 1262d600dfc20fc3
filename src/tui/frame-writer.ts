import { hasImage } from "./terminal-images.js";

/** Where the terminal's cursor belongs: a line of the frame, and a column from 0. */
export interface CursorPlace {
	line: number;
	column: number;
}

/** What is to be on the screen. */
export interface Frame {
	/** Sealed lines, each at most one row wide; those that the screen has no room for are above it. */
	lines: readonly string[];
	/** One of the lines that are on the screen; null leaves the cursor where it is. */
	cursor: CursorPlace | null;
	/** Rows of the terminal. */
	rows: number;
}

const BEGIN = "\x1b[?2026h";
const END = "\x1b[?2026l";
const CLEAR_ROW = "\x1b[K";
/** What moving lines about costs: a shorter end of the screen is rather written again. UTF-16 units. */
const MIN_MOVED_LENGTH = 32;

/**
 * Turns frames into what brings the terminal from one to the next: lines that changed, moves between them, and nothing
 * of what is there already. Lines are counted from the first that was drawn and has not been lifted; what has scrolled
 * off is the terminal's and cannot be changed.
 */
export class FrameWriter {
	#lines: readonly string[] = [];
	/** The first line that is on the screen. */
	#top = 0;
	/** The line that the terminal's cursor is on. */
	#at = 0;
	/** The last line that the terminal has a row for. */
	#reach = 0;
	/** The column that the cursor was put in; null when text was written since. */
	#column: number | null = null;
	#out = "";

	/** The first line that is on the screen; those before it have scrolled off. */
	get top(): number {
		return this.#top;
	}

	/** The line that the terminal's cursor is on. */
	get cursorLine(): number {
		return this.#at;
	}

	/** What is on the screen and above it, from the first line that has not been lifted. */
	get lines(): readonly string[] {
		return this.#lines;
	}

	/** Nothing is drawn; the cursor is at the start of the row where the first line goes. */
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

	/** @returns what draws all lines, after `clear` has brought the cursor to the row of the first and cleared the rest */
	redraw({ lines, cursor, rows }: Frame, clear: string): string {
		this.#out = BEGIN + clear + lines.join("\r\n");
		this.#column = null;
		this.#lines = lines;
		this.#at = Math.max(0, lines.length - 1);
		this.#reach = this.#at;
		this.#top = Math.max(0, lines.length - rows);
		return this.#finish(cursor);
	}

	/** @returns what changes the last frame into this one; null when a line above the screen would have to change */
	update({ lines, cursor, rows }: Frame): string | null {
		const first = firstDifference(this.#lines, lines);
		const removed = this.#lines.length - lines.length;
		this.#out = "";
		if (first === -1) {
			this.#place(cursor);
			return this.#out;
		}
		if (first < this.#top || (removed > 0 && lines.length <= this.#top)) return null;
		this.#out = BEGIN;
		this.#column = null;
		const top = Math.max(this.#top, lines.length - rows);
		// Not into the rows of what goes away with them.
		const blank = first >= top ? this.#moveEndDown(lines, first) : null;
		for (let line = first; line < lines.length; line += 1) {
			const isBlank = blank !== null && line >= blank.from && line < blank.to;
			const text = lines[line] ?? "";
			const before = blank === null || line < blank.from ? this.#lines[line] : isBlank ? "" : text;
			if (before !== text) this.#write(line, (before ? CLEAR_ROW : "") + text);
		}
		for (let line = lines.length; line < this.#lines.length; line += 1) this.#write(line, CLEAR_ROW);
		if (removed > 0) this.#moveTo(Math.max(0, lines.length - 1));
		this.#lines = lines;
		this.#top = top;
		return this.#finish(cursor);
	}

	/** @returns what brings the cursor below the last line */
	leave(): string {
		if (this.#lines.length === 0) return "";
		const rows = this.#lines.length - this.#at;
		return `${rows > 0 ? `\x1b[${rows}B` : ""}\r\n`;
	}

	/**
	 * Moves the equal end of both frames down where that is shorter than to write it again: as when text grows above the
	 * editor.
	 * @returns the lines that this leaves blank; null when nothing was moved
	 */
	#moveEndDown(lines: readonly string[], first: number): { from: number; to: number } | null {
		const added = lines.length - this.#lines.length;
		if (added <= 0) return null;
		let from = this.#lines.length;
		let length = 0;
		for (; from > first && this.#lines[from - 1] === lines[from - 1 + added]; from -= 1) {
			length += this.#lines[from - 1]?.length ?? 0;
		}
		// Not every terminal moves images along.
		if (length < MIN_MOVED_LENGTH || this.#lines.slice(from).some(hasImage)) return null;
		this.#moveTo(this.#lines.length - 1);
		// Line feeds first: they scroll the screen where it has no rows left, so that nothing falls off its end.
		this.#out += "\r\n".repeat(added);
		this.#at += added;
		this.#reach = Math.max(this.#reach, this.#at);
		this.#moveTo(from);
		this.#out += `\x1b[${added}L`;
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

	/** Moves the cursor to the row of a line, in whatever column; makes rows that are not there yet. */
	#moveTo(line: number): void {
		const known = Math.min(line, this.#reach);
		if (known > this.#at) this.#out += `\x1b[${known - this.#at}B`;
		else if (known < this.#at) this.#out += `\x1b[${this.#at - known}A`;
		if (line > known) this.#out += "\r\n".repeat(line - known);
		this.#reach = Math.max(this.#reach, line);
		this.#at = line;
	}

	#finish(cursor: CursorPlace | null): string {
		this.#place(cursor);
		return this.#out + END;
	}

	#place(cursor: CursorPlace | null): void {
		if (!cursor || (this.#at === cursor.line && this.#column === cursor.column)) return;
		this.#moveTo(cursor.line);
		if (this.#column !== cursor.column) this.#out += `\x1b[${cursor.column + 1}G`;
		this.#column = cursor.column;
	}
}

/** @returns the first line in which they differ; -1 when they are the same */
function firstDifference(before: readonly string[], after: readonly string[]): number {
	const length = Math.max(before.length, after.length);
	for (let line = 0; line < length; line += 1) if (before[line] !== after[line]) return line;
	return -1;
}

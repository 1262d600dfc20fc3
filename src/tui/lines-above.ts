import { stripAll } from "../util/sanitize.js";
import { heightOf } from "./measure-screen.js";

/** More than a terminal has rows. */
const MAX_LINES = 500;

interface LineAbove {
	readonly text: string;
	/** Columns of the terminal for which it was drawn. */
	readonly columns: number;
	/** Whether the scrollback contains the line another time, further up. */
	readonly isCopy: boolean;
}

/** What some rows above the drawn lines contain. */
export interface ReappearedRows {
	/** Number of their letters and digits, see `letterCount`. */
	letters: number;
	/** Number of the rows that are unknown. */
	unknownRows: number;
}

/**
 * The last lines in the terminal's scrollback, as they were written. A terminal that gets wider or higher shows some of them
 * again: to draw these again, and no others, it must be known what is in a number of rows.
 */
export class LinesAbove {
	#lines: LineAbove[] = [];

	/**
	 * Adds lines that scrolled off, in their order.
	 * @param copies how many of them, from the first on, were in the scrollback before
	 */
	add(texts: readonly string[], columns: number, copies = 0): void {
		if (texts.length === 0) return;
		const lines = texts.map((text, at) => ({ text, columns, isCopy: at < copies }));
		this.#lines.push(...lines.slice(-MAX_LINES));
		if (this.#lines.length > 2 * MAX_LINES) this.#lines = this.#lines.slice(-MAX_LINES);
	}

	/**
	 * Removes the last lines, which the terminal shows again in `rows` rows; the first of them may be there in part.
	 * @param uncounted number of rows at the end whose content is known
	 */
	takeBack(rows: number, columns: number, uncounted: number): ReappearedRows {
		let left = rows;
		let letters = 0;
		while (left > 0) {
			const line = this.#lines.pop();
			if (!line) break;
			if (rows - left >= uncounted) letters += letterCount(line.text);
			left -= heightOf(line.text, line.columns, columns);
		}
		return { letters, unknownRows: Math.max(0, left) };
	}

	/** Number of letters and digits in the last lines that have no copy; infinite if none of the known lines has one. */
	get lettersWithoutCopy(): number {
		const at = this.#lines.findLastIndex(({ isCopy }) => isCopy);
		if (at < 0) return Number.POSITIVE_INFINITY;
		return this.#lines.slice(at + 1).reduce((sum, { text }) => sum + letterCount(text), 0);
	}

	/** Forgets all lines. */
	clear(): void {
		this.#lines = [];
	}
}

/** Letters and digits, which are the same at each width, unlike spaces, borders and marks at the start of each line. */
export function letterCount(line: string): number {
	return stripAll(line).match(/[\p{L}\p{N}]/gu)?.length ?? 0;
}

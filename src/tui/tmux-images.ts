import { execFile } from "node:child_process";
import { randomInt } from "node:crypto";

const TMUX_TIMEOUT_MS = 2000;
/**
 * Images as text: each cell of an image is a placeholder character with marks for its row, its column and the first byte of the
 * image's id; its color is the last byte. A multiplexer moves, clips and redraws such cells like any others, and the terminal
 * behind it draws the image over them. kitty and Ghostty support it.
 * @see https://sw.kovidgoyal.net/kitty/graphics-protocol/#unicode-placeholders
 */
const PLACEHOLDER = "\u{10eeee}";
/**
 * The marks that stand for 0 to 255, as ranges: the combining characters of Unicode 6.0 of class 230 without a decomposition, but
 * for those that normalization joins with letters.
 */
const MARKS = expand(
	"305 30d-30e 310 312 33d-33f 346 34a-34c 350-352 357 35b 363-36f 483-487 592-595 597-599 59c-5a1 5a8-5a9 5ab-5ac 5af 5c4 " +
		"610-617 657-65b 65d-65e 6d6-6dc 6df-6e2 6e4 6e7-6e8 6eb-6ec 730 732-733 735-736 73a 73d 73f-741 743 745 747 749-74a " +
		"7eb-7f1 7f3 816-819 81b-823 825-827 829-82d 951 953-954 f82-f83 f86-f87 135d-135f 17dd 193a 1a17 1a75-1a7c 1b6b " +
		"1b6d-1b73 1cd0-1cd2 1cda-1cdb 1ce0 1dc0-1dc1 1dc3-1dc9 1dcb-1dcc 1dd1-1de6 1dfe 20d0-20d1 20d4-20d7 20db-20dc 20e1 " +
		"20e7 20e9 20f0 2cef-2cf1 2de0-2dff a66f a67c-a67d a6f0-a6f1 a8e0-a8e5",
);
/** Maximum number of images: their ids differ in one byte. */
const MAX_IMAGES = 255;

/** Ids, cells and sequences of images that a terminal behind tmux draws. */
export class CellImages {
	/** First byte of the ids: that of another program in the terminal should differ. */
	#firstByte = 0;
	/** Number of images, which is the last byte; the others are 0. */
	#count = MAX_IMAGES;
	#isUsed = false;

	/** @returns null for an image too many: its cells would show another one */
	newId(): number | null {
		if (this.#count === MAX_IMAGES) {
			if (this.#isUsed) return null;
			this.#firstByte = randomInt(1, MAX_IMAGES + 1);
			this.#count = 0;
			this.#isUsed = true;
		}
		this.#count += 1;
		return this.#firstByte * 2 ** 24 + this.#count;
	}

	/** Forgets all images. Cells of earlier ones may still be in the scrollback, so new ids begin with another byte. */
	reset(): void {
		this.#count = MAX_IMAGES;
		this.#isUsed = false;
	}

	/** The rows of an image. A cell without a mark, beyond 256 columns, continues the one before it. */
	rows(id: number, columns: number, rows: number): string[] {
		const [first, last] = [MARKS[id >>> 24] ?? "", id & 0xff];
		return Array.from({ length: rows }, (_, row) => {
			const cells = Array.from(
				{ length: columns },
				(_, column) => `${PLACEHOLDER}${MARKS[row] ?? ""}${MARKS[column] ?? ""}${first}`,
			);
			return `\x1b[38;5;${last}m${cells.join("")}\x1b[39m`;
		});
	}

	/** Output that gives an image to the terminal. @param data sequences of Kitty's protocol with the data of the image */
	place(id: number, data: string, columns: number, rows: number): string {
		const place = `\x1b_Ga=p,U=1,i=${id},c=${columns},r=${rows},q=2\x1b\\`;
		// tmux passes on what is wrapped so.
		return (data + place).replace(
			/\x1b_[^\x1b]*\x1b\\/g,
			(one) => `\x1bPtmux;${one.replaceAll("\x1b", "\x1b\x1b")}\x1b\\`,
		);
	}
}

function expand(ranges: string): string[] {
	return ranges.split(" ").flatMap((range) => {
		const [from = 0, to = from] = range.split("-").map((digits) => Number.parseInt(digits, 16));
		return Array.from({ length: to - from + 1 }, (_, at) => String.fromCharCode(from + at));
	});
}

/** Terminals that draw images over cells, as they name themselves or as `TERM`. */
const DRAWS_CELLS = /^(?:xterm-)?(?:kitty|ghostty)\b/i;

/**
 * Asks tmux whether images can be drawn: its `allow-passthrough` is on, and all of its terminals draw them over cells of text.
 * @returns null if not, or if tmux does not answer
 */
export async function openTmuxImages(): Promise<CellImages | null> {
	const questions = [
		"show",
		"-Apv",
		"allow-passthrough",
		";",
		"list-clients",
		"-F",
		"#{client_termtype} #{client_termname}",
	];
	const answer = await new Promise<string>((resolve) => {
		execFile("tmux", questions, { timeout: TMUX_TIMEOUT_MS }, (error, stdout) => resolve(error ? "" : stdout));
	});
	const [option = "", ...clients] = answer.trimEnd().split("\n");
	const draws = (client: string) =>
		client
			.trim()
			.split(" ")
			.some((name) => DRAWS_CELLS.test(name));
	const isPassed = option === "on" || option === "all";
	return isPassed && clients.length > 0 && clients.every(draws) ? new CellImages() : null;
}

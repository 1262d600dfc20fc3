/** Maximum length of a chunk of data in Kitty's protocol, in characters. */
const CHUNK_LENGTH = 4_096;
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
/** Maximum number of columns and rows. */
export const MAX_CELLS = MARKS.length;

/**
 * The rows of an image.
 * @param id 32 bits, of which the second and third byte are 0
 * @param columns at most `MAX_CELLS`, like `rows`
 */
export function imageCells(id: number, columns: number, rows: number): string[] {
	const [first, last] = [MARKS[id >>> 24] ?? "", id & 0xff];
	return Array.from({ length: rows }, (_, row) => {
		const cells = Array.from({ length: columns }, (_, column) => PLACEHOLDER + MARKS[row] + MARKS[column] + first);
		return `\x1b[38;5;${last}m${cells.join("")}\x1b[39m`;
	});
}

/** Wraps sequences for the terminal so that tmux passes them on, if its `allow-passthrough` is on. */
export function throughTmux(sequences: string): string {
	return sequences.replace(/\x1b_[^\x1b]*\x1b\\/g, (one) => `\x1bPtmux;${one.replaceAll("\x1b", "\x1b\x1b")}\x1b\\`);
}

/** @returns the sequences of Kitty's protocol that transmit the data of a PNG */
export function transmission(id: number, data: string): string {
	let sequences = "";
	for (let at = 0; at < data.length; at += CHUNK_LENGTH) {
		const more = at + CHUNK_LENGTH < data.length ? 1 : 0;
		const keys = at === 0 ? `a=t,f=100,i=${id},q=2,m=${more}` : `q=2,m=${more}`;
		sequences += `\x1b_G${keys};${data.slice(at, at + CHUNK_LENGTH)}\x1b\\`;
	}
	return sequences;
}

function expand(ranges: string): string[] {
	return ranges.split(" ").flatMap((range) => {
		const [from = 0, to = from] = range.split("-").map((digits) => Number.parseInt(digits, 16));
		return Array.from({ length: to - from + 1 }, (_, at) => String.fromCharCode(from + at));
	});
}

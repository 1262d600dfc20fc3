/** pi-tui's `CURSOR_MARKER`, which is in every frame. pi-tui imports this module, so it cannot import pi-tui. */
const CURSOR = "\x1b_pi:c\x07";
/** Start of a hyperlink, or of its end. */
const LINK = "\x1b]8;";
/** Intl.Segmenter takes quadratic time: longer text is segmented in pieces of this length, UTF-16 units. */
const PIECE_LENGTH = 256;

// Created when they are first needed, which is after the first frame: the first one takes 6 ms.
let graphemeSegmenter: Intl.Segmenter | undefined;
let wordSegmenter: Intl.Segmenter | undefined;

/** Segments text into graphemes, in pi and in pi-tui. The time grows with the length of the text, not with its square. */
export const graphemes = {
	segment(text: string): Iterable<Intl.SegmentData> {
		graphemeSegmenter ??= new Intl.Segmenter();
		return text.length > PIECE_LENGTH ? segmentInPieces(text, graphemeSegmenter) : graphemeSegmenter.segment(text);
	},
};

/** Segments text into words, in pi-tui. */
export const words = {
	segment(text: string): Iterable<Intl.SegmentData> {
		wordSegmenter ??= new Intl.Segmenter(undefined, { granularity: "word" });
		return wordSegmenter.segment(text);
	},
};

/** Each piece but the first starts with the last grapheme of the piece before, which the cut may have split. */
function* segmentInPieces(text: string, whole: Intl.Segmenter): Generator<Intl.SegmentData> {
	let at = 0;
	let length = PIECE_LENGTH;
	while (at < text.length) {
		let end = at + length;
		// Surrogate pairs stay together.
		if ((text.charCodeAt(end - 1) & 0xfc00) === 0xd800) end += 1;
		const pieces = [...whole.segment(text.slice(at, end))];
		const split = end >= text.length ? undefined : pieces.pop();
		// A single grapheme may fill the piece.
		length = pieces.length === 0 ? length * 2 : PIECE_LENGTH;
		for (const { segment, index } of pieces) yield { segment, index: at + index, input: text };
		at = split ? at + split.index : text.length;
	}
}

/**
 * Width of text that needs no segmentation: common characters, styles, links, cleared line ends and the mark of the cursor,
 * which is nearly all that is drawn.
 * @returns -1 if the text contains anything else
 */
export function simpleWidth(text: string): number {
	let width = 0;
	for (let at = 0; at < text.length; at += 1) {
		const code = text.charCodeAt(at);
		if ((code >= 0x20 && code <= 0x7e) || isIn(NARROW, code)) {
			width += 1;
			continue;
		}
		if (code > 0x3000 && isIn(WIDE, code)) {
			width += 2;
			continue;
		}
		const end = code === 0x1b ? endOfSequence(text, at) : -1;
		if (end < 0) return -1;
		at = end;
	}
	return width;
}

/** First and last characters of ranges, in their order, that take one column and never join their neighbors. */
const NARROW = [
	...[0xa1, 0xac, 0xae, 0x2ff], // Latin, without the soft hyphen
	...[0x2010, 0x2027, 0x2030, 0x205e], // dashes, quotes, dots
	...[0x20a0, 0x20bf, 0x2100, 0x22ff], // currencies, letters, arrows, mathematics
	...[0x2400, 0x2426, 0x2500, 0x25fc], // control pictures, box drawing, blocks, shapes
	...[0x2610, 0x2612, 0x2713, 0x2718, 0x2800, 0x28ff], // check boxes and marks, Braille
];
/** The same for two columns: Chinese, Japanese and Korean without what joins, and full-width forms. */
const WIDE = [0x3001, 0x3029, 0x3041, 0x3096, 0x309b, 0x30ff, 0x4e00, 0x9fff, 0xac00, 0xd7a3, 0xff01, 0xff60];

function isIn(ranges: readonly number[], code: number): boolean {
	for (let at = 0; at < ranges.length; at += 2) {
		if (code <= (ranges[at + 1] ?? 0)) return code >= (ranges[at] ?? 0);
	}
	return false;
}

/** @returns the index of the last character of a sequence that takes no column; -1 for others */
function endOfSequence(text: string, at: number): number {
	if (text.startsWith(CURSOR, at)) return at + CURSOR.length - 1;
	if (text.startsWith(LINK, at)) {
		for (let end = at + LINK.length; end < text.length; end += 1) {
			if (text.charCodeAt(end) === 0x07) return end;
			if (text.startsWith("\x1b\\", end)) return end + 1;
		}
		return -1;
	}
	if (text.charCodeAt(at + 1) !== 0x5b) return -1;
	let end = at + 2;
	while (isSgrParameter(text.charCodeAt(end))) end += 1;
	const last = text.charCodeAt(end);
	return last === 0x6d || last === 0x4b ? end : -1; // `m`, `K`
}

/** Digits, colon and semicolon. */
function isSgrParameter(code: number): boolean {
	return code >= 0x30 && code <= 0x3b;
}

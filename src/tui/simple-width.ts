const ESCAPE = 0x1b;
const BRACKET = 0x5b;
const SGR_END = 0x6d;

/**
 * The width of text that needs no segmenting: Latin letters, punctuation, box drawing, and SGR sequences, which is nearly
 * all that is ever drawn. It costs one pass over the characters.
 * @returns columns; -1 when the text holds anything else
 */
export function simpleWidth(text: string): number {
	let width = 0;
	for (let at = 0; at < text.length; at += 1) {
		const code = text.charCodeAt(at);
		if ((code >= 0x20 && code <= 0x7e) || isNarrow(code)) {
			width += 1;
			continue;
		}
		if (code !== ESCAPE || text.charCodeAt(at + 1) !== BRACKET) return -1;
		at += 2;
		while (isParameter(text.charCodeAt(at))) at += 1;
		if (text.charCodeAt(at) !== SGR_END) return -1;
	}
	return width;
}

/** Characters of one column that never join their neighbours: Latin (no soft hyphen), dashes and quotes, arrows, frames, Braille. */
function isNarrow(code: number): boolean {
	if (code < 0x300) return code >= 0xa1 && code !== 0xad;
	return (
		(code >= 0x2010 && code <= 0x2027) ||
		(code >= 0x2190 && code <= 0x21ff) ||
		(code >= 0x2500 && code <= 0x259f) ||
		(code >= 0x2800 && code <= 0x28ff)
	);
}

function isParameter(code: number): boolean {
	return code >= 0x30 && code <= 0x3b;
}

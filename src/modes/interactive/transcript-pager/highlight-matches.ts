const ANSI = /\x1b\[[\d;:]*m|\x1b\]8;[^\x07\x1b]*(?:\x07|\x1b\\)/g;
const INVERSE = "\x1b[7m";
const NOT_INVERSE = "\x1b[27m";

/** Shows all matches of a global pattern in a styled line in reverse video. */
export function highlightMatches(line: string, pattern: RegExp): string {
	const ranges = [...line.replace(ANSI, "").matchAll(pattern)].map(({ index, 0: text }) => ({
		from: index,
		to: index + text.length,
	}));
	if (ranges.length === 0) return line;
	let out = "";
	let visible = 0;
	const copy = (text: string) => {
		for (let at = 0; at < text.length; ) {
			const range = ranges.find(({ to }) => to > visible);
			const isInside = range !== undefined && range.from <= visible;
			const end = range === undefined ? text.length : (isInside ? range.to : range.from) - visible + at;
			const piece = text.slice(at, end);
			out += isInside ? INVERSE + piece + NOT_INVERSE : piece;
			visible += piece.length;
			at += piece.length;
		}
	};
	let at = 0;
	for (const code of line.matchAll(ANSI)) {
		copy(line.slice(at, code.index));
		out += code[0];
		at = code.index + code[0].length;
	}
	copy(line.slice(at));
	return out;
}

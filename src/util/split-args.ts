/**
 * Splits a line into arguments like a shell: at blanks outside quotes; a backslash escapes the next character (not in
 * single quotes; in double quotes only `"` and itself). A quote without a closing quote is an ordinary character.
 * Expands nothing.
 */
export function splitArgs(raw: string): string[] {
	const args: string[] = [];
	let current: string | null = null;
	for (let at = 0; at < raw.length; at++) {
		const character = raw.charAt(at);
		const quoted = character === "'" || character === '"' ? readQuoted(raw, at, character) : null;
		if (quoted) {
			current = (current ?? "") + quoted.text;
			at = quoted.end;
		} else if (/\s/.test(character)) {
			if (current !== null) args.push(current);
			current = null;
		} else if (character === "\\" && at + 1 < raw.length) {
			current = (current ?? "") + raw.charAt(++at);
		} else {
			current = (current ?? "") + character;
		}
	}
	if (current !== null) args.push(current);
	return args;
}

/** The quoted text that opens at `start`, and the index of its closing quote; null if none exists. */
function readQuoted(raw: string, start: number, quote: string): { text: string; end: number } | null {
	let text = "";
	for (let at = start + 1; at < raw.length; at++) {
		const character = raw.charAt(at);
		if (character === quote) return { text, end: at };
		const next = raw.charAt(at + 1);
		if (quote === '"' && character === "\\" && (next === '"' || next === "\\")) {
			text += next;
			at++;
		} else {
			text += character;
		}
	}
	return null;
}

/**
 * Text without the blanks and other characters around its parts, in linear time: a regular expression such as `/\s+$/` tries again
 * at every blank, which takes seconds for a long text of blanks.
 */

/** A text with its line ends, and the blanks around them, replaced. Blank lines disappear. */
export function joinLines(text: string, separator = " "): string {
	const lines = text.split("\n");
	const last = lines.length - 1;
	return lines
		.map((line, at) => (at === 0 ? (last === 0 ? line : line.trimEnd()) : at === last ? line.trimStart() : line.trim()))
		.filter((line, at) => line !== "" || at === 0 || at === last)
		.join(separator);
}

/** The lines of a text that are not blank, trimmed. */
export function nonBlankLines(text: string): string[] {
	return text
		.split("\n")
		.map((line) => line.trim())
		.filter((line) => line !== "");
}

/** A text without these characters at its end. @param characters each one is a UTF-16 unit */
export function trimEndOf(text: string, characters: string): string {
	let end = text.length;
	while (end > 0 && characters.includes(text.charAt(end - 1))) end--;
	return text.slice(0, end);
}

/** A text without these characters at its start and end. Each character of both lists is a UTF-16 unit. */
export function trimOf(text: string, before: string, after = before): string {
	let start = 0;
	while (start < text.length && before.includes(text.charAt(start))) start++;
	return trimEndOf(text.slice(start), after);
}

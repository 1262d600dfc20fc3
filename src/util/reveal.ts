import { showCharacter } from "./sanitize.js";
import { joinLines } from "./trim.js";

/** Joins two emoji into one, such as a family. */
const EMOJI_JOINER =
	"(?<=\\p{Extended_Pictographic}(?:\\ufe0f|\\p{Emoji_Modifier})?)\\u200d(?=\\p{Extended_Pictographic})";
/** Characters that are invisible or reorder text, but for what makes emoji of symbols and digits: U+FE0F and joiners. */
const INVISIBLE = new RegExp(
	`(?!${EMOJI_JOINER})(?:${[
		"[\\x00-\\x08\\x0b-\\x1f\\x7f-\\x9f]",
		"(?!\\ufe0f)\\p{Default_Ignorable_Code_Point}",
		"\\p{Cf}|\\p{Cs}|\\p{Zl}|\\p{Zp}|\\u2800",
		"(?<!\\p{Extended_Pictographic})\\ufe0f(?!\\u20e3)",
	].join("|")})`,
	"gu",
);
const LONG_BLANK = /[^\S\n]{41,}/gu;
const BLANK_LINES = /\n(?:[^\S\n]*\n){4,}/gu;

/**
 * Text for a person who must approve it: invisible characters, including color sequences, are shown by name
 * (`‹U+200B›`, `␛`); more than 40 blanks or 3 blank lines become a marker with their number. Nothing else is cut.
 */
export function revealInvisible(text: string): string {
	return text
		.replace(/\r\n/g, "\n")
		.replace(INVISIBLE, showCharacter)
		.replace(LONG_BLANK, (blanks) => ` … ${blanks.length} spaces … `)
		.replace(BLANK_LINES, (lines) => `\n… ${lines.split("\n").length - 2} blank lines …\n`);
}

export interface RevealLineOptions {
	/** UTF-16 units; a longer text is truncated and ends in `…`. Default 500. */
	maxLength?: number;
	/** Replaces a line end and the blanks around it. Default ` ↵ `. */
	lineEnd?: string;
}

/** Text as one line with every invisible character shown, for names, subjects and messages. */
export function revealLine(text: string, { maxLength = 500, lineEnd = " ↵ " }: RevealLineOptions = {}): string {
	const start = text.length > maxLength ? `${text.slice(0, maxLength)}…` : text;
	return joinLines(revealInvisible(start), lineEnd).replaceAll("\t", " ").trim();
}

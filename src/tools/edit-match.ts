/** One replacement that a model asks for. */
export interface Edit {
	oldText: string;
	newText: string;
}

/** A piece of a file and what takes its place. Positions are UTF-16 units of the file as it is on disk. */
export interface Replacement {
	start: number;
	end: number;
	text: string;
	/** The text was found only after trailing whitespace, typographic characters or control characters were set aside. */
	isTolerant: boolean;
}

/** What replacements were found, or why an edit has none. */
export type EditPlan = { replacements: Replacement[] } | { problem: string };

const TAB = 0x09;
const NEWLINE = 0x0a;
const RETURN = 0x0d;
const BLANK = 0x20;
const BYTE_ORDER_MARK = 0xfeff;

/** Characters that models write in their plain form; all are one UTF-16 unit. */
const PLAIN_FORMS = new Map(
	Object.entries({
		"'": "\u2018\u2019\u201A\u201B\u2032",
		'"': "\u201C\u201D\u201E\u201F\u2033",
		"-": "\u2010\u2011\u2012\u2013\u2014\u2015\u2212",
		" ": "\u00A0\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200A\u202F\u205F\u3000",
	}).flatMap(([plain, typographic]) =>
		[...typographic].map((character) => [character.charCodeAt(0), plain.charCodeAt(0)] as const),
	),
);

/** Where a text is said to be found, at most so many places are named. */
const MAX_NAMED = 8;

/**
 * Finds the one place of each edit in a file. All edits are matched against the file as it is, so none sees another's
 * result. Line ends need not agree; where there is no exact match, trailing whitespace and typographic quotes, dashes
 * and blanks need not either. Replacements come in the order of the file and do not overlap.
 */
export function planEdits(content: string, edits: readonly Edit[]): EditPlan {
	const exact = createView(content, false);
	let tolerant: View | undefined;
	const lineEnd = usualLineEnd(content);
	const found: (Replacement & { number: number })[] = [];
	for (const [index, edit] of edits.entries()) {
		const name = edits.length === 1 ? "oldText" : `oldText of edit ${index + 1}`;
		const oldText = withoutReturns(edit.oldText);
		const newText = withoutReturns(edit.newText);
		if (oldText === "") return { problem: `${name} is empty. Give the text to replace; to make a new file use write.` };
		if (oldText === newText) return { problem: `${name} and newText are the same: nothing would change.` };

		let places = findAll(content, exact, oldText);
		const isTolerant = places.length === 0;
		if (isTolerant) {
			tolerant ??= createView(content, true);
			places = findTolerantly(content, tolerant, oldText);
		}
		const [place, ...others] = places;
		if (place === undefined) return { problem: `${name} was not found. ${hintForMissing(content, oldText, newText)}` };
		if (others.length > 0) {
			const lines = places.slice(0, MAX_NAMED).map(({ start }) => lineAt(content, start));
			const more = places.length > MAX_NAMED ? ", …" : "";
			return {
				problem: `${name} matches ${places.length} places (lines ${lines.join(", ")}${more}). Add lines around it until it fits one only.`,
			};
		}
		const text = isTolerant ? keepUntouchedLines(content.slice(place.start, place.end), oldText, newText) : newText;
		found.push({ ...place, text: text.replaceAll("\n", lineEnd), isTolerant, number: index + 1 });
	}
	found.sort((a, b) => a.start - b.start);
	for (const [index, next] of found.entries()) {
		const before = found[index - 1];
		if (before && before.end > next.start) {
			const [first, second] = [before.number, next.number].sort((a, b) => a - b);
			return {
				problem: `Edits ${first} and ${second} overlap at line ${lineAt(content, next.start)}. Make them one edit.`,
			};
		}
	}
	return { replacements: found.map(({ number: _, ...replacement }) => replacement) };
}

/** The file with its replacements made. */
export function applyReplacements(content: string, replacements: readonly Replacement[]): string {
	let result = "";
	let at = 0;
	for (const { start, end, text } of replacements) {
		result += content.slice(at, start) + text;
		at = end;
	}
	return result + content.slice(at);
}

/** 1-based number of the line that a position is on. */
export function lineAt(content: string, position: number): number {
	let line = 1;
	for (let at = content.indexOf("\n"); at !== -1 && at < position; at = content.indexOf("\n", at + 1)) line++;
	return line;
}

/** A text as it is compared, and where each of its characters comes from. */
interface View {
	text: string;
	/** Position in the file of the character at a position of the view; of a line end with two characters the first. */
	origin(position: number): number;
}

function createView(content: string, isTolerant: boolean): View {
	if (!isTolerant && !content.includes("\r") && !content.startsWith("\uFEFF")) {
		return { text: content, origin: (position) => position };
	}
	const codes = new Uint16Array(content.length);
	const origins = new Uint32Array(content.length);
	let length = 0;
	/** Where the blanks before the current place begin; -1 when there are none. */
	let blanksFrom = -1;
	for (let at = 0; at < content.length; at++) {
		const origin = at;
		if (content.charCodeAt(at) === RETURN && content.charCodeAt(at + 1) === NEWLINE) at++;
		let code = content.charCodeAt(at);
		if (code === BYTE_ORDER_MARK && at === 0) continue;
		if (isTolerant) {
			code = PLAIN_FORMS.get(code) ?? code;
			if (isIgnored(code)) continue;
			if (code === NEWLINE && blanksFrom >= 0) length = blanksFrom;
			if (code !== BLANK && code !== TAB) blanksFrom = -1;
			else if (blanksFrom < 0) blanksFrom = length;
		}
		codes[length] = code;
		origins[length] = origin;
		length++;
	}
	if (blanksFrom >= 0) length = blanksFrom;
	const text = Buffer.from(codes.buffer, 0, length * 2).toString("utf16le");
	return { text, origin: (position) => (position < length ? (origins[position] ?? content.length) : content.length) };
}

/** Control characters, which reading does not show. */
function isIgnored(code: number): boolean {
	return (code < BLANK && code !== NEWLINE && code !== TAB) || (code >= 0x7f && code <= 0x9f);
}

interface Place {
	start: number;
	end: number;
}

/** All places, overlapping ones too: they make a text no less ambiguous. */
function findAll(content: string, view: View, text: string): Place[] {
	const places: Place[] = [];
	for (let at = view.text.indexOf(text); at !== -1; at = view.text.indexOf(text, at + 1)) {
		const last = view.origin(at + text.length - 1);
		places.push({ start: view.origin(at), end: last + (content.startsWith("\r\n", last) ? 2 : 1) });
	}
	return places;
}

function findTolerantly(content: string, view: View, oldText: string): Place[] {
	const plain = createView(oldText, true).text;
	if (plain.trim() === "") return [];
	// What stood behind the last word was set aside: then the word must be the last of its line in the file as well.
	const endsLine = /[^\S\n]$/.test(oldText);
	return findAll(content, view, plain).filter(({ end }) => !endsLine || isLineEnd(view, end));
}

/** True when nothing but what is set aside stands between a position and the end of its line. */
function isLineEnd(view: View, position: number): boolean {
	let low = 0;
	let high = view.text.length;
	while (low < high) {
		const middle = (low + high) >> 1;
		if (view.origin(middle) < position) low = middle + 1;
		else high = middle;
	}
	return low === view.text.length || view.text[low] === "\n";
}

/**
 * A tolerant match covers lines that the model only quoted, in its own spelling. Those that the new text leaves alone
 * at its beginning and end stay as they are in the file.
 */
function keepUntouchedLines(inFile: string, oldText: string, newText: string): string {
	const fileLines = withoutReturns(inFile).split("\n");
	const oldLines = oldText.split("\n");
	const newLines = newText.split("\n");
	if (fileLines.length !== oldLines.length) return newText;
	const most = Math.min(oldLines.length, newLines.length);
	let head = 0;
	while (head < most && oldLines[head] === newLines[head]) head++;
	let tail = 0;
	while (tail < most - head && oldLines.at(-1 - tail) === newLines.at(-1 - tail)) tail++;
	return [
		...fileLines.slice(0, head),
		...newLines.slice(head, newLines.length - tail),
		...fileLines.slice(fileLines.length - tail),
	].join("\n");
}

function hintForMissing(content: string, oldText: string, newText: string): string {
	const fileLines = withoutReturns(content).split("\n");
	const already = newText.trim().length > 3 ? withoutReturns(content).indexOf(newText) : -1;
	if (already >= 0) {
		return `newText is in the file already, at line ${lineAt(withoutReturns(content), already)}: this edit may have been made before.`;
	}
	const wanted = oldText.split("\n");
	while (wanted.length > 1 && wanted[0]?.trim() === "") wanted.shift();
	while (wanted.length > 1 && wanted.at(-1)?.trim() === "") wanted.pop();
	const best = longestRun(fileLines, wanted);
	if (best === undefined) return "Read the file again and copy the text exactly as it stands there.";
	const { start, length } = best;
	if (length === wanted.length) {
		const where = length === 1 ? `Line ${start + 1} differs` : `Lines ${start + 1}-${start + length} differ`;
		return `${where} only in blanks: copy the indentation exactly.`;
	}
	const beginning = length === 1 ? "Its first line stands" : `Its first ${length} lines stand`;
	const inFile = fileLines[start + length];
	const next = inFile === undefined ? "the file ends" : `line ${start + length + 1} is ${quote(inFile)}`;
	return `${beginning} at line ${start + 1}, but then ${next}, not ${quote(wanted[length] ?? "")}.`;
}

function quote(line: string): string {
	return JSON.stringify(line.slice(0, 200));
}

/** Where most lines in a row agree with the wanted ones, blanks aside; index from 0. */
function longestRun(
	lines: readonly string[],
	wanted: readonly string[],
): { start: number; length: number } | undefined {
	const trimmed = lines.map((line) => line.trim());
	const trimmedWanted = wanted.map((line) => line.trim());
	let best: { start: number; length: number } | undefined;
	for (const [start, line] of trimmed.entries()) {
		if (line !== trimmedWanted[0]) continue;
		let length = 1;
		while (length < trimmedWanted.length && trimmed[start + length] === trimmedWanted[length]) length++;
		if (length > (best?.length ?? 0)) best = { start, length };
		if (length === trimmedWanted.length) break;
	}
	return best;
}

function withoutReturns(text: string): string {
	return text.includes("\r") ? text.replaceAll("\r\n", "\n") : text;
}

function usualLineEnd(content: string): "\n" | "\r\n" {
	const all = content.split("\n").length - 1;
	return content.split("\r\n").length - 1 > all / 2 ? "\r\n" : "\n";
}

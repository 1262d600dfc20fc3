/** A replacement that the model requests. */
export interface Edit {
	oldText: string;
	newText: string;
	/** Replaces every occurrence, of which there must be one at least. Default: the text must occur exactly once. */
	replaceAll?: boolean;
}

/** A range of a file and its new text. Positions are UTF-16 units in the unchanged file. */
export interface Replacement {
	start: number;
	end: number;
	text: string;
	/** The text matched only after ignoring trailing whitespace, typographic characters or control characters. */
	isTolerant: boolean;
}

/** The replacements, or why an edit cannot be made. */
export type EditPlan = { replacements: Replacement[] } | { problem: string };

const TAB = 0x09;
const NEWLINE = 0x0a;
const RETURN = 0x0d;
const BLANK = 0x20;
const BYTE_ORDER_MARK = 0xfeff;

/** Typographic characters that models often write in their ASCII form; all are one UTF-16 unit. */
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

/** Maximum number of matches listed in a message. */
const MAX_LISTED = 8;

/** Maximum number of matches that are counted: a character of a large file can have millions. */
const MAX_COUNTED = 1000;

/**
 * Finds the only match of each edit in a file, or all matches of an edit with `replaceAll`. All edits are matched against the unchanged file. Line endings may differ;
 * without an exact match, trailing whitespace and typographic quotes, dashes and spaces may differ too. Replacements are
 * sorted by position and do not overlap.
 */
export function planEdits(content: string, edits: readonly Edit[]): EditPlan {
	const exact = normalize(content, false);
	let tolerant: NormalizedText | undefined;
	const lineEnd = usualLineEnd(content);
	const found: (Replacement & { number: number })[] = [];
	for (const [index, edit] of edits.entries()) {
		const name = edits.length === 1 ? "oldText" : `oldText of edit ${index + 1}`;
		const oldText = withoutReturns(edit.oldText);
		const newText = withoutReturns(edit.newText);
		if (oldText === "") return { problem: `${name} is empty. Give the text to replace; to create a file, use write.` };
		if (oldText === newText) return { problem: `${name} and newText are the same: nothing would change.` };

		const isForAll = edit.replaceAll === true;
		const limit = isForAll ? Number.POSITIVE_INFINITY : MAX_COUNTED;
		let matches = findAll(content, exact, oldText, limit);
		const isTolerant = matches.length === 0;
		if (isTolerant) {
			tolerant ??= normalize(content, true);
			matches = findTolerantly(content, tolerant, oldText, limit);
		}
		if (matches.length === 0) return { problem: `${name} was not found. ${hintForMissing(content, oldText, newText)}` };
		if (matches.length > 1 && !isForAll) {
			const lines = matches.slice(0, MAX_LISTED).map(({ start }) => lineAt(content, start));
			const more = matches.length > MAX_LISTED ? ", …" : "";
			const count = matches.length > MAX_COUNTED ? `more than ${MAX_COUNTED}` : matches.length;
			return {
				problem: `${name} matches ${count} places (lines ${lines.join(", ")}${more}). Add surrounding lines until it matches only one, or set replaceAll to true to change all of them.`,
			};
		}
		for (const match of withoutOverlaps(matches)) {
			const text = isTolerant ? keepUntouchedLines(content.slice(match.start, match.end), oldText, newText) : newText;
			const range = text === "" ? completeLines(content, match) : match;
			found.push({ ...range, text: text.replaceAll("\n", lineEnd), isTolerant, number: index + 1 });
		}
	}
	found.sort((a, b) => a.start - b.start);
	for (const [index, next] of found.entries()) {
		const before = found[index - 1];
		if (before && before.end > next.start) {
			const [first, second] = [before.number, next.number].sort((a, b) => a - b);
			return {
				problem: `Edits ${first} and ${second} overlap at line ${lineAt(content, next.start)}. Combine them into one edit.`,
			};
		}
	}
	return { replacements: found.map(({ number: _, ...replacement }) => replacement) };
}

/** The matches from the first to the last that do not overlap one before them, as every search and replace counts. */
function withoutOverlaps(matches: readonly Match[]): Match[] {
	const kept: Match[] = [];
	for (const match of matches) if (match.start >= (kept.at(-1)?.end ?? 0)) kept.push(match);
	return kept;
}

/** A deleted range with the end of its last line if it consists of complete lines: no empty line is left in their place. */
function completeLines(content: string, { start, end }: Match): Match {
	const isLines = (start === 0 || content[start - 1] === "\n") && content[end - 1] !== "\n";
	if (!isLines) return { start, end };
	const lineEnd = content.startsWith("\r\n", end) ? 2 : content[end] === "\n" ? 1 : 0;
	return { start, end: end + lineEnd };
}

/** Applies replacements, which must be sorted by position. */
export function applyReplacements(content: string, replacements: readonly Replacement[]): string {
	let result = "";
	let at = 0;
	for (const { start, end, text } of replacements) {
		result += content.slice(at, start) + text;
		at = end;
	}
	return result + content.slice(at);
}

/** 1-based number of the line that contains a position. */
export function lineAt(content: string, position: number): number {
	let line = 1;
	for (let at = content.indexOf("\n"); at !== -1 && at < position; at = content.indexOf("\n", at + 1)) line++;
	return line;
}

/** A text as it is compared, with the original position of each character. */
interface NormalizedText {
	text: string;
	/** Maps a position in `text` to the file; a newline maps to the first character of its CRLF. */
	origin(position: number): number;
}

function normalize(content: string, isTolerant: boolean): NormalizedText {
	if (!isTolerant && !content.includes("\r") && !content.startsWith("\uFEFF")) {
		return { text: content, origin: (position) => position };
	}
	const codes = new Uint16Array(content.length);
	const origins = new Uint32Array(content.length);
	let length = 0;
	/** Start of the blanks before the current position; -1 if there are none. */
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

/** Control characters, which the read tool does not show. */
function isIgnored(code: number): boolean {
	return (code < BLANK && code !== NEWLINE && code !== TAB) || (code >= 0x7f && code <= 0x9f);
}

type Match = Pick<Replacement, "start" | "end">;

/**
 * The accepted matches, one more than `limit` at most. Overlapping ones are included, which make a text just as
 * ambiguous.
 */
function findAll(
	content: string,
	normalized: NormalizedText,
	text: string,
	limit: number,
	accepts: (match: Match) => boolean = () => true,
): Match[] {
	const matches: Match[] = [];
	for (let at = normalized.text.indexOf(text); at !== -1; at = normalized.text.indexOf(text, at + 1)) {
		const last = normalized.origin(at + text.length - 1);
		const match = { start: normalized.origin(at), end: last + (content.startsWith("\r\n", last) ? 2 : 1) };
		if (accepts(match)) matches.push(match);
		if (matches.length > limit) break;
	}
	return matches;
}

function findTolerantly(content: string, normalized: NormalizedText, oldText: string, limit: number): Match[] {
	const plain = normalize(oldText, true).text;
	if (plain.trim() === "") return [];
	// Normalization removes trailing blanks of oldText, so its last word must also end a line in the file.
	const endsLine = /[^\S\n]$/.test(oldText);
	return findAll(content, normalized, plain, limit, ({ end }) => !endsLine || isLineEnd(normalized, end));
}

/** Whether only ignored characters follow a position on its line. */
function isLineEnd(normalized: NormalizedText, position: number): boolean {
	let low = 0;
	let high = normalized.text.length;
	while (low < high) {
		const middle = (low + high) >> 1;
		if (normalized.origin(middle) < position) low = middle + 1;
		else high = middle;
	}
	return low === normalized.text.length || normalized.text[low] === "\n";
}

/**
 * A tolerant match includes lines that the model only quotes, in its own spelling. Unchanged lines at the start and end of
 * the new text keep their spelling in the file.
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
		return `newText is already in the file, at line ${lineAt(withoutReturns(content), already)}: this edit may have been made before.`;
	}
	const wanted = oldText.split("\n");
	while (wanted.length > 1 && wanted[0]?.trim() === "") wanted.shift();
	while (wanted.length > 1 && wanted.at(-1)?.trim() === "") wanted.pop();
	const near = findNearBlock(fileLines, wanted);
	if (near === undefined) return "Read the file again and copy the text exactly.";
	const { start, differing } = near;
	const last = start + wanted.length;
	const where = wanted.length === 1 ? `Line ${last}` : `Lines ${start + 1}-${last}`;
	if (differing === -1) {
		return `${where} ${wanted.length === 1 ? "differs" : "differ"} only in whitespace: copy the indentation exactly.`;
	}
	const inFile = fileLines[start + differing];
	const line = inFile === undefined ? "the file ends" : `line ${start + differing + 1} is ${quote(inFile)}`;
	const verb = wanted.length === 1 ? "is" : "are";
	return `${where} ${verb} the nearest place, but ${line}, not ${quote(wanted[differing] ?? "")}.`;
}

function quote(line: string): string {
	return JSON.stringify(line.slice(0, 200));
}

function withoutReturns(text: string): string {
	return text.includes("\r") ? text.replaceAll("\r\n", "\n") : text;
}

/** The line ending of most lines of a text. */
export function usualLineEnd(content: string): "\n" | "\r\n" {
	const all = content.split("\n").length - 1;
	return content.split("\r\n").length - 1 > all / 2 ? "\r\n" : "\n";
}

/** Lines of a file that resemble wanted ones. Positions count from 0. */
interface NearBlock {
	/** The line of the file that stands for the first wanted one. */
	start: number;
	/** The first wanted line that differs from its line in the file, apart from indentation; -1 if none does. */
	differing: number;
}

/** Maximum number of pairs of lines that are compared: the block of a large file is searched only by equal lines. */
const MAX_PAIRS = 400_000;
/** Mean likeness of its lines from which a block counts as near. */
const MIN_LIKENESS = 0.5;

/** Finds the block of as many lines that resembles the wanted lines most; undefined if none is near. */
function findNearBlock(lines: readonly string[], wanted: readonly string[]): NearBlock | undefined {
	const file = lines.map((line) => line.trim());
	const block = wanted.map((line) => line.trim());
	const comparesWords = file.length * block.length <= MAX_PAIRS;
	const words = comparesWords ? file.map(wordsOf) : [];
	const wantedWords = comparesWords ? block.map(wordsOf) : [];
	const likeness = (at: number, index: number) => {
		if (file[at] === block[index]) return 1;
		return comparesWords ? commonShare(words[at], wantedWords[index]) : 0;
	};
	let best: { start: number; likeness: number } | undefined;
	for (let start = 0; start < file.length; start++) {
		let sum = 0;
		for (let index = 0; index < block.length && start + index < file.length; index++)
			sum += likeness(start + index, index);
		const mean = sum / block.length;
		if (mean >= MIN_LIKENESS && mean > (best?.likeness ?? 0)) best = { start, likeness: mean };
	}
	if (!best) return undefined;
	const { start } = best;
	return { start, differing: block.findIndex((line, index) => line !== file[start + index]) };
}

/** Words, and signs one by one. */
function wordsOf(line: string): Set<string> {
	return new Set(line.slice(0, 1000).match(/\w+|[^\s\w]/g));
}

/** Share of the words of both that they have in common; 0 without words. */
function commonShare(a: ReadonlySet<string> = new Set(), b: ReadonlySet<string> = new Set()): number {
	if (a.size === 0 || b.size === 0) return 0;
	let common = 0;
	for (const word of a) if (b.has(word)) common++;
	return (2 * common) / (a.size + b.size);
}

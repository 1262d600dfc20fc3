import { graphemes } from "./internals/measure-text.js";
/** How well a query matches a text. */
export interface FuzzyMatch {
	/** Higher is better; only comparable for the same query. */
	score: number;
	/** Indices of the matched UTF-16 units in the text, ascending. */
	positions: number[];
}

const MATCH = 16;
const AT_BOUNDARY = 10;
const AT_START = 14;
const IN_A_ROW = 8;
const GAP = 3;
const BOUNDARY = /[\s\-_./:\\]/;

/**
 * Matches every word of the query in the text, ignoring case: its letters in order, not necessarily adjacent. Adjacent
 * letters, starts of words and short texts score higher.
 * @returns null when a word does not match
 */
export function fuzzyMatch(query: string, text: string): FuzzyMatch | null {
	const lower = text.toLowerCase();
	// Some letters change their length in lower case, which would shift positions.
	const haystack = lower.length === text.length ? lower : text;
	const words = query.toLowerCase().split(/\s+/).filter(Boolean);
	const [only, ...others] = words;
	if (only !== undefined && others.length === 0) {
		const match = matchWord(only, haystack);
		const bonus = only === haystack ? AT_START * 4 : 0;
		return match && { score: match.score + bonus - text.length / 50, positions: match.positions };
	}
	let score = 0;
	const positions = new Set<number>();
	for (const word of words) {
		const match = matchWord(word, haystack);
		if (!match) return null;
		score += match.score;
		for (const position of match.positions) positions.add(position);
	}
	return { score: score - text.length / 50, positions: [...positions].sort((a, b) => a - b) };
}

/** @returns the matching items, best first, equal scores in their order; all items for an empty query */
export function fuzzyFilter<T>(items: readonly T[], query: string, textOf: (item: T) => string): T[] {
	if (!query.trim()) return [...items];
	return items
		.flatMap((item) => {
			const match = fuzzyMatch(query, textOf(item));
			return match ? [{ item, score: match.score }] : [];
		})
		.sort((a, b) => b.score - a.score)
		.map(({ item }) => item);
}

/** Applies a style to the matched letters, never to half of a character. */
export function markMatch(text: string, positions: readonly number[], style: (text: string) => string): string {
	const marked = new Set(wholeCharacters(text, positions));
	let out = "";
	let at = 0;
	while (at < text.length) {
		const start = at;
		const inside = marked.has(at);
		while (at < text.length && marked.has(at) === inside) at += 1;
		const run = text.slice(start, at);
		out += inside ? style(run) : run;
	}
	return out;
}

/** Extends positions to complete graphemes. */
function wholeCharacters(text: string, positions: readonly number[]): readonly number[] {
	if (positions.length === 0 || /^[\x20-\x7e]*$/.test(text)) return positions;
	const marked = new Set(positions);
	const complete: number[] = [];
	for (const { segment, index } of graphemes.segment(text)) {
		const units = range(index, segment.length);
		if (units.some((unit) => marked.has(unit))) complete.push(...units);
	}
	return complete;
}

/** @returns `length` numbers from `start` on */
function range(start: number, length: number): number[] {
	return Array.from({ length }, (_, offset) => start + offset);
}

function matchWord(word: string, text: string): FuzzyMatch | null {
	const start = findSubstring(word, text);
	if (start !== -1) return score(text, range(start, word.length));
	const letters = [...word];
	const end = endOfMatch(letters, text);
	if (end === -1) return null;
	// Searching backwards from the end finds the shortest range with all letters.
	const positions: number[] = [];
	let at = end;
	for (const letter of letters.reverse()) {
		at = text.lastIndexOf(letter, at - letter.length);
		positions.unshift(...range(at, letter.length));
	}
	return score(text, positions);
}

/** @returns where the text contains the word literally, preferably at the start of a word; -1 when nowhere */
function findSubstring(word: string, text: string): number {
	const first = text.indexOf(word);
	for (let at = first; at !== -1; at = text.indexOf(word, at + 1)) if (isBoundary(text, at)) return at;
	return first;
}

/** @returns the index after the first match of all letters in order; -1 without one */
function endOfMatch(letters: readonly string[], text: string): number {
	let end = 0;
	for (const letter of letters) {
		const at = text.indexOf(letter, end);
		if (at === -1) return -1;
		end = at + letter.length;
	}
	return end;
}

function score(text: string, positions: number[]): FuzzyMatch {
	let total = 0;
	let previous: number | undefined;
	for (const position of positions) {
		total += MATCH;
		if (position === 0) total += AT_START;
		else if (isBoundary(text, position)) total += AT_BOUNDARY;
		if (previous !== undefined) total += position === previous + 1 ? IN_A_ROW : -GAP - (position - previous - 1) / 10;
		previous = position;
	}
	return { score: total, positions };
}

function isBoundary(text: string, at: number): boolean {
	return at === 0 || BOUNDARY.test(text.charAt(at - 1));
}

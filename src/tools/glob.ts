/** A pattern that paths are matched against. */
export interface Glob {
	/** Whether a path, relative and with `/` between its parts, fits. */
	matches(path: string): boolean;
	/** Patterns of `*`, `?` and plain characters of which a matching file's name fits one; null when there are none. */
	namePatterns: string[] | null;
}

type Token = "any" | "star" | ((character: string) => boolean);

/** Braces may stand for at most so many patterns. */
const MAX_ALTERNATIVES = 200;

/** Means the same to every program that knows patterns, and is more than stars. */
const SIMPLE_NAME = /^(?=.*[\w.])[\w.*?@+ -]+$/;

/**
 * Understands `*`, `?`, `[a-z]`, `[!a-z]`, `{a,b}`, `\` before a character taken literally, and `**` for any number of
 * directories. A pattern without `/` is matched against the name alone, wherever the file is. Matching takes time in
 * proportion to the lengths of pattern and path multiplied, whatever the pattern.
 */
export function parseGlob(pattern: string): Glob {
	const trimmed = pattern.replace(/^(?:\.\/)+/, "");
	const alternatives = expandBraces(trimmed).map((alternative) => alternative.replace(/^\/+/, "").split("/"));
	const compiled = alternatives.map((parts) => {
		const anchored = parts.length === 1 ? ["**", ...parts] : parts;
		return anchored.map((part) => (part === "**" ? "star" : tokenize(part)));
	});
	const names = alternatives.map((parts) => parts.at(-1) ?? "");
	return {
		matches: (path) => {
			const parts = path.split("/");
			return compiled.some((patterns) =>
				matchSequence(parts, patterns, (part, tokens) => matchSequence([...part], tokens, matchCharacter)),
			);
		},
		namePatterns: names.every((name) => SIMPLE_NAME.test(name)) ? names : null,
	};
}

/**
 * Matches a sequence against patterns of which `star` fits any number of items. After a failure only the last star is
 * tried again: what an earlier one could take, the last one can take as well.
 */
function matchSequence<TItem, TPattern>(
	items: readonly TItem[],
	patterns: readonly (TPattern | "star")[],
	fits: (item: TItem, pattern: TPattern) => boolean,
): boolean {
	let item = 0;
	let at = 0;
	let starAt = -1;
	let starItem = 0;
	while (item < items.length) {
		const pattern = patterns[at];
		const current = items[item];
		if (pattern === "star") {
			starAt = at++;
			starItem = item;
		} else if (pattern !== undefined && current !== undefined && fits(current, pattern)) {
			at++;
			item++;
		} else if (starAt >= 0) {
			at = starAt + 1;
			item = ++starItem;
		} else {
			return false;
		}
	}
	while (patterns[at] === "star") at++;
	return at === patterns.length;
}

function matchCharacter(character: string, token: Exclude<Token, "star">): boolean {
	return token === "any" || token(character);
}

function tokenize(part: string): Token[] {
	const tokens: Token[] = [];
	const characters = [...part];
	for (let at = 0; at < characters.length; at++) {
		const character = characters[at] ?? "";
		if (character === "*") {
			if (tokens.at(-1) !== "star") tokens.push("star");
		} else if (character === "?") {
			tokens.push("any");
		} else if (character === "[") {
			const end = characters.indexOf("]", at + (characters[at + 1] === "!" || characters[at + 1] === "^" ? 3 : 2));
			if (end === -1) tokens.push(literal(character));
			else {
				tokens.push(characterClass(characters.slice(at + 1, end)));
				at = end;
			}
		} else {
			const escaped = character === "\\" && at + 1 < characters.length;
			tokens.push(literal(escaped ? (characters[++at] ?? "") : character));
		}
	}
	return tokens;
}

function literal(expected: string): Token {
	return (character) => character === expected;
}

function characterClass(body: string[]): Token {
	const negated = body[0] === "!" || body[0] === "^";
	const members = negated ? body.slice(1) : body;
	const ranges: [string, string][] = [];
	for (let at = 0; at < members.length; at++) {
		const first = members[at] ?? "";
		const last = members[at + 1] === "-" ? members[at + 2] : undefined;
		ranges.push([first, last ?? first]);
		if (last !== undefined) at += 2;
	}
	return (character) => ranges.some(([first, last]) => first <= character && character <= last) !== negated;
}

/** `a{b,c}d` → `abd`, `acd`; nested braces too. An unbalanced brace is taken literally. */
function expandBraces(pattern: string): string[] {
	let expanded = [""];
	let at = 0;
	while (at < pattern.length) {
		const character = pattern[at] ?? "";
		const group = character === "{" ? readGroup(pattern, at) : undefined;
		if (group === undefined) {
			const step = character === "\\" ? pattern.slice(at, at + 2) : character;
			expanded = expanded.map((prefix) => prefix + step);
			at += step.length;
			continue;
		}
		const options = group.options.flatMap(expandBraces);
		expanded = expanded.flatMap((prefix) => options.map((option) => prefix + option)).slice(0, MAX_ALTERNATIVES);
		at = group.end;
	}
	return expanded;
}

function readGroup(pattern: string, open: number): { options: string[]; end: number } | undefined {
	const options: string[] = [];
	let depth = 0;
	let start = open + 1;
	for (let at = open; at < pattern.length; at++) {
		const character = pattern[at];
		if (character === "\\") at++;
		else if (character === "{") depth++;
		else if (character === "," && depth === 1) {
			options.push(pattern.slice(start, at));
			start = at + 1;
		} else if (character === "}" && --depth === 0) {
			options.push(pattern.slice(start, at));
			return { options, end: at + 1 };
		}
	}
	return undefined;
}

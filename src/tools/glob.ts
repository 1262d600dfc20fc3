/** A compiled glob pattern. */
export interface Glob {
	/** @param path relative, with `/` */
	matches(path: string): boolean;
	/** Patterns of `*`, `?` and plain characters; each matching file name matches one. null if any name may match. */
	namePatterns: string[] | null;
}

type Token = "star" | ((character: string) => boolean);

/** Maximum number of patterns that braces expand to. */
const MAX_ALTERNATIVES = 200;

/** A pattern that every glob implementation understands the same way, and that is not only stars. */
const SIMPLE_NAME = /^(?=.*[\w.])[\w.*?@+ -]+$/;

/**
 * Parses a glob with `*`, `?`, `[a-z]`, `[!a-z]`, `{a,b}`, `\` to escape a character, and `**` for any number of
 * directories. A pattern without `/` matches file names in any directory. For every pattern, matching takes time
 * proportional to the length of the pattern times the length of the path.
 */
export function parseGlob(pattern: string): Glob {
	const trimmed = pattern.replace(/^(?:\.\/)+/, "");
	const alternatives = expandBraces(trimmed).map((alternative) => alternative.replace(/^\/+/, "").split("/"));
	const compiled = alternatives.map((segments) => {
		const anchored = segments.length === 1 ? ["**", ...segments] : segments;
		return anchored.map((segment) => (segment === "**" ? "star" : tokenize(segment)));
	});
	const names = alternatives.map((segments) => segments.at(-1) ?? "");
	return {
		matches: (path) => {
			const segments = path.split("/");
			return compiled.some((patterns) =>
				matchSequence(segments, patterns, (segment, tokens) =>
					matchSequence([...segment], tokens, (character, matches) => matches(character)),
				),
			);
		},
		namePatterns: names.every((name) => SIMPLE_NAME.test(name)) ? names : null,
	};
}

/**
 * Matches a sequence against patterns; `star` matches any number of items. On a mismatch only the last star is extended:
 * extending an earlier one could not match more.
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

function tokenize(segment: string): Token[] {
	const tokens: Token[] = [];
	const characters = [...segment];
	/** Without a `]` no class ends, and none is searched again. */
	let hasEnd = true;
	for (let at = 0; at < characters.length; at++) {
		const character = characters[at] ?? "";
		if (character === "*") {
			if (tokens.at(-1) !== "star") tokens.push("star");
		} else if (character === "?") {
			tokens.push(() => true);
		} else if (character === "[") {
			const end: number = hasEnd ? classEnd(characters, at) : -1;
			hasEnd = end !== -1;
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

/** Index of the `]` that closes a class; -1 if it is not closed. A `]` directly after `[` or `[!` is part of the class. */
function classEnd(characters: string | string[], start: number): number {
	const isNegated = characters[start + 1] === "!" || characters[start + 1] === "^";
	return characters.indexOf("]", start + (isNegated ? 3 : 2));
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

/** `a{b,c}d` → `abd`, `acd`; braces can be nested. An unbalanced brace is literal. */
function expandBraces(pattern: string): string[] {
	let expanded = [""];
	let at = 0;
	const closed = closedBraces(pattern);
	while (at < pattern.length) {
		const character = pattern[at] ?? "";
		const group = closed.has(at) ? readGroup(pattern, at) : undefined;
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

/** Positions of the braces that are closed: searching the end of each would take quadratic time. */
function closedBraces(pattern: string): Set<number> {
	const closed = new Set<number>();
	const open: number[] = [];
	for (let at = 0; at < pattern.length; at++) {
		const character = pattern[at];
		if (character === "\\") at++;
		else if (character === "{") open.push(at);
		else if (character === "}") {
			const start = open.pop();
			if (start !== undefined) closed.add(start);
		}
	}
	return closed;
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

/** Why a glob may match less than its author expects, as a clause; undefined if it is well formed. */
export function describeGlobProblem(pattern: string): string | undefined {
	if (pattern === "") return "an empty glob matches no file";
	for (let at = 0; at < pattern.length; at++) {
		const character = pattern[at];
		if (character === "\\") at++;
		else if (character === "[") {
			const end = classEnd(pattern, at);
			if (end === -1 || pattern.slice(at, end).includes("/"))
				return `in ${pattern}, [ is not closed and matches only itself`;
			const range = /(.)-(.)/su.exec(pattern.slice(at + 1, end));
			if (range?.[1] && range[2] && range[1] > range[2]) return `in ${pattern}, the range ${range[0]} is empty`;
			at = end;
		} else if (character === "{" && readGroup(pattern, at) === undefined) {
			return `in ${pattern}, { is not closed and matches only itself`;
		}
	}
	return undefined;
}

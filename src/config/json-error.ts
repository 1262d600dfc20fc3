/** A position in a text. */
export interface JsonPosition {
	/** 1-based. */
	line: number;
	/** 1-based, in UTF-16 units. */
	column: number;
}

/** Path of a value: member names and item indices, outermost first. */
export type JsonKeys = readonly (string | number)[];

/** The first syntax error of a JSON text. */
export interface JsonError extends JsonPosition {
	reason: string;
}

const BLANK = /[ \t\n\r]*/y;
const LITERAL = /true|false|null/y;
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const WORD = /[^\s,:[\]{}"]+/y;
const STRING_RUN = /[^"\\\x00-\x1f]*/y;
const ESCAPE = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y;

/** The next token: a value, a key, or the end or continuation of the collection. */
type Expected = "value" | "firstValue" | "key" | "firstKey" | "colon" | "afterValue";

/** @returns null if `text` is valid JSON */
export function findJsonError(text: string): JsonError | null {
	return new JsonScanner(text).run();
}

const TOKEN = /"[^"\\]*(?:\\.[^"\\]*)*"|[{}[\]:,]|[^\s{}[\]:,"]+/g;

/**
 * Finds the value at these keys, or its key, in valid JSON. Among members with the same name the last one is found, as
 * in `JSON.parse`.
 */
export function locateJson(text: string, keys: JsonKeys, part: "key" | "value" = "value"): JsonPosition | null {
	let found: number | null = null;
	/** The open brackets: index of the current item, or name of the current member; null before the name. */
	const open: { key: string | number | null; keyAt: number }[] = [];
	for (const { 0: token, index } of text.matchAll(TOKEN)) {
		const inner = open.at(-1);
		if (token === ":") continue;
		if (token === "}" || token === "]") open.pop();
		else if (token === "," && inner) inner.key = typeof inner.key === "number" ? inner.key + 1 : null;
		else if (inner?.key === null) Object.assign(inner, { key: JSON.parse(token), keyAt: index });
		else {
			const isHere = open.length === keys.length && open.every(({ key }, depth) => key === keys[depth]);
			if (isHere) found = part === "key" && typeof inner?.key === "string" ? inner.keyAt : index;
			if (token === "{" || token === "[") open.push({ key: token === "{" ? null : 0, keyAt: index });
		}
	}
	return found === null ? null : positionOf(text, found);
}

function positionOf(text: string, offset: number): JsonPosition {
	const before = text.slice(0, offset);
	return { line: before.split("\n").length, column: offset - before.lastIndexOf("\n") };
}

/** Scans JSON with an explicit stack, so that deep nesting cannot overflow the call stack. */
class JsonScanner {
	#at = 0;
	#expected: Expected = "value";
	/** Offsets of the open brackets. */
	readonly #open: number[] = [];

	constructor(private readonly text: string) {}

	run(): JsonError | null {
		for (;;) {
			this.#skip(BLANK);
			const end = this.#at >= this.text.length;
			if (end && this.#expected === "afterValue" && this.#open.length === 0) return null;
			const problem = end ? this.#endProblem() : this.#step(this.text.charAt(this.#at));
			if (problem !== null) return this.#error(problem);
		}
	}

	/** Reads one token. @returns the problem with it, or null */
	#step(character: string): string | null {
		switch (this.#expected) {
			case "colon":
				if (character !== ":") return 'expected ":" after the key';
				this.#advance(1, "value");
				return null;
			case "key":
			case "firstKey":
				if (character === "}") {
					if (this.#expected === "key") return 'a "," before "}" is not allowed';
					return this.#close();
				}
				if (character !== '"') return this.#commentProblem() ?? 'expected a key in double quotes or "}"';
				return this.#string("colon");
			case "afterValue":
				return this.#afterValue(character);
			default:
				return this.#value(character);
		}
	}

	#value(character: string): string | null {
		if (character === "{" || character === "[") {
			this.#open.push(this.#at);
			this.#advance(1, character === "{" ? "firstKey" : "firstValue");
			return null;
		}
		if (character === '"') return this.#string("afterValue");
		if (character === "]" && this.#open.length > 0) {
			if (this.#expected === "firstValue") return this.#close();
			if (this.#inArray()) return 'a "," before "]" is not allowed';
		}
		const start = this.#at;
		const plain = this.#skip(LITERAL) || this.#skip(NUMBER);
		if (plain > 0 && this.#match(WORD) === "") {
			this.#expected = "afterValue";
			return null;
		}
		this.#at = start;
		return this.#commentProblem() ?? `expected a value, found ${this.#found()}`;
	}

	#afterValue(character: string): string | null {
		if (this.#open.length === 0) return `unexpected ${this.#found()} after the end`;
		const array = this.#inArray();
		if (character === ",") {
			this.#advance(1, array ? "value" : "key");
			return null;
		}
		if (character === (array ? "]" : "}")) return this.#close();
		return this.#commentProblem() ?? `expected "," or "${array ? "]" : "}"}", found ${this.#found()}`;
	}

	#string(next: Expected): string | null {
		this.#at++;
		for (;;) {
			this.#skip(STRING_RUN);
			const character = this.text.charAt(this.#at);
			if (character === '"') {
				this.#advance(1, next);
				return null;
			}
			if (character === "\\") {
				if (this.#skip(ESCAPE) === 0) return "a backslash in a string must be written as \\\\";
			} else {
				return character === "" ? "unterminated string" : "a string must end on the line it starts on";
			}
		}
	}

	#close(): null {
		this.#open.pop();
		this.#advance(1, "afterValue");
		return null;
	}

	#inArray(): boolean {
		return this.text.charAt(this.#open.at(-1) ?? -1) === "[";
	}

	#endProblem(): string {
		const open = this.#open.at(-1);
		if (open === undefined) return this.text.trim() === "" ? "the file is empty" : "unexpected end of file";
		return `unexpected end of file: the "${this.text.charAt(open)}" in line ${positionOf(this.text, open).line} is not closed`;
	}

	#commentProblem(): string | null {
		return this.text.startsWith("//", this.#at) || this.text.startsWith("/*", this.#at)
			? "comments are not allowed in JSON"
			: null;
	}

	#found(): string {
		if (this.text.charAt(this.#at) === "'") return "a single quote (strings need double quotes)";
		const word = this.#match(WORD) || this.text.charAt(this.#at);
		return JSON.stringify(word.slice(0, 20));
	}

	/** Skips a match at the current position. @returns its length */
	#skip(pattern: RegExp): number {
		const { length } = this.#match(pattern);
		this.#at += length;
		return length;
	}

	/** The match at the current position; empty if none exists. */
	#match(pattern: RegExp): string {
		pattern.lastIndex = this.#at;
		return pattern.exec(this.text)?.[0] ?? "";
	}

	#advance(count: number, next: Expected): void {
		this.#at += count;
		this.#expected = next;
	}

	#error(reason: string): JsonError {
		return { ...positionOf(this.text, this.#at), reason };
	}
}

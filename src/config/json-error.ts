/** A position in a text. */
export interface JsonPosition {
	/** 1-based. */
	line: number;
	/** 1-based, in UTF-16 units. */
	column: number;
}

/** Member names and item indices that lead to a value, outermost first. */
export type JsonKeys = readonly (string | number)[];

/** The first place where a text stops being JSON. */
export interface JsonError extends JsonPosition {
	/** What is wrong there, in words. */
	reason: string;
}

const BLANK = /[ \t\n\r]*/y;
const LITERAL = /true|false|null/y;
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const WORD = /[^\s,:[\]{}"]+/y;
const STRING_RUN = /[^"\\\x00-\x1f]*/y;
const ESCAPE = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y;

/** What must come next: a value, a key, or what follows a value. */
type Expected = "value" | "firstValue" | "key" | "firstKey" | "colon" | "afterValue";

/** @returns where and why `text` is no JSON; null when it is */
export function findJsonError(text: string): JsonError | null {
	return new JsonScanner(text).run();
}

const TOKEN = /"[^"\\]*(?:\\.[^"\\]*)*"|[{}[\]:,]|[^\s{}[\]:,"]+/g;

/**
 * Finds the value at these keys, or its key, in a text that is JSON. Of members with one name the last counts, as for
 * `JSON.parse`.
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

/** Walks over JSON with a stack of its own, so that deep nesting cannot overflow. */
class JsonScanner {
	#at = 0;
	#expected: Expected = "value";
	/** Offsets of the brackets that are open. */
	readonly #open: number[] = [];

	constructor(private readonly text: string) {}

	run(): JsonError | null {
		for (;;) {
			this.#take(BLANK);
			const end = this.#at >= this.text.length;
			if (end && this.#expected === "afterValue" && this.#open.length === 0) return null;
			const problem = end ? this.#endProblem() : this.#step(this.text.charAt(this.#at));
			if (problem !== null) return this.#error(problem);
		}
	}

	/** Takes one token. @returns what is wrong with it, or null */
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
		const plain = this.#take(LITERAL) || this.#take(NUMBER);
		if (plain > 0 && !this.#matches(WORD)) {
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
			this.#take(STRING_RUN);
			const character = this.text.charAt(this.#at);
			if (character === '"') {
				this.#advance(1, next);
				return null;
			}
			if (character === "\\") {
				if (this.#take(ESCAPE) === 0) return "a backslash in a text must be written \\\\";
			} else {
				return character === "" ? "a text is not closed" : "a text must end on its line";
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
		if (open === undefined) return this.text.trim() === "" ? "the file is empty" : "the file ends too early";
		return `the file ends before the "${this.text.charAt(open)}" of line ${positionOf(this.text, open).line} is closed`;
	}

	#commentProblem(): string | null {
		return this.text.startsWith("//", this.#at) || this.text.startsWith("/*", this.#at)
			? "comments are not allowed in JSON"
			: null;
	}

	#found(): string {
		if (this.text.charAt(this.#at) === "'") return "a single quote (texts take double quotes)";
		WORD.lastIndex = this.#at;
		const word = WORD.exec(this.text)?.[0] ?? this.text.charAt(this.#at);
		return JSON.stringify(word.slice(0, 20));
	}

	/** Moves over a match at the current place. @returns its length */
	#take(pattern: RegExp): number {
		pattern.lastIndex = this.#at;
		const length = pattern.exec(this.text)?.[0].length ?? 0;
		this.#at += length;
		return length;
	}

	#matches(pattern: RegExp): boolean {
		pattern.lastIndex = this.#at;
		return pattern.test(this.text);
	}

	#advance(count: number, next: Expected): void {
		this.#at += count;
		this.#expected = next;
	}

	#error(reason: string): JsonError {
		return { ...positionOf(this.text, this.#at), reason };
	}
}

/** Thrown for a source that needs another compiler. One error for all, because each stack trace would take time. */
export const NOT_SIMPLE = new Error("The module needs another compiler");

/** A token; `eof` at the end of the source. Template literals and regular expressions begin with a `punctuator`. */
export interface Token {
	kind: "name" | "punctuator" | "number" | "string" | "eof";
	text: string;
	start: number;
	end: number;
	/** True if a line break precedes it. */
	isOnNewLine: boolean;
}

const SPACE = /(?:[\s\uFEFF]|\/\/[^\n\r\u2028\u2029]*|\/\*[\s\S]*?\*\/)*/y;
/** Characters outside ASCII count as letters: those that are none make the code malformed, which its compiler reports. */
const NAME = /[\w$#\u0080-\uffff]+/y;
const NUMBER = /0[xXoObB][\da-fA-F_]+n?|(?:\d[\d_]*\.?[\d_]*|\.\d[\d_]*)(?:[eE][+-]?\d[\d_]*)?n?/y;
const STRING = /"(?:[^"\\\n\r]|\\(?:\r\n|[\s\S]))*"|'(?:[^'\\\n\r]|\\(?:\r\n|[\s\S]))*'/y;
/** `>` is always a token of its own, because it may end type arguments; `operator` joins it with what follows. */
const PUNCTUATOR =
	/\.\.\.|=>|\?\?=?|\?\.(?!\d)|&&=?|\|\|=?|\*\*=?|<<?=?|[=!]==?|\+\+|--|[-+*/%&|^]=?|[{}()[\];,~:.@`=!?>]/y;
const GREATER = />{1,3}=?/y;
const REGEXP = /\/(?:[^/\\[\n\r]|\\.|\[(?:[^\]\\\n\r]|\\.)*\])+\/\w*/y;
const TEMPLATE_TEXT = /(?:[^`\\$]|\\[\s\S]|\$(?!\{))*/y;
const LINE_BREAK = /[\n\r\u2028\u2029]/;

/** Splits a source into tokens as a parser asks for them, and collects the parts to blank. */
export class Tokens {
	token: Token = { kind: "eof", text: "", start: 0, end: 0, isOnNewLine: true };
	/** End of the token before `token`. */
	lastEnd = 0;
	/** Replacements by start: equally long texts that keep every line break. */
	readonly replaced: { start: number; end: number; text: string }[] = [];

	/** The token that was read last. */
	#next: { from: number; token: Token } | undefined;

	constructor(readonly source: string) {
		this.advance();
	}

	/** Goes to the next token. */
	advance(): void {
		this.lastEnd = this.token.end;
		this.token = this.peek();
	}

	/** The token after the current one. */
	peek(): Token {
		const { end } = this.token;
		if (this.#next?.from !== end) this.#next = { from: end, token: this.#read(end) };
		return this.#next.token;
	}

	/** The token after `count` more. */
	ahead(count: number): Token {
		let { token } = this;
		for (let step = 0; step < count; step++) token = this.#read(token.end);
		return token;
	}

	is(text: string): boolean {
		const { token } = this;
		return token.text === text && (token.kind === "punctuator" || token.kind === "name");
	}

	isName(): boolean {
		return this.token.kind === "name";
	}

	/** Goes on if this is the current token. */
	eat(text: string): boolean {
		const found = this.is(text);
		if (found) this.advance();
		return found;
	}

	expect(text: string): void {
		if (!this.eat(text)) this.fail();
	}

	/** @throws NOT_SIMPLE */
	fail(): never {
		throw NOT_SIMPLE;
	}

	/** The complete operator that begins with `>`. */
	joinGreater(): string {
		GREATER.lastIndex = this.token.start;
		const text = GREATER.exec(this.source)?.[0] ?? this.fail();
		this.token = { ...this.token, text, end: this.token.start + text.length };
		return text;
	}

	/** Skips a regular expression, which begins at the current token. */
	skipRegExp(): void {
		REGEXP.lastIndex = this.token.start;
		if (!REGEXP.test(this.source)) this.fail();
		this.token = { ...this.token, end: REGEXP.lastIndex };
		this.advance();
	}

	/** Skips a template literal. @param inside parses what is between `${` and `}` */
	skipTemplate(inside: () => void): void {
		for (;;) {
			TEMPLATE_TEXT.lastIndex = this.token.end;
			TEMPLATE_TEXT.test(this.source);
			const end = TEMPLATE_TEXT.lastIndex;
			if (this.source[end] === "`") {
				this.token = { ...this.token, end: end + 1 };
				this.advance();
				return;
			}
			if (this.source[end] !== "$") this.fail();
			this.token = { ...this.token, end: end + 2 };
			this.advance();
			inside();
			if (!this.is("}")) this.fail();
		}
	}

	/** Skips a bracket and everything up to the one that closes it. For types only: it knows no regular expressions. */
	skipBrackets(): void {
		const closing: Record<string, string> = { "(": ")", "[": "]", "{": "}" };
		const open = closing[this.token.text];
		if (open === undefined) this.fail();
		this.advance();
		while (!this.is(open)) {
			if (this.token.kind === "eof") this.fail();
			if (this.token.kind !== "punctuator") this.advance();
			else if (this.is("`")) this.skipTemplate(() => this.skipUntilBrace());
			else if (closing[this.token.text] !== undefined) this.skipBrackets();
			else this.advance();
		}
		this.advance();
	}

	/** Skips the type in a template literal type. */
	skipUntilBrace(): void {
		while (!this.is("}")) {
			if (this.token.kind === "eof") this.fail();
			if (this.is("{") || this.is("(") || this.is("[")) this.skipBrackets();
			else if (this.is("`")) this.skipTemplate(() => this.skipUntilBrace());
			else this.advance();
		}
	}

	/** Replaces code by spaces, and its start by a text that fits into it. */
	blank(start: number, end: number, first = ""): void {
		const text = first + this.source.slice(start + first.length, end).replace(/[^\n\r\u2028\u2029]/g, " ");
		this.replaced.push({ start, end, text });
	}

	/** True if a part of the source contains a line break. */
	hasBreak(start: number, end: number): boolean {
		return start < end && LINE_BREAK.test(this.source.slice(start, end));
	}

	/** Runs a parser that may fail, and forgets what it did if it does, or if it returns false. */
	attempt(parse: () => unknown): boolean {
		const { token, lastEnd } = this;
		const count = this.replaced.length;
		try {
			if (parse() !== false) return true;
		} catch (thrown) {
			if (thrown !== NOT_SIMPLE) throw thrown;
		}
		this.token = token;
		this.lastEnd = lastEnd;
		this.replaced.length = count;
		return false;
	}

	#skipSpace(from: number): number {
		const { source } = this;
		const code = source.charCodeAt(from);
		// The next character of most tokens.
		if (code > 32 && code !== 47 && code < 128) return from;
		SPACE.lastIndex = from;
		SPACE.test(source);
		return SPACE.lastIndex;
	}

	#read(from: number): Token {
		const { source } = this;
		const start = this.#skipSpace(from);
		const isOnNewLine = this.hasBreak(from, start);
		const make = (kind: Token["kind"], end: number): Token => {
			return { kind, text: source.slice(start, end), start, end, isOnNewLine };
		};
		if (start >= source.length) return make("eof", start);
		const code = source.charCodeAt(start);
		const isDigit = code >= 48 && code <= 57;
		// A letter, `$`, `#` or `_`.
		if (((code | 32) >= 97 && (code | 32) <= 122) || code === 36 || code === 35 || code === 95 || code > 127)
			return make("name", this.#end(NAME, start));
		if (code === 34 || code === 39) return make("string", this.#end(STRING, start));
		if (isDigit || (code === 46 && /\d/.test(source[start + 1] ?? ""))) return make("number", this.#end(NUMBER, start));
		return make("punctuator", this.#end(PUNCTUATOR, start));
	}

	/** The end of what a pattern matches; one character if it does not match, which is a syntax error. */
	#end(pattern: RegExp, start: number): number {
		pattern.lastIndex = start;
		return pattern.test(this.source) ? pattern.lastIndex : start + 1;
	}
}

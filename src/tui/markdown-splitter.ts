import { Lexer, type Token, type Tokens } from "marked";

/** A section of a Markdown text that can be drawn on its own. */
export interface MarkdownPiece {
	/** Empty for a gap. */
	readonly source: string;
	/** Link definitions of the text so far, one per line, to be put before the source. */
	readonly definitions: string;
	/** Whether its text may refer to a later definition. */
	readonly mayRefer: boolean;
	/** Set for a fenced code block. */
	readonly fence?: { code: string; language: string };
	/** Whether a blank line follows. */
	readonly gapAfter: boolean;
}

/** A tail of this length is parsed again only after growing by a quarter. UTF-16 units. */
const LONG_TAIL = 4_096;
/** A tail can be split only at a blank line or at a fence. */
const CUT_HINT = /\n[ \t]*\n|(?:^|\n) {0,3}(?:`{3}|~{3})/;
const OPEN_FENCE = /^ {0,3}(`{3,}(?!`)|~{3,}(?!~))([^\n]*)\n/;
/** Blocks after which pi-tui adds a blank line even if the source has none. */
const SET_APART = new Set(["heading", "paragraph", "code", "table", "blockquote", "hr"]);

/**
 * Splits growing Markdown into pieces that later text cannot change: drawn one after another, they look like the complete
 * text. The unfinished end remains in `tail`.
 */
export class MarkdownSplitter {
	#tail = "";
	/** Link definitions by label; the first definition of a label counts. */
	readonly #definitions = new Map<string, string>();
	#nextLook = 0;
	#fenceSearched = 0;

	/** The end of the text that is not a piece yet. */
	get tail(): string {
		return this.#tail;
	}

	/** The link definitions so far, one per line. */
	get definitions(): string {
		return [...this.#definitions.values()].join("");
	}

	/** Adds text with `\n` line ends and without tabs. */
	push(text: string): void {
		this.#tail += text;
	}

	/** @returns language and code so far of the fenced block that the tail is in; undefined when it is in none */
	openFence(): { language: string; code: string } | undefined {
		const opening = OPEN_FENCE.exec(this.#tail);
		if (!opening || this.#findClosing(opening)) return undefined;
		return { language: opening[2]?.trim() ?? "", code: this.#tail.slice(opening[0].length) };
	}

	/** Removes final pieces from the tail. @returns them in order; often none */
	takePieces(): MarkdownPiece[] {
		if (this.#tail.length < this.#nextLook || !CUT_HINT.test(this.#tail) || this.openFence()) return [];
		// Complete lines only, without the last line end: the end of the text is trimmed, and this may turn out to be it.
		const { tokens } = this.#lex(this.#tail.slice(0, this.#tail.lastIndexOf("\n") + 1).trimEnd());
		const end = lastCut(tokens);
		const next = tokens[end];
		if (end === 0 || !next) {
			this.#nextLook = this.#tail.length > LONG_TAIL ? this.#tail.length * 1.25 : 0;
			return [];
		}
		const text = this.#tail.slice(0, next.at);
		this.#tail = this.#tail.slice(next.at);
		this.#nextLook = 0;
		this.#fenceSearched = 0;
		return this.#pieces(text, tokens.slice(0, end), next);
	}

	/** Ends the text. @returns the pieces of the tail, which is then empty */
	takeRest(): MarkdownPiece[] {
		const text = this.#tail.trimEnd();
		const { tokens, complete } = this.#lex(text);
		this.#tail = "";
		if (complete) return this.#pieces(text, tokens, undefined);
		return [{ source: text, definitions: this.definitions, mayRefer: mayRefer(text), gapAfter: false }];
	}

	/** Parses only the block structure and collects definitions. `complete`: whether all tokens were located in the text. */
	#lex(text: string): { tokens: LocatedToken[]; complete: boolean } {
		const lexer = new Lexer();
		const lexed = blocksOf(lexer.blockTokens(text, []));
		const tokens: LocatedToken[] = [];
		let at = 0;
		for (const token of lexed) {
			// Between two tokens are definitions. The `raw` text of a quote can differ from the source.
			at = text.indexOf(token.raw, at);
			if (at === -1) break;
			tokens.push({ token, at });
			at += token.raw.length;
		}
		for (const [label, { href }] of Object.entries(lexer.tokens.links)) {
			if (href && !this.#definitions.has(label)) this.#definitions.set(label, `[${label}]: <${href}>\n`);
		}
		return { tokens, complete: tokens.length === lexed.length };
	}

	/** Groups tokens into pieces; each fenced block is its own piece. */
	#pieces(text: string, tokens: readonly LocatedToken[], following: LocatedToken | undefined): MarkdownPiece[] {
		const pieces: MarkdownPiece[] = [];
		const definitions = this.definitions;
		let group: LocatedToken[] = [];
		const flush = (gapAfter: boolean) => {
			pieces.push(toPiece(text, group, definitions, gapAfter));
			group = [];
		};
		for (const [index, located] of tokens.entries()) {
			const { token } = located;
			const next = (tokens[index + 1] ?? following)?.token;
			if (token.type === "space") {
				flush(true);
				continue;
			}
			group.push(located);
			// The blank line closes the group in the next iteration.
			if (next?.type === "space") continue;
			if (!next || next === following?.token || isFence(token) || isFence(next)) flush(needsGap(token, next));
		}
		return pieces;
	}

	#findClosing([opening, marks = ""]: RegExpExecArray): boolean {
		const closing = new RegExp(`\\n {0,3}${marks}${marks.charAt(0)}*[ ]*(?:\\n|$)`, "g");
		closing.lastIndex = Math.max(opening.length - 1, this.#fenceSearched);
		if (closing.test(this.#tail)) return true;
		// The last line may still grow into a closing fence.
		this.#fenceSearched = Math.max(0, this.#tail.lastIndexOf("\n"));
		return false;
	}
}

/** @returns the blocks without definitions, which draw nothing, and with one blank line where those were between two */
export function blocksOf(tokens: readonly Token[]): Token[] {
	const blocks: Token[] = [];
	for (const token of tokens) {
		const repeatsSpace = token.type === "space" && blocks.at(-1)?.type === "space";
		if (token.type !== "def" && !repeatsSpace) blocks.push(token);
	}
	return blocks;
}

/** A block and the index where its source begins. */
interface LocatedToken {
	token: Token;
	at: number;
}

function toPiece(text: string, group: readonly LocatedToken[], definitions: string, gapAfter: boolean): MarkdownPiece {
	const [first] = group;
	const last = group.at(-1);
	const source = first && last ? text.slice(first.at, last.at + last.token.raw.length) : "";
	const code = first && first === last && isFence(first.token) ? first.token : undefined;
	return {
		source,
		definitions,
		mayRefer: !code && mayRefer(source),
		fence: code && { code: code.text, language: code.lang ?? "" },
		gapAfter,
	};
}

function isFence(token: Token): token is Tokens.Code {
	return token.type === "code" && token.codeBlockStyle !== "indented";
}

/** @returns number of final tokens: up to the last blank line or fence that is followed by another block */
function lastCut(tokens: readonly LocatedToken[]): number {
	for (let end = tokens.length - 1; end > 0; end -= 1) {
		const last = tokens[end - 1]?.token;
		const next = tokens[end]?.token;
		if (!last || !next || next.type === "space") continue;
		if (last.type === "space" || isFence(last) || isFence(next)) return end;
	}
	return 0;
}

function needsGap(token: Token, next: Token | undefined): boolean {
	if (!next || !SET_APART.has(token.type)) return false;
	return token.type !== "paragraph" || next.type !== "list";
}

/** Whether the source has brackets that are not code, an inline link or a to-do box. */
function mayRefer(source: string): boolean {
	if (!source.includes("[")) return false;
	return source
		.replace(/(`+)[^`\n]*\1/g, "")
		.replace(/\[[^[\]]*\]\([^()]*\)/g, "")
		.replace(/\[[ xX]\]/g, "")
		.includes("[");
}

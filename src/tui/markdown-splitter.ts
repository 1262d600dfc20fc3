import { Lexer, type Token, type Tokens } from "marked";

/** Part of a markdown text that can be drawn by itself. */
export interface MarkdownPiece {
	/** Its source; empty when there is nothing to draw but a gap. */
	readonly source: string;
	/** Link definitions of the text so far, to be put before the source; one per line. */
	readonly definitions: string;
	/** Its text may refer to a definition that comes later. */
	readonly mayRefer: boolean;
	/** The code of a fenced block and its language, when the piece is one. */
	readonly fence?: { code: string; language: string };
	/** A blank line follows. */
	readonly gapAfter: boolean;
}

/** A tail this long is looked at again only when it has grown by a quarter. UTF-16 units. */
const LONG_TAIL = 4_096;
/** A tail can only be cut at a blank line or at a fence. */
const CUT_HINT = /\n[ \t]*\n|(?:^|\n) {0,3}(?:`{3}|~{3})/;
const OPEN_FENCE = /^ {0,3}(`{3,}|~{3,})([^\n]*)\n/;
/** Blocks that pi-tui sets apart from a block that follows without a blank line. */
const SET_APART = new Set(["heading", "paragraph", "code", "table", "blockquote", "hr"]);

/**
 * Cuts markdown that is still growing into pieces which will not change, however the text goes on: drawn one after the
 * other they look as the whole text would. The unfinished end stays as `tail`.
 */
export class MarkdownSplitter {
	#tail = "";
	/** Link definitions: label to line. The first of a label counts. */
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

	/** @returns the fence that the tail is inside of: its language and its code so far; undefined when in none */
	openFence(): { language: string; code: string } | undefined {
		const opening = OPEN_FENCE.exec(this.#tail);
		if (!opening || this.#findClosing(opening)) return undefined;
		return { language: opening[2]?.trim() ?? "", code: this.#tail.slice(opening[0].length) };
	}

	/** Cuts off what is final. @returns the pieces in order; often none */
	takePieces(): MarkdownPiece[] {
		if (this.#tail.length < this.#nextLook || !CUT_HINT.test(this.#tail) || this.openFence()) return [];
		// Whole lines only, and without the last line end: it may turn out to be the end of the text, which is trimmed.
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

	/** The text has ended. @returns the pieces of the tail; nothing is left */
	takeRest(): MarkdownPiece[] {
		const text = this.#tail.trimEnd();
		const { tokens, complete } = this.#lex(text);
		this.#tail = "";
		if (complete) return this.#pieces(text, tokens, undefined);
		return [{ source: text, definitions: this.definitions, mayRefer: mayRefer(text), gapAfter: false }];
	}

	/**
	 * Block structure alone: what is inside the blocks is not looked at. Remembers the definitions it meets.
	 * `complete` tells whether all tokens were found in the text.
	 */
	#lex(text: string): { tokens: PlacedToken[]; complete: boolean } {
		const lexer = new Lexer();
		const lexed = lexer.blockTokens(text, []);
		const tokens: PlacedToken[] = [];
		let at = 0;
		for (const token of lexed) {
			// What stands between two tokens are definitions. A quote's source is not always as it was written.
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

	/** Groups tokens into pieces; each fenced block is one of its own. */
	#pieces(text: string, tokens: readonly PlacedToken[], following: PlacedToken | undefined): MarkdownPiece[] {
		const pieces: MarkdownPiece[] = [];
		const definitions = this.definitions;
		let group: PlacedToken[] = [];
		const flush = (gapAfter: boolean) => {
			pieces.push(toPiece(text, group, definitions, gapAfter));
			group = [];
		};
		for (const [index, placed] of tokens.entries()) {
			const { token } = placed;
			const next = (tokens[index + 1] ?? following)?.token;
			if (token.type === "space") {
				flush(true);
				continue;
			}
			group.push(placed);
			// A blank line closes the group when its turn comes.
			if (next?.type === "space") continue;
			if (!next || next === following?.token || isFence(token) || isFence(next)) flush(needsGap(token, next));
		}
		return pieces;
	}

	#findClosing([opening, marks = ""]: RegExpExecArray): boolean {
		const closing = new RegExp(`\\n {0,3}${marks}${marks.charAt(0)}*[ ]*(?:\\n|$)`, "g");
		closing.lastIndex = Math.max(opening.length - 1, this.#fenceSearched);
		if (closing.test(this.#tail)) return true;
		// The last line may still become a closing one.
		this.#fenceSearched = Math.max(0, this.#tail.lastIndexOf("\n"));
		return false;
	}
}

/** A block and where its source begins. */
interface PlacedToken {
	token: Token;
	at: number;
}

function toPiece(text: string, group: readonly PlacedToken[], definitions: string, gapAfter: boolean): MarkdownPiece {
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

/** @returns how many tokens are final: up to the last blank line or fence that something follows */
function lastCut(tokens: readonly PlacedToken[]): number {
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

/** Whether brackets are left that are neither code, nor a link with its address, nor a task's box. */
function mayRefer(source: string): boolean {
	if (!source.includes("[")) return false;
	return source
		.replace(/(`+)[^`\n]*\1/g, "")
		.replace(/\[[^\]]*\]\([^)]*\)/g, "")
		.replace(/\[[ xX]\]/g, "")
		.includes("[");
}

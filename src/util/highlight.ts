import { setImmediate } from "node:timers/promises";
import type { Emitter, HLJSApi } from "highlight.js";

type Style = (text: string) => string;

/** Styles for the kinds of tokens. */
export interface CodeStyles {
	keyword: Style;
	string: Style;
	number: Style;
	comment: Style;
	title: Style;
	type: Style;
	added: Style;
	removed: Style;
	/** For all other text; default: unchanged. */
	plain?: Style;
}

/** Longer code stays plain: highlighting it would delay a frame. UTF-16 units. */
const MAX_CODE_LENGTH = 60_000;
const MAX_CACHED_BLOCKS = 200;

/** The kinds that tokens can have. */
type Kind = Exclude<keyof CodeStyles, "plain">;

/** A part of code. Without a kind, it is plain. */
export interface CodeToken {
	text: string;
	kind: Kind | undefined;
}

const KINDS: Record<string, Kind> = {
	keyword: "keyword",
	literal: "number",
	number: "number",
	string: "string",
	regexp: "string",
	symbol: "string",
	comment: "comment",
	quote: "comment",
	meta: "comment",
	title: "title",
	section: "title",
	name: "title",
	type: "type",
	built_in: "type",
	class: "type",
	attr: "type",
	attribute: "type",
	variable: "type",
	addition: "added",
	deletion: "removed",
	"selector-tag": "keyword",
	"selector-class": "title",
	"selector-id": "title",
	tag: "keyword",
	bullet: "keyword",
};

let engine: HLJSApi | undefined;
let loading: Promise<void> | undefined;

/** Loads the highlighter, which takes tens of milliseconds: call it after the first paint. Code stays plain until then. */
export function loadHighlighter(): Promise<void> {
	loading ??= import("highlight.js/lib/common").then((module) => {
		engine = module.default;
		engine.configure({ __emitter: SegmentEmitter });
	});
	return loading;
}

/** Languages that models write most often. Others would cost each start more than they save. */
const COMMON = ["typescript", "python", "bash", "json"];
/** Makes the engine compile most expressions of a grammar. */
const SAMPLE = "export function a(b) { return 'c' + 1; } // d";

/**
 * Compiles the grammars of common languages, one in each turn of the event loop. Otherwise the first block of code in a language
 * delays a frame by up to 50 ms. Call it after `loadHighlighter`, when nothing else waits.
 */
export async function compileGrammars(): Promise<void> {
	for (const language of COMMON) {
		engine?.highlight(SAMPLE, { language, ignoreIllegals: true });
		await setImmediate();
	}
}

/** Splits code into its tokens by line. null: the code stays plain. */
export type Tokenizer = (code: string, language: string) => readonly (readonly CodeToken[])[] | null;

/**
 * Creates a function that finds the tokens of code. It returns null for unknown languages, very long code, and all code before
 * `loadHighlighter` has finished. Tokens never cross a line end.
 */
export function createTokenizer(): Tokenizer {
	const cache = new Map<string, CodeToken[][]>();
	return (code, language) => {
		const name = language.trim().split(/[\s,{]/, 1)[0] ?? "";
		if (!engine || !name || code.length > MAX_CODE_LENGTH || !engine.getLanguage(name)) return null;
		const key = `${name}\n${code}`;
		const known = cache.get(key);
		if (known) return known;
		const { errorRaised, _emitter: emitter } = engine.highlight(code, { language: name, ignoreIllegals: true });
		// After an internal error only part of the code is highlighted.
		if (errorRaised || !(emitter instanceof SegmentEmitter)) return null;
		const lines = intoLines(emitter.segments);
		if (cache.size >= MAX_CACHED_BLOCKS) {
			const [oldest] = cache.keys();
			if (oldest !== undefined) cache.delete(oldest);
		}
		cache.set(key, lines);
		return lines;
	};
}

/** Creates a function that highlights code and returns its lines. */
export function createHighlighter(
	styles: CodeStyles,
	tokensOf: Tokenizer = createTokenizer(),
): (code: string, language?: string) => string[] {
	const paint = ({ text, kind }: CodeToken) => styles[kind ?? "plain"]?.(text) ?? text;
	return (code, language = "") => {
		const lines = tokensOf(code, language);
		if (lines) return lines.map((tokens) => tokens.map(paint).join(""));
		const plain = code.split("\n");
		return styles.plain ? plain.map(styles.plain) : plain;
	};
}

/** The language of a file as the highlighter names it: its extension, or its name if it has none. */
export function languageOf(path: unknown): string {
	const name = typeof path === "string" ? (path.split(/[/\\]/).at(-1) ?? "").toLowerCase() : "";
	return name.slice(name.lastIndexOf(".") + 1);
}

/** Collects the highlighter's tokens; the default emitter would turn them into HTML. */
class SegmentEmitter implements Emitter {
	/** The code in order, each segment with its innermost kind. */
	readonly segments: CodeToken[] = [];
	/** Kinds of the open scopes; a scope without a kind inherits that of its parent. */
	readonly #kinds: (Kind | undefined)[] = [];

	startScope(scope: string): void {
		this.#kinds.push(KINDS[scope.split(".", 1)[0] ?? ""] ?? this.#kinds.at(-1));
	}

	endScope(): void {
		this.#kinds.pop();
	}

	/** The names that older grammars call. */
	openNode(scope: string): void {
		this.startScope(scope);
	}

	closeNode(): void {
		this.endScope();
	}

	addText(text: string): void {
		this.#add(text, this.#kinds.at(-1));
	}

	/** Adds code in an embedded language, such as a script in HTML. */
	__addSublanguage(inner: Emitter): void {
		if (!(inner instanceof SegmentEmitter)) return;
		for (const { text, kind } of inner.segments) this.#add(text, kind ?? this.#kinds.at(-1));
	}

	finalize(): void {}

	toHTML(): string {
		return "";
	}

	#add(text: string, kind: Kind | undefined): void {
		const last = this.segments.at(-1);
		if (last && last.kind === kind) last.text += text;
		else this.segments.push({ text, kind });
	}
}

function intoLines(segments: readonly CodeToken[]): CodeToken[][] {
	const lines: CodeToken[][] = [[]];
	for (const { text, kind } of segments) {
		for (const [at, run] of text.split("\n").entries()) {
			if (at > 0) lines.push([]);
			if (run) lines.at(-1)?.push({ text: run, kind });
		}
	}
	return lines;
}

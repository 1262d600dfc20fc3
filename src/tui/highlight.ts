import type { Emitter, HLJSApi } from "highlight.js";

type Style = (text: string) => string;

/** Styles for the kinds of token that the highlighter tells apart. */
export interface CodeStyles {
	keyword: Style;
	string: Style;
	number: Style;
	comment: Style;
	title: Style;
	type: Style;
	added: Style;
	removed: Style;
}

/** Longer code stays plain: colouring it would hold up a frame. UTF-16 units. */
const MAX_CODE_LENGTH = 60_000;
const MAX_CACHED_BLOCKS = 200;

const KINDS: Record<string, keyof CodeStyles> = {
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

/**
 * Loads the highlighter. Code drawn before stays plain until it is drawn anew.
 * Call it after the first paint: it costs tens of milliseconds once.
 */
export function loadHighlighter(): Promise<void> {
	loading ??= import("highlight.js/lib/common").then((module) => {
		engine = module.default;
		engine.configure({ __emitter: CodeParts });
	});
	return loading;
}

/**
 * A function that colours code, one string per line. It gives plain lines for languages it does not know, for very long
 * code, and for everything until `loadHighlighter` is done. Styles never cross a line end.
 */
export function createHighlighter(styles: CodeStyles): (code: string, language?: string) => string[] {
	const cache = new Map<string, string[]>();
	return (code, language = "") => {
		const name = language.trim().split(/[\s,{]/, 1)[0] ?? "";
		if (!engine || !name || code.length > MAX_CODE_LENGTH || !engine.getLanguage(name)) return code.split("\n");
		const key = `${name}\n${code}`;
		const known = cache.get(key);
		if (known) return known;
		const { errorRaised, _emitter: parts } = engine.highlight(code, { language: name, ignoreIllegals: true });
		// After an error of its own it has gone through a part of the code only.
		const lines = errorRaised || !(parts instanceof CodeParts) ? code.split("\n") : paint(parts, styles);
		if (cache.size >= MAX_CACHED_BLOCKS) {
			const [oldest] = cache.keys();
			if (oldest !== undefined) cache.delete(oldest);
		}
		cache.set(key, lines);
		return lines;
	};
}

/** Takes the tokens as the highlighter finds them; by itself it would make HTML of them. */
class CodeParts implements Emitter {
	/** The code in order, each part with the innermost kind that it is of. */
	readonly parts: { text: string; kind: keyof CodeStyles | undefined }[] = [];
	/** Kinds of the scopes that are open; a scope of no kind has that of the one around it. */
	readonly #kinds: (keyof CodeStyles | undefined)[] = [];

	startScope(scope: string): void {
		this.#kinds.push(KINDS[scope.split(".", 1)[0] ?? ""] ?? this.#kinds.at(-1));
	}

	endScope(): void {
		this.#kinds.pop();
	}

	/** The same under the names that older grammars call them by. */
	openNode(scope: string): void {
		this.startScope(scope);
	}

	closeNode(): void {
		this.endScope();
	}

	addText(text: string): void {
		this.#add(text, this.#kinds.at(-1));
	}

	/** Takes code in another language, such as the script of a page. */
	__addSublanguage(inner: Emitter): void {
		if (!(inner instanceof CodeParts)) return;
		for (const { text, kind } of inner.parts) this.#add(text, kind ?? this.#kinds.at(-1));
	}

	finalize(): void {}

	toHTML(): string {
		return "";
	}

	#add(text: string, kind: keyof CodeStyles | undefined): void {
		const last = this.parts.at(-1);
		if (last && last.kind === kind) last.text += text;
		else this.parts.push({ text, kind });
	}
}

/** Turns what the highlighter found into styled lines. */
function paint({ parts }: CodeParts, styles: CodeStyles): string[] {
	const lines: string[] = [];
	let line = "";
	for (const { text, kind } of parts) {
		const style = kind === undefined ? undefined : styles[kind];
		for (const [at, run] of text.split("\n").entries()) {
			if (at > 0) {
				lines.push(line);
				line = "";
			}
			line += style && run ? style(run) : run;
		}
	}
	lines.push(line);
	return lines;
}

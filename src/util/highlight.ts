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

/**
 * Creates a function that highlights code and returns its lines. Unknown languages, very long code, and all code before
 * `loadHighlighter` has finished stay plain. Styles never cross a line end.
 */
export function createHighlighter(styles: CodeStyles): (code: string, language?: string) => string[] {
	const cache = new Map<string, string[]>();
	const plainLines = (code: string) => {
		const lines = code.split("\n");
		return styles.plain ? lines.map(styles.plain) : lines;
	};
	return (code, language = "") => {
		const name = language.trim().split(/[\s,{]/, 1)[0] ?? "";
		if (!engine || !name || code.length > MAX_CODE_LENGTH || !engine.getLanguage(name)) return plainLines(code);
		const key = `${name}\n${code}`;
		const known = cache.get(key);
		if (known) return known;
		const { errorRaised, _emitter: emitter } = engine.highlight(code, { language: name, ignoreIllegals: true });
		// After an internal error only part of the code is highlighted.
		const lines = errorRaised || !(emitter instanceof SegmentEmitter) ? plainLines(code) : paint(emitter, styles);
		if (cache.size >= MAX_CACHED_BLOCKS) {
			const [oldest] = cache.keys();
			if (oldest !== undefined) cache.delete(oldest);
		}
		cache.set(key, lines);
		return lines;
	};
}

/** Collects the highlighter's tokens; the default emitter would turn them into HTML. */
class SegmentEmitter implements Emitter {
	/** The code in order, each segment with its innermost kind. */
	readonly segments: { text: string; kind: Kind | undefined }[] = [];
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

/** Turns segments into styled lines. */
function paint({ segments }: SegmentEmitter, styles: CodeStyles): string[] {
	const lines: string[] = [];
	let line = "";
	for (const { text, kind } of segments) {
		const style = styles[kind ?? "plain"];
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

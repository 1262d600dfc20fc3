import type { HLJSApi } from "highlight.js";

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

const ENTITIES: Record<string, string> = { "&amp;": "&", "&lt;": "<", "&gt;": ">", "&quot;": '"', "&#x27;": "'" };
const MARKUP = /<span class="([^"]*)">|<\/span>|&(?:amp|lt|gt|quot|#x27);|[^<&]+|[<&]/g;

let engine: HLJSApi | undefined;
let loading: Promise<void> | undefined;

/**
 * Loads the highlighter. Code drawn before stays plain until it is drawn anew.
 * Call it after the first paint: it costs tens of milliseconds once.
 */
export function loadHighlighter(): Promise<void> {
	loading ??= import("highlight.js/lib/common").then((module) => {
		engine = module.default;
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
		const lines = paint(engine.highlight(code, { language: name, ignoreIllegals: true }).value, styles);
		if (cache.size >= MAX_CACHED_BLOCKS) {
			const [oldest] = cache.keys();
			if (oldest !== undefined) cache.delete(oldest);
		}
		cache.set(key, lines);
		return lines;
	};
}

/** Turns the highlighter's markup into styled lines. */
function paint(markup: string, styles: CodeStyles): string[] {
	const open: (Style | undefined)[] = [];
	const lines: string[] = [];
	let line = "";
	let run = "";
	const flush = () => {
		const style = open.findLast((candidate) => candidate !== undefined);
		line += style && run ? style(run) : run;
		run = "";
	};
	for (const [token, classes] of markup.matchAll(MARKUP)) {
		if (classes !== undefined) {
			flush();
			open.push(styleOf(classes, styles));
		} else if (token === "</span>") {
			flush();
			open.pop();
		} else {
			const [first = "", ...rest] = (ENTITIES[token] ?? token).split("\n");
			run += first;
			for (const part of rest) {
				flush();
				lines.push(line);
				line = "";
				run = part;
			}
		}
	}
	flush();
	lines.push(line);
	return lines;
}

function styleOf(classes: string, styles: CodeStyles): Style | undefined {
	for (const name of classes.split(" ")) {
		const kind = KINDS[name.replace(/^hljs-/, "")];
		if (kind) return styles[kind];
	}
	return undefined;
}

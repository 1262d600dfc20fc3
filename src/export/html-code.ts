import { createHighlighter } from "../util/highlight.js";
import { escapeHtml } from "./html-text.js";

/** Code of a page beyond this is not highlighted: a session of 100 MB would take a minute. UTF-16 units. */
const MAX_HIGHLIGHTED = 4_000_000;
/** Longer outputs and files stay plain. */
const MAX_EACH = 30_000;

/** Returns code as HTML lines, with the kinds of its tokens as classes. */
export type CodeHtml = (code: string, language?: string) => string;

/** Creates a function for one page. Code stays plain until `loadHighlighter` has finished. */
export function createCodeHtml(): CodeHtml {
	const highlight = createHighlighter({
		keyword: token("k"),
		string: token("s"),
		number: token("n"),
		comment: token("c"),
		title: token("f"),
		type: token("t"),
		added: token("added"),
		removed: token("removed"),
		plain: escapeHtml,
	});
	let room = MAX_HIGHLIGHTED;
	return (code, language) => {
		if (!language || code.length > Math.min(room, MAX_EACH)) return escapeHtml(code);
		room -= code.length;
		return highlight(code, language).join("\n");
	};
}

function token(className: string): (text: string) => string {
	return (text) => `<span class="${className}">${escapeHtml(text)}</span>`;
}

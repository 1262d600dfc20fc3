import { Marked } from "marked";
import type { CodeHtml } from "./html-code.js";
import { escapeHtml, markdownTextHtml, plainHtml } from "./html-text.js";

/** Longer texts are shown as plain text, because the parser may take long. */
const MAX_CHARACTERS = 200_000;

/** Renders Markdown as HTML with only text, structure and safe links. Never throws. */
export type MarkdownHtml = (text: string) => string;

/** Markdown without raw HTML: tags become text. Only http, https and mailto links are kept; images become links. */
export function createMarkdownHtml(code: CodeHtml): MarkdownHtml {
	const marked = new Marked({
		gfm: true,
		tokenizer: {
			html: () => undefined,
			tag: () => undefined,
		},
		renderer: {
			html: ({ text }) => escapeHtml(text),
			text(token) {
				return "tokens" in token && token.tokens ? this.parser.parseInline(token.tokens) : markdownTextHtml(token.text);
			},
			code: ({ text, lang }) => `<pre><code>${code(text, lang)}</code></pre>`,
			codespan: ({ text }) => `<code>${escapeHtml(text)}</code>`,
			link({ href, tokens }) {
				return linkHtml(href, this.parser.parseInline(tokens));
			},
			image: ({ href, text }) => linkHtml(href, escapeHtml(text || "image")),
			heading({ tokens, depth }) {
				// The first heading levels belong to the page.
				const level = Math.min(depth + 2, 6);
				return `<h${level}>${this.parser.parseInline(tokens)}</h${level}>`;
			},
			checkbox: ({ checked }) => (checked ? "☑ " : "☐ "),
		},
	});
	return (text) => {
		if (text.length > MAX_CHARACTERS) return plainHtml(text);
		try {
			const html = marked.parse(text, { async: false });
			return typeof html === "string" ? html : plainHtml(text);
		} catch {
			return plainHtml(text); // nested too deeply for the parser
		}
	};
}

function linkHtml(href: string, label: string): string {
	const url = URL.canParse(href) ? new URL(href) : null; // a relative URL has no target from an exported file
	if (url === null || !["http:", "https:", "mailto:"].includes(url.protocol)) return label;
	return `<a href="${escapeHtml(url.href)}" rel="noopener noreferrer nofollow">${label}</a>`;
}

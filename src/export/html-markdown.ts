import { Marked } from "marked";
import { escapeHtml, escapeKeepingEntities, safeUrl } from "./html-text.js";

/** Longer texts are shown as they are: nobody reads them, and a parser may take long over them. */
const MAX_CHARACTERS = 200_000;

/** Markdown without raw HTML: tags are text. Links lead to http, https and mailto; images become links. */
const marked = new Marked({
	gfm: true,
	tokenizer: {
		html: () => undefined,
		tag: () => undefined,
	},
	renderer: {
		html: ({ text }) => escapeHtml(text),
		text(token) {
			return "tokens" in token && token.tokens
				? this.parser.parseInline(token.tokens)
				: escapeKeepingEntities(token.text);
		},
		code: ({ text }) => `<pre><code>${escapeHtml(text)}</code></pre>`,
		codespan: ({ text }) => `<code>${escapeHtml(text)}</code>`,
		link({ href, tokens }) {
			return linkHtml(href, this.parser.parseInline(tokens));
		},
		image: ({ href, text }) => linkHtml(href, escapeHtml(text || "image")),
		heading({ tokens, depth }) {
			// The page has its own first headings.
			const level = Math.min(depth + 2, 6);
			return `<h${level}>${this.parser.parseInline(tokens)}</h${level}>`;
		},
		checkbox: ({ checked }) => (checked ? "☑ " : "☐ "),
	},
});

/** Markdown as HTML that holds nothing but text, structure and safe links. Never throws. */
export function markdownHtml(text: string): string {
	if (text.length > MAX_CHARACTERS) return plainHtml(text);
	try {
		const html = marked.parse(text, { async: false });
		return typeof html === "string" ? html : plainHtml(text);
	} catch {
		// Nested deeper than the parser goes.
		return plainHtml(text);
	}
}

/** Text as it is, lines kept. */
export function plainHtml(text: string): string {
	return `<pre>${escapeHtml(text)}</pre>`;
}

function linkHtml(href: string, label: string): string {
	const url = safeUrl(href);
	return url === null ? label : `<a href="${escapeHtml(url)}" rel="noopener noreferrer nofollow">${label}</a>`;
}

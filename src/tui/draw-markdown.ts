import { type DefaultTextStyle, Markdown, visibleWidth, wrapTextWithAnsi } from "@mariozechner/pi-tui";
import { type ListToken, overrideMarkdown } from "./internals/markdown.js";
import { withoutBlankEnd } from "./line.js";
import { type InlineToken, safeLink } from "./links.js";
import type { Style, Theme } from "./theme.js";

/** Minimum columns of text after an indent; with fewer, wrapped lines are not indented. */
const MIN_TEXT_WIDTH = 12;
/** pi-tui recognizes the lines of nested lists by bullets of this color. */
const BULLET = { on: "\x1b[36m", off: "\x1b[39m" } as const;
const BULLET_LINE = /^( *)\x1b\[36m(- |\d+\. )\x1b\[39m/;
/** Marks a line to remove: drawn text contains no control characters. */
const NO_LINE = "\x00";
/** Extra indent, in columns, of the lines that a long line of code wraps into. */
const CODE_HANG = 2;
const INDENT = /^ */;
const LIST_LINE = /^ *(?:(?:\x1b\[[\d;]*m)?(?:- |\d+\. )(?:\x1b\[39m)?)?/;

/**
 * Draws a complete Markdown text without control characters. Wrapped list items and code keep their indent, to-do items
 * keep their boxes, and a code block shows its language instead of its fences.
 * @returns lines of at most `width` columns, without trailing spaces
 */
export function drawMarkdown(source: string, width: number, theme: Theme, style?: DefaultTextStyle): string[] {
	const component = new Markdown(
		source.trimEnd(),
		0,
		0,
		{
			...theme.markdown,
			codeBlockBorder: (fence) => languageLine(fence.slice(3), theme.markdown.codeBlockBorder) ?? NO_LINE,
			listBullet: (bullet) => BULLET.on + bullet + BULLET.off,
		},
		style,
	);
	overrideMarkdown(component, {
		block: (type, drawn, room) => {
			const lines = drawn.filter((line) => !line.includes(NO_LINE));
			if (type === "code") return lines.flatMap((line) => wrapCode(line, room));
			if (type !== "list") return lines;
			const hung = lines.flatMap((line) => hang(line, LIST_LINE.exec(line)?.[0] ?? "", room));
			return hung.map((line) =>
				line.replace(BULLET_LINE, (_, indent: string, bullet: string) => indent + theme.markdown.listBullet(bullet)),
			);
		},
		inline: (tokens) => tokens.flatMap(safeLink),
		list: withBoxes,
	});
	return component.render(width).map(withoutBlankEnd);
}

/** The line above a code block; undefined when it has no language. */
export function languageLine(language: string, style: Style): string | undefined {
	return language ? style(language) : undefined;
}

/** Restores the boxes of to-do items, which the parser removes from their text. */
function withBoxes(list: ListToken): ListToken {
	if (!list.items.some(({ task }) => task === true)) return list;
	const items = list.items.map((item) => {
		if (item.task !== true) return item;
		const box: InlineToken = { type: "text", text: item.checked === true ? "[x] " : "[ ] " };
		const [first, ...others] = item.tokens ?? [];
		const text = first && Array.isArray(first.tokens) ? { ...first, tokens: [box, ...first.tokens] } : null;
		return { ...item, tokens: text ? [text, ...others] : [box, ...(item.tokens ?? [])] };
	});
	return { ...list, items };
}

/** Wraps an indented line of code; the following lines are indented further. */
export function wrapCode(line: string, width: number): string[] {
	const indent = INDENT.exec(line)?.[0] ?? "";
	return hang(line, indent, width, indent.length > 0 ? CODE_HANG : 0);
}

/** Wraps a line so that the following lines align with the text after `start`, or start `more` columns further right. */
function hang(line: string, start: string, width: number, more = 0): string[] {
	const indent = visibleWidth(start) + more;
	if (indent === 0 || width - indent < MIN_TEXT_WIDTH) return [line];
	const [first = "", ...others] = wrapTextWithAnsi(line.slice(start.length), width - indent);
	return [start + first, ...others.map((other) => " ".repeat(indent) + other)];
}

import { type DefaultTextStyle, Markdown, visibleWidth, wrapTextWithAnsi } from "@mariozechner/pi-tui";
import { withoutBlankEnd } from "./line.js";
import { type InlineToken, safeLink } from "./links.js";
import type { Style, Theme } from "./theme.js";

/** How the markdown component draws one block. It is pinned to one version; what is needed of it is checked. */
type DrawBlock = (token: { type: string }, width: number, ...rest: unknown[]) => string[];
/** The same for what stands within a line. */
type DrawInline = (tokens: readonly InlineToken[], ...rest: unknown[]) => string;

/** Where less is left than this, lists hang no more. Columns. */
const MIN_TEXT_WIDTH = 12;
/** Stands for a line that is taken out: no text that is drawn has control characters. */
const NO_LINE = "\x00";
const LIST_LINE = /^ *(?:(?:\x1b\[[\d;]*m)?(?:- |\d+\. )(?:\x1b\[39m)?)?/;

/**
 * Draws a whole markdown text without control characters. Wrapped lines of a list stand below its text, and a code block
 * shows its language, not its fences.
 * @returns lines of at most `width` columns, without blanks at the end
 */
export function drawMarkdown(source: string, width: number, theme: Theme, style?: DefaultTextStyle): string[] {
	const component = new Markdown(
		source.trimEnd(),
		0,
		0,
		{
			...theme.markdown,
			codeBlockBorder: (fence) => languageLine(fence.slice(3), theme.markdown.codeBlockBorder) ?? NO_LINE,
		},
		style,
	);
	const drawBlock: unknown = Reflect.get(component, "renderToken");
	const drawInline: unknown = Reflect.get(component, "renderInlineTokens");
	if (!isDrawBlock(drawBlock) || !isDrawInline(drawInline)) {
		throw new TypeError("This version of pi-tui draws markdown in another way");
	}
	const patched: DrawBlock = (token, room, ...rest) => {
		const lines = drawBlock.call(component, token, room, ...rest).filter((line) => !line.includes(NO_LINE));
		return token.type === "list" ? lines.flatMap((line) => hang(line, room)) : lines;
	};
	Reflect.set(component, "renderToken", patched);
	const linked: DrawInline = (tokens, ...rest) => drawInline.call(component, tokens.flatMap(safeLink), ...rest);
	Reflect.set(component, "renderInlineTokens", linked);
	return component.render(width).map(withoutBlankEnd);
}

/** The line above a code block; undefined when its language is not known. */
export function languageLine(language: string, style: Style): string | undefined {
	return language ? style(language) : undefined;
}

function isDrawBlock(value: unknown): value is DrawBlock {
	return typeof value === "function";
}

function isDrawInline(value: unknown): value is DrawInline {
	return typeof value === "function";
}

/** A line of a list, wrapped below where its text begins. */
function hang(line: string, width: number): string[] {
	const start = LIST_LINE.exec(line)?.[0] ?? "";
	const indent = visibleWidth(start);
	if (indent === 0 || width - indent < MIN_TEXT_WIDTH) return [line];
	const [first = "", ...others] = wrapTextWithAnsi(line.slice(start.length), width - indent);
	return [start + first, ...others.map((other) => " ".repeat(indent) + other)];
}

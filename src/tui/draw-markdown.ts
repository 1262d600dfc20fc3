import { type DefaultTextStyle, Markdown, visibleWidth, wrapTextWithAnsi } from "@mariozechner/pi-tui";
import { withoutBlankEnd } from "./line.js";
import { type InlineToken, safeLink } from "./links.js";
import type { Style, Theme } from "./theme.js";

/** How the markdown component draws one block. It is pinned to one version; what is needed of it is checked. */
type DrawBlock = (token: { type: string }, width: number, ...rest: unknown[]) => string[];
/** The same for what stands within a line. */
type DrawInline = (tokens: readonly InlineToken[], ...rest: unknown[]) => string;

/** The same for a list. */
type DrawList = (list: ListToken, ...rest: unknown[]) => string[];

interface ListToken {
	readonly items: readonly { task?: unknown; checked?: unknown; tokens?: readonly InlineToken[] }[];
}

/** Where less is left than this, nothing hangs. Columns. */
const MIN_TEXT_WIDTH = 12;
/** Stands for a line that is taken out: no text that is drawn has control characters. */
const NO_LINE = "\x00";
/** How much further in than its code a line of it goes on below. */
const CODE_HANG = 2;
const INDENT = /^ */;
const LIST_LINE = /^ *(?:(?:\x1b\[[\d;]*m)?(?:- |\d+\. )(?:\x1b\[39m)?)?/;

/**
 * Draws a whole markdown text without control characters. Wrapped lines of a list stand below its text, those of code
 * below the code, to-do items keep their boxes, and a code block shows its language, not its fences.
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
	const drawList: unknown = Reflect.get(component, "renderList");
	if (!isDrawBlock(drawBlock) || !isDrawInline(drawInline) || !isDrawList(drawList)) {
		throw new TypeError("This version of pi-tui draws markdown in another way");
	}
	const block: DrawBlock = (token, room, ...rest) => {
		const lines = drawBlock.call(component, token, room, ...rest).filter((line) => !line.includes(NO_LINE));
		if (token.type === "code") return lines.flatMap((line) => wrapCode(line, room));
		return token.type === "list" ? lines.flatMap((line) => hang(line, LIST_LINE.exec(line)?.[0] ?? "", room)) : lines;
	};
	const inline: DrawInline = (tokens, ...rest) => drawInline.call(component, tokens.flatMap(safeLink), ...rest);
	const list: DrawList = (token, ...rest) => drawList.call(component, withBoxes(token), ...rest);
	Reflect.set(component, "renderToken", block);
	Reflect.set(component, "renderInlineTokens", inline);
	Reflect.set(component, "renderList", list);
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

function isDrawList(value: unknown): value is DrawList {
	return typeof value === "function";
}

/** Puts the boxes back that the parser takes off the items of a to-do list. */
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

/** A line of code, indent and all, wrapped so that what follows stands further in. */
export function wrapCode(line: string, width: number): string[] {
	const indent = INDENT.exec(line)?.[0] ?? "";
	return hang(line, indent, width, indent.length > 0 ? CODE_HANG : 0);
}

/** A line wrapped below where its text begins, behind `start`, or `more` columns further in. */
function hang(line: string, start: string, width: number, more = 0): string[] {
	const indent = visibleWidth(start) + more;
	if (indent === 0 || width - indent < MIN_TEXT_WIDTH) return [line];
	const [first = "", ...others] = wrapTextWithAnsi(line.slice(start.length), width - indent);
	return [start + first, ...others.map((other) => " ".repeat(indent) + other)];
}

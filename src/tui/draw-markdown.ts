import { type DefaultTextStyle, Markdown, visibleWidth, wrapTextWithAnsi } from "@mariozechner/pi-tui";
import type { Token, Tokens } from "marked";
import { drawTable } from "./draw-table.js";
import { type BlockDrawing, overrideMarkdown } from "./internals/markdown.js";
import { withoutBlankEnd } from "./line.js";
import { safeLink } from "./links.js";
import type { Style, Theme } from "./theme.js";

/** Minimum columns of text after an indent; with fewer, wrapped lines are not indented. */
const MIN_TEXT_WIDTH = 12;
/** Headings of this level and lower ones look the same; pi-tui shows the hashes of lower ones. */
const LOWEST_HEADING = 2;
/** Marks a line to remove: drawn text contains no control characters. */
const NO_LINE = "\x00";
/** Extra indent, in columns, of the lines that a long line of code wraps into. */
const CODE_HANG = 2;
const INDENT = /^ */;

/**
 * Draws a complete Markdown text without control characters. Wrapped list items and code keep their indent, to-do items
 * keep their boxes, headings lose their hashes, and a code block shows its language instead of its fences.
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
		},
		style,
	);
	overrideMarkdown(component, {
		block: (token, room, drawing) => {
			if (isList(token)) return drawList(token, room, theme, drawing);
			if (isTable(token)) {
				const { bold, hr } = theme.markdown;
				const cell = ({ tokens }: Tokens.TableCell) => drawing.inline(tokens);
				const lines = drawTable(token, room, { cell, head: bold, rule: hr });
				return drawing.gapAfter ? [...lines, ""] : lines;
			}
			if (isHeading(token)) return drawing.original({ ...token, depth: Math.min(token.depth, LOWEST_HEADING) }, room);
			const lines = drawing.original(token, room).filter((line) => !line.includes(NO_LINE));
			return token.type === "code" ? lines.flatMap((line) => wrapCode(line, room)) : lines;
		},
		inline: (tokens) => tokens.flatMap(safeLink),
	});
	return component.render(width).map(withoutBlankEnd);
}

const isList = (token: Token): token is Tokens.List => token.type === "list";
const isTable = (token: Token): token is Tokens.Table => token.type === "table";
const isHeading = (token: Token): token is Tokens.Heading => token.type === "heading";

/** The line above a code block; undefined when it has no language. */
export function languageLine(language: string, style: Style): string | undefined {
	return language ? style(language) : undefined;
}

/** Draws a list, with the text of each item to the right of its marker. */
function drawList(list: Tokens.List, width: number, theme: Theme, drawing: BlockDrawing): string[] {
	const first = typeof list.start === "number" ? list.start : 1;
	return list.items.flatMap((item, at) => {
		const marker = list.ordered ? `${first + at}. ` : "- ";
		const box = item.task ? (item.checked ? "[x] " : "[ ] ") : "";
		const indent = width - marker.length < MIN_TEXT_WIDTH ? 0 : marker.length;
		const [head = "", ...others] = drawItem(item, width - indent, drawing);
		const bullet = theme.markdown.listBullet(marker);
		const [start = "", ...below] = wrapTextWithAnsi(`${indent > 0 ? "" : bullet}${box}${head}`, width - indent);
		const hung = [...below, ...others].map((line) => (line === "" ? "" : " ".repeat(indent) + line));
		const lines = [indent > 0 ? bullet + start : start, ...hung];
		// Without a blank line, the next item would look like part of the last paragraph.
		return others.includes("") && at < list.items.length - 1 ? [...lines, ""] : lines;
	});
}

/** @returns lines of an item without its marker; blank lines only between paragraphs */
function drawItem({ tokens }: Tokens.ListItem, width: number, { nested }: BlockDrawing): string[] {
	return tokens.flatMap((token, at) => {
		if (token.type === "space") return tokens[at + 1]?.type === "text" ? [""] : [];
		const block: Token = token.type === "text" ? { ...token, type: "paragraph" } : token;
		return nested(block, width).flatMap((line, row) => (at + row === 0 ? [line] : wrapTextWithAnsi(line, width)));
	});
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

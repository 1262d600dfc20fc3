import { visibleWidth, wrapTextWithAnsi } from "@mariozechner/pi-tui";
import { Marked, type Token, type Tokens } from "marked";
import { type AmbientStyle, ambientStyle, drawInline } from "./draw-inline.js";
import { drawTable } from "./draw-table.js";
import { withoutBlankEnd } from "./line.js";
import { blocksOf } from "./markdown-splitter.js";
import type { Style, Theme } from "./theme.js";

/** Minimum columns of text after an indent; with fewer, wrapped lines are not indented. */
const MIN_TEXT_WIDTH = 12;
/** Maximum length of a rule. Columns. */
const MAX_RULE_WIDTH = 80;
/** Extra indent, in columns, of the lines that a long line of code wraps into. */
const CODE_HANG = 2;
const INDENT = /^ */;
const QUOTE_BORDER = "│ ";
const RESET = "\x1b[0m";
/** Strikes out only text between two tildes on each side: a single one is often part of a path. */
const parser = new Marked({ tokenizer: { del: (source) => (source.startsWith("~~") ? false : undefined) } });

/** What the drawing of a block depends on. */
interface Pen {
	readonly theme: Theme;
	readonly around: AmbientStyle;
}

/**
 * Draws a complete Markdown text without control characters. Wrapped list items and code keep their indent, to-do items
 * keep their boxes, headings lose their hashes, and a code block shows its language instead of its fences.
 * @param style of plain text
 * @returns lines of at most `width` columns, without trailing spaces
 */
export function drawMarkdown(source: string, width: number, theme: Theme, style: Style = (text) => text): string[] {
	const lines = drawBlocks(parser.lexer(source.trimEnd()), width, { theme, around: ambientStyle(style) });
	return lines.flatMap((line) => wrapTextWithAnsi(line, width)).map(withoutBlankEnd);
}

function drawBlocks(tokens: readonly Token[], width: number, pen: Pen): string[] {
	const blocks = blocksOf(tokens);
	return blocks.flatMap((block, at) => drawBlock(block, width, pen, blocks[at + 1]?.type));
}

/** @returns the lines of a block, with a blank line at the end if the next block needs it; some are not wrapped yet */
function drawBlock(block: Token, width: number, pen: Pen, next?: string): string[] {
	const { heading, bold, underline, hr } = pen.theme.markdown;
	const gap = next === undefined || next === "space" ? [] : [""];
	if (isList(block)) return drawList(block, width, pen);
	if (isTable(block)) {
		const cell = ({ tokens }: Tokens.TableCell) => drawInline(tokens, pen.theme, pen.around);
		return [...drawTable(block, width, { cell, head: bold, rule: hr }), ...gap];
	}
	if (isCode(block)) return [...drawCode(block, width, pen.theme), ...gap];
	if (isQuote(block)) return [...drawQuote(block, width, pen.theme), ...gap];
	if (isHeading(block)) {
		const style: Style = block.depth === 1 ? (text) => heading(bold(underline(text))) : (text) => heading(bold(text));
		return [drawInline(block.tokens, pen.theme, ambientStyle(style)), ...gap];
	}
	if (block.type === "paragraph") {
		const text = drawInline(block.tokens ?? [], pen.theme, pen.around);
		return next === "list" ? [text] : [text, ...gap];
	}
	if (block.type === "hr") return [hr("─".repeat(Math.min(width, MAX_RULE_WIDTH))), ...gap];
	if (block.type === "html") return [pen.around.style(block.raw.trim())];
	if (block.type === "space") return [""];
	return [drawInline([block], pen.theme, pen.around)];
}

const isList = (token: Token): token is Tokens.List => token.type === "list";
const isTable = (token: Token): token is Tokens.Table => token.type === "table";
const isCode = (token: Token): token is Tokens.Code => token.type === "code";
const isQuote = (token: Token): token is Tokens.Blockquote => token.type === "blockquote";
const isHeading = (token: Token): token is Tokens.Heading => token.type === "heading";

/** The line above a code block; undefined when it has no language. */
export function languageLine(language: string, style: Style): string | undefined {
	return language ? style(language) : undefined;
}

function drawCode({ lang = "", text, codeBlockStyle }: Tokens.Code, width: number, theme: Theme): string[] {
	const { highlightCode, codeBlock, codeBlockBorder, codeBlockIndent = "" } = theme.markdown;
	// Indented code right before another block ends in a line end.
	const code = codeBlockStyle === "indented" ? text.trimEnd() : text;
	const lines = highlightCode?.(code, lang) ?? code.split("\n").map((line) => codeBlock(line));
	const drawn = lines.flatMap((line) => wrapCode(codeBlockIndent + line, width));
	const heading = languageLine(lang, codeBlockBorder);
	return heading === undefined ? drawn : [heading, ...drawn];
}

/** Draws the blocks of a quote behind a border, in its own style, which continues after each style in them. */
function drawQuote({ tokens }: Tokens.Blockquote, width: number, theme: Theme): string[] {
	const { quote, quoteBorder, italic } = theme.markdown;
	const room = Math.max(1, width - QUOTE_BORDER.length);
	const style: Style = (text) => quote(italic(text));
	const { codes } = ambientStyle(style);
	const lines = drawBlocks(tokens, room, { theme, around: { style: (text) => text, codes } });
	while (lines.at(-1) === "") lines.pop();
	return lines.flatMap((line) =>
		wrapTextWithAnsi(style(line.replaceAll(RESET, RESET + codes)), room).map((row) => quoteBorder(QUOTE_BORDER) + row),
	);
}

/** Draws a list, with the text of each item to the right of its marker. */
function drawList(list: Tokens.List, width: number, pen: Pen): string[] {
	const first = typeof list.start === "number" ? list.start : 1;
	return list.items.flatMap((item, at) => {
		const marker = list.ordered ? `${first + at}. ` : "- ";
		const box = item.task ? (item.checked ? "[x] " : "[ ] ") : "";
		const indent = width - marker.length < MIN_TEXT_WIDTH ? 0 : marker.length;
		const [head = "", ...others] = drawItem(item, width - indent, pen);
		const bullet = pen.theme.markdown.listBullet(marker);
		const [start = "", ...below] = wrapTextWithAnsi(`${indent > 0 ? "" : bullet}${box}${head}`, width - indent);
		const hung = [...below, ...others].map((line) => (line === "" ? "" : " ".repeat(indent) + line));
		const lines = [indent > 0 ? bullet + start : start, ...hung];
		// Without a blank line, the next item would look like part of the last paragraph.
		return others.includes("") && at < list.items.length - 1 ? [...lines, ""] : lines;
	});
}

/** @returns lines of an item without its marker; blank lines only between paragraphs */
function drawItem({ tokens }: Tokens.ListItem, width: number, pen: Pen): string[] {
	const blocks = blocksOf(tokens).filter(({ type }) => type !== "checkbox");
	return blocks.flatMap((block, at) => {
		if (block.type === "space") return blocks[at + 1]?.type === "paragraph" ? [""] : [];
		const lines = drawBlock(block, width, pen);
		return lines.flatMap((line, row) => (at + row === 0 ? [line] : wrapTextWithAnsi(line, width)));
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

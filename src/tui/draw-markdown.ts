import { type DefaultTextStyle, Markdown, visibleWidth, wrapTextWithAnsi } from "@mariozechner/pi-tui";
import { type ListToken, overrideMarkdown } from "./internals/markdown.js";
import { withoutBlankEnd } from "./line.js";
import { type InlineToken, safeLink } from "./links.js";
import type { Style, Theme } from "./theme.js";

/** Where less is left than this, nothing hangs. Columns. */
const MIN_TEXT_WIDTH = 12;
/** How the markdown component must be given bullets: by this colour it tells the lines of nested lists. */
const BULLET = { on: "\x1b[36m", off: "\x1b[39m" } as const;
const BULLET_LINE = /^( *)\x1b\[36m(- |\d+\. )\x1b\[39m/;
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

/** The line above a code block; undefined when its language is not known. */
export function languageLine(language: string, style: Style): string | undefined {
	return language ? style(language) : undefined;
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

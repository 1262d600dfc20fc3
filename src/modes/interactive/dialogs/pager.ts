import type { Component } from "@mariozechner/pi-tui";
import type { TextPage } from "../../../commands/pickers.js";
import { type DialogStyle, hint, type KeyHint, keyLines, UP_DOWN } from "../../../tui/dialog-style.js";
import { drawMarkdown } from "../../../tui/draw-markdown.js";
import type { KeyAction } from "../../../tui/key-table.js";
import { clipLine, spread } from "../../../tui/line.js";
import { ScrollText } from "../../../tui/scroll.js";
import type { CodeLine } from "../../code-lines.js";
import { formatTokens } from "../../format.js";
import { cleanLine, cleanLines, wrapLines } from "../clean-text.js";
import type { ContextRow } from "./context-row.js";
import { listRows, titleLine } from "./panel-lines.js";

/** Content and keys of a `Pager`. */
interface PagerOptions {
	/** @param position such as `lines 1–20 of 80` */
	head(width: number, position: string): string[];
	/** @returns all lines, each at most `width` columns; called again only when the width or theme changes */
	lines(width: number): string[];
	keys: readonly KeyHint[];
	/** The keys that do not scroll. */
	actions: Readonly<Partial<Record<KeyAction, () => void>>>;
	/** Number of visible lines. Default: that of a panel's list. */
	rows?(): number;
}

const SCROLL = hint("scroll", ...UP_DOWN);

/** Scrolls through lines under a title. */
export class Pager implements Component {
	readonly #scroll: ScrollText;
	#drawn: { width: number; lines: readonly string[] } | null = null;

	constructor(
		private readonly style: DialogStyle,
		private readonly options: PagerOptions,
	) {
		this.#scroll = new ScrollText(options.rows ?? (() => listRows(style.rows?.() ?? 30)), true);
	}

	/** @returns lines of at most `width` columns */
	render(width: number): string[] {
		const { head, lines: draw, keys } = this.options;
		if (this.#drawn?.width !== width) this.#drawn = { width, lines: draw(width) };
		const { lines } = this.#drawn;
		const { from, to } = this.#scroll.window(lines.length);
		const position = `lines ${from + 1}–${to} of ${lines.length}`;
		return [...head(width, position), ...lines.slice(from, to), ...keyLines(keys, this.style, width)];
	}

	handleInput(data: string): void {
		const { keymap } = this.style;
		if (this.#scroll.handle(data, keymap)) return;
		const action = keymap.actionOf(data, this.options.actions);
		if (action) this.options.actions[action]?.();
	}

	invalidate(): void {
		this.#drawn = null;
	}
}

/** Shows a Markdown text. */
export function createTextPager(style: DialogStyle, { title, text }: TextPage, onClose: () => void): Pager {
	const { theme } = style;
	return new Pager(style, {
		head: (width, position) => [
			theme.dim("─".repeat(width)),
			titleLine(` ${theme.bold(cleanLine(title))}`, [position], width),
		],
		lines: (width) =>
			drawMarkdown(cleanLines(text).join("\n"), Math.max(1, width - 2), theme).map((line) =>
				clipLine(` ${line}`.trimEnd(), width),
			),
		keys: [SCROLL, hint("pages", "dialog.pageUp", "dialog.pageDown"), hint("close", "dialog.cancel")],
		actions: { "dialog.cancel": onClose, "dialog.accept": onClose, "pager.close": onClose },
	});
}

/** Shows a message of a request in full, inside a panel. */
export function createMessagePager(
	style: DialogStyle,
	{ full, tokens, index, label, note }: ContextRow,
	{ copy, onClose }: { copy(text: string): void; onClose(): void },
): Pager {
	const { theme } = style;
	const title = ` ${theme.bold(cleanLine([index, label].filter(Boolean).join(" ")))}`;
	return new Pager(style, {
		head: (width, position) => [
			titleLine(title, [...(tokens === null ? [] : [formatTokens(tokens)]), position], width),
			...(note ? [theme.dim(clipLine(` ${cleanLine(note)}`, width))] : []),
		],
		lines: (width) => wrapLines(cleanLines(full), Math.max(1, width - 2)).map((line) => clipLine(` ${line}`, width)),
		keys: [SCROLL, hint("copy", "pager.copy"), hint("back", "dialog.cancel")],
		actions: {
			"dialog.cancel": onClose,
			"dialog.accept": onClose,
			"pager.close": onClose,
			"pager.copy": () => copy(full),
		},
	});
}

/** Rows around code: title, keys, and the rows that the screen keeps below. */
const OTHER_ROWS = 6;

/** Shows project code. */
export function createCodePager(
	style: DialogStyle,
	title: string,
	code: readonly CodeLine[],
	onClose: () => void,
): Pager {
	const { theme } = style;
	return new Pager(style, {
		head: (width, position) => [
			theme.dim("─".repeat(width)),
			spread(theme.bold(` ${title}`), theme.warning(`${position} `), width),
		],
		lines: (width) => code.flatMap((line) => drawCodeLine(line, style, width)),
		keys: [hint("scroll", ...UP_DOWN, "dialog.pageDown"), hint("back", "dialog.cancel")],
		actions: { "dialog.cancel": onClose, "pager.close": onClose, "question.code": onClose },
		rows: () => Math.max(3, (style.rows?.() ?? 30) - OTHER_ROWS),
	});
}

function drawCodeLine({ kind, mark, text }: CodeLine, { theme }: DialogStyle, width: number): string[] {
	if (kind === "heading") return wrapLines([` ${text}`], width).map((line) => theme.accent(line));
	const style = {
		code: (line: string) => line,
		added: theme.added,
		removed: theme.removed,
		note: theme.dim,
	}[kind];
	const indent = " ".repeat(7);
	return wrapLines([text], width - indent.length).map(
		(line, index) => theme.dim(index === 0 ? `${mark.padStart(6)} ` : indent) + style(line),
	);
}

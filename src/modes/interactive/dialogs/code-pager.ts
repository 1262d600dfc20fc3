import type { Component } from "@mariozechner/pi-tui";
import { type DialogStyle, hint, keyLines, UP_DOWN } from "../../../tui/dialog-style.js";
import { ScrollText } from "../../../tui/scroll.js";
import type { CodeLine } from "../../code-lines.js";
import { spread, wrapLines } from "../lines.js";

/** Rows around the code: title and keys, and what the screen keeps below. */
const OTHER_ROWS = 6;
const MIN_ROWS = 3;
const CLOSES = ["dialog.cancel", "pager.close", "question.code"] as const;

/** Scrolls through code. */
export class CodePager implements Component {
	readonly #scroll = new ScrollText(() => Math.max(MIN_ROWS, (this.style.rows?.() ?? 30) - OTHER_ROWS), true);
	#drawn: { width: number; rows: string[] } | null = null;

	constructor(
		private readonly style: DialogStyle,
		private readonly lines: readonly CodeLine[],
		private readonly onClose: () => void,
	) {}

	render(width: number): string[] {
		const { theme } = this.style;
		const rows = this.#rows(width);
		const { from, to } = this.#scroll.window(rows.length);
		const position = `lines ${from + 1}–${to} of ${rows.length} `;
		const title = theme.bold(" Code that would run");
		return [
			theme.dim("─".repeat(width)),
			spread(title, theme.warning(position), width),
			...rows.slice(from, to),
			...keyLines([hint("scroll", ...UP_DOWN, "dialog.pageDown"), hint("back", "dialog.cancel")], this.style, width),
		];
	}

	handleInput(data: string): void {
		const { keymap } = this.style;
		if (CLOSES.some((action) => keymap.matches(data, action))) this.onClose();
		else this.#scroll.handle(data, keymap);
	}

	invalidate(): void {
		this.#drawn = null;
	}

	#rows(width: number): string[] {
		if (this.#drawn?.width !== width) {
			this.#drawn = { width, rows: this.lines.flatMap((line) => this.#draw(line, width)) };
		}
		return this.#drawn.rows;
	}

	#draw({ kind, mark, text }: CodeLine, width: number): string[] {
		const { theme } = this.style;
		const style = {
			heading: theme.accent,
			code: (line: string) => line,
			added: theme.added,
			removed: theme.removed,
			note: theme.dim,
		}[kind];
		if (kind === "heading") return wrapLines([` ${text}`], width).map((line) => style(line));
		const indent = " ".repeat(7);
		return wrapLines([text], width - indent.length).map(
			(line, index) => theme.dim(index === 0 ? `${mark.padStart(6)} ` : indent) + style(line),
		);
	}
}

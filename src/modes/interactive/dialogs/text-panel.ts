import type { Component } from "@mariozechner/pi-tui";
import type { TextPage } from "../../../commands/pickers.js";
import { type DialogStyle, hint, keyLines, UP_DOWN } from "../../../tui/dialog-style.js";
import { drawMarkdown } from "../../../tui/draw-markdown.js";
import { ScrollText } from "../../../tui/scroll.js";
import { cleanLine, cleanLines, clipLine } from "../lines.js";
import { listRows, titleLine } from "./panel-lines.js";

const KEYS = [
	hint("scroll", ...UP_DOWN),
	hint("pages", "dialog.pageUp", "dialog.pageDown"),
	hint("close", "dialog.cancel"),
];
const CLOSES = ["dialog.cancel", "dialog.accept", "pager.close"] as const;

/** Shows Markdown that is longer than the screen. */
export class TextPanel implements Component {
	readonly #scroll: ScrollText;
	#drawn: { width: number; lines: readonly string[] } | null = null;

	constructor(
		private readonly style: DialogStyle,
		private readonly page: TextPage,
		private readonly onClose: () => void,
	) {
		this.#scroll = new ScrollText(() => listRows(style.rows?.() ?? 30), true);
	}

	render(width: number): string[] {
		const { theme } = this.style;
		const lines = this.#lines(width);
		const { from, to } = this.#scroll.window(lines.length);
		const title = theme.bold(cleanLine(this.page.title));
		return [
			theme.dim("─".repeat(width)),
			titleLine(` ${title}`, [`lines ${from + 1}–${to} of ${lines.length}`], width),
			...lines.slice(from, to),
			...keyLines(KEYS, this.style, width),
		];
	}

	handleInput(data: string): void {
		const { keymap } = this.style;
		if (this.#scroll.handle(data, keymap)) return;
		if (CLOSES.some((action) => keymap.matches(data, action))) this.onClose();
	}

	invalidate(): void {
		this.#drawn = null;
	}

	#lines(width: number): readonly string[] {
		if (this.#drawn?.width !== width) {
			const text = cleanLines(this.page.text).join("\n");
			const lines = drawMarkdown(text, Math.max(1, width - 2), this.style.theme).map((line) =>
				clipLine(` ${line}`.trimEnd(), width),
			);
			this.#drawn = { width, lines };
		}
		return this.#drawn.lines;
	}
}

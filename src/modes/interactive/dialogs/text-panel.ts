import type { Component } from "@mariozechner/pi-tui";
import type { TextPage } from "../../../commands/pickers.js";
import { drawMarkdown } from "../../../tui/draw-markdown.js";
import { keyLines } from "../../../tui/key-lines.js";
import { ScrollText } from "../../../tui/scroll.js";
import type { Look } from "../../../tui/select-dialog.js";
import { cleanLine, cleanLines, clipLine } from "../lines.js";
import { listRows, titleLine } from "./panel-lines.js";

/** Shows Markdown that is longer than the screen. */
export class TextPanel implements Component {
	readonly #scroll: ScrollText;
	#drawn: { width: number; lines: readonly string[] } | null = null;

	constructor(
		private readonly look: Look,
		private readonly page: TextPage,
		private readonly onClose: () => void,
	) {
		this.#scroll = new ScrollText(() => listRows(look.rows?.() ?? 30));
	}

	render(width: number): string[] {
		const { theme, keymap } = this.look;
		const lines = this.#lines(width);
		const { from, to } = this.#scroll.window(lines.length);
		const title = theme.bold(cleanLine(this.page.title));
		const keys: [string, string][] = [
			["↑↓", "scroll"],
			[`${keymap.keyOf("dialog.pageUp")} ${keymap.keyOf("dialog.pageDown")}`, "pages"],
			[keymap.keyOf("dialog.cancel"), "close"],
		];
		return [
			theme.dim("─".repeat(width)),
			titleLine(` ${title}`, [`lines ${from + 1}–${to} of ${lines.length}`], width),
			...lines.slice(from, to),
			...keyLines(keys, theme, width),
		];
	}

	handleInput(data: string): void {
		const { keymap } = this.look;
		if (this.#scroll.handle(data, keymap)) return;
		if (keymap.matches(data, "dialog.cancel") || keymap.matches(data, "dialog.accept")) this.onClose();
	}

	invalidate(): void {
		this.#drawn = null;
	}

	#lines(width: number): readonly string[] {
		if (this.#drawn?.width !== width) {
			const text = cleanLines(this.page.text).join("\n");
			const lines = drawMarkdown(text, Math.max(1, width - 2), this.look.theme).map((line) =>
				clipLine(` ${line}`.trimEnd(), width),
			);
			this.#drawn = { width, lines };
		}
		return this.#drawn.lines;
	}
}

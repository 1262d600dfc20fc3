import type { Component } from "@mariozechner/pi-tui";
import { type DialogStyle, hint, keyLines, UP_DOWN } from "../../../tui/dialog-style.js";
import { ScrollText } from "../../../tui/scroll.js";
import { formatTokens } from "../../format.js";
import { cleanLine, cleanLines, clipLine, wrapLines } from "../lines.js";
import type { ContextRow } from "./context-rows.js";
import { listRows, titleLine } from "./panel-lines.js";

/** What a pager can ask for. */
export interface MessagePagerOptions {
	copy(text: string): void;
	onClose(): void;
}

const KEYS = [hint("scroll", ...UP_DOWN), hint("copy", "pager.copy"), hint("back", "dialog.cancel")];
const CLOSES = ["dialog.cancel", "dialog.accept", "pager.close"] as const;

/** Shows a message of a request in full. */
export class MessagePager implements Component {
	readonly #text: ScrollText;

	constructor(
		private readonly style: DialogStyle,
		private readonly row: ContextRow,
		private readonly options: MessagePagerOptions,
	) {
		this.#text = new ScrollText(() => listRows(style.rows?.() ?? 30), true);
	}

	render(width: number): string[] {
		const { theme } = this.style;
		const { full, tokens, index, label, note } = this.row;
		const lines = wrapLines(cleanLines(full), Math.max(1, width - 2));
		const { from, to } = this.#text.window(lines.length);
		const facts = [tokens === null ? "" : formatTokens(tokens), `lines ${from + 1}–${to} of ${lines.length}`];
		const title = ` ${theme.bold(cleanLine([index, label].filter(Boolean).join(" ")))}`;
		return [
			titleLine(title, facts.filter(Boolean), width),
			...(note ? [theme.dim(clipLine(` ${cleanLine(note)}`, width))] : []),
			...lines.slice(from, to).map((line) => clipLine(` ${line}`, width)),
			...keyLines(KEYS, this.style, width),
		];
	}

	handleInput(data: string): void {
		const { keymap } = this.style;
		if (this.#text.handle(data, keymap)) return;
		if (CLOSES.some((action) => keymap.matches(data, action))) this.options.onClose();
		else if (keymap.matches(data, "pager.copy")) this.options.copy(this.row.full);
	}

	invalidate(): void {} // nothing cached
}

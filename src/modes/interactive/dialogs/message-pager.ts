import type { Component } from "@mariozechner/pi-tui";
import { ScrollText } from "../../../tui/scroll.js";
import { type Look, typedText } from "../../../tui/select-dialog.js";
import { formatTokens } from "../../format.js";
import { cleanLine, cleanLines, clipLine, wrapLines } from "../lines.js";
import type { ContextRow } from "./context-rows.js";
import { keyLines, listRows, titleLine } from "./panel-lines.js";

/** What a pager can ask for. */
export interface MessagePagerOptions {
	copy(text: string): void;
	onClose(): void;
}

/** Shows a message of a request in full. */
export class MessagePager implements Component {
	readonly #text: ScrollText;

	constructor(
		private readonly look: Look,
		private readonly row: ContextRow,
		private readonly options: MessagePagerOptions,
	) {
		this.#text = new ScrollText(() => listRows(look.rows?.() ?? 30));
	}

	render(width: number): string[] {
		const { theme, keymap } = this.look;
		const { full, tokens, index, label, note } = this.row;
		const lines = wrapLines(cleanLines(full), Math.max(1, width - 2));
		const { from, to } = this.#text.window(lines.length);
		const facts = [tokens === null ? "" : formatTokens(tokens), `lines ${from + 1}–${to} of ${lines.length}`];
		const title = ` ${theme.bold(cleanLine([index, label].filter(Boolean).join(" ")))}`;
		return [
			titleLine(title, facts.filter(Boolean), width),
			...(note ? [theme.dim(clipLine(` ${cleanLine(note)}`, width))] : []),
			...lines.slice(from, to).map((line) => clipLine(` ${line}`, width)),
			...keyLines(
				[
					["↑↓", "scroll"],
					["y", "copy"],
					[keymap.keyOf("dialog.cancel"), "back"],
				],
				theme,
				width,
			),
		];
	}

	handleInput(data: string): void {
		const { keymap } = this.look;
		if (this.#text.handle(data, keymap)) return;
		if (keymap.matches(data, "dialog.cancel") || keymap.matches(data, "dialog.accept")) this.options.onClose();
		else if (typedText(data) === "y") this.options.copy(this.row.full);
	}

	invalidate(): void {} // nothing cached
}

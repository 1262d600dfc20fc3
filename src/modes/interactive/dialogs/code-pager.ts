import type { Component } from "@mariozechner/pi-tui";
import type { Look } from "../../../tui/select-dialog.js";
import type { CodeLine } from "../../code-lines.js";
import { clipLine, spread, wrapLines } from "../lines.js";

/** Rows around the code: title and keys, and what the screen keeps below. */
const OTHER_ROWS = 6;
const MIN_ROWS = 3;

/** Scrolls through code. */
export class CodePager implements Component {
	#top = 0;
	/** Rows that the last drawing had room for, and how many there were. */
	#page = MIN_ROWS;
	#count = 0;
	#drawn: { width: number; rows: string[] } | null = null;

	constructor(
		private readonly look: Look,
		private readonly lines: readonly CodeLine[],
		private readonly onClose: () => void,
	) {}

	render(width: number): string[] {
		const { theme, keymap } = this.look;
		const rows = this.#rows(width);
		this.#count = rows.length;
		this.#page = Math.max(MIN_ROWS, (this.look.rows?.() ?? 30) - OTHER_ROWS);
		this.#top = Math.max(0, Math.min(this.#top, rows.length - this.#page));
		const shown = rows.slice(this.#top, this.#top + this.#page);
		const place = `lines ${this.#top + 1}–${this.#top + shown.length} of ${rows.length} `;
		const title = theme.bold(" Code that would run");
		const keys = ` ↑↓ ${keymap.keyOf("dialog.pageDown")} scroll · ${keymap.keyOf("dialog.cancel")} back`;
		return [
			theme.dim("─".repeat(width)),
			spread(title, theme.warning(place), width),
			...shown,
			theme.dim(clipLine(keys, width)),
		];
	}

	handleInput(data: string): void {
		const { keymap } = this.look;
		if (keymap.matches(data, "dialog.cancel") || data === "q" || data === "v") this.onClose();
		else if (keymap.matches(data, "dialog.up") || data === "k") this.#scroll(-1);
		else if (keymap.matches(data, "dialog.down") || data === "j" || keymap.matches(data, "dialog.accept"))
			this.#scroll(1);
		else if (keymap.matches(data, "dialog.pageUp")) this.#scroll(1 - this.#page);
		else if (keymap.matches(data, "dialog.pageDown") || data === " ") this.#scroll(this.#page - 1);
		else if (data === "g") this.#scroll(-this.#count);
		else if (data === "G") this.#scroll(this.#count);
	}

	invalidate(): void {
		this.#drawn = null;
	}

	#scroll(by: number): void {
		this.#top = Math.max(0, Math.min(this.#top + by, this.#count - this.#page));
	}

	#rows(width: number): string[] {
		if (this.#drawn?.width !== width) {
			this.#drawn = { width, rows: this.lines.flatMap((line) => this.#draw(line, width)) };
		}
		return this.#drawn.rows;
	}

	#draw({ kind, mark, text }: CodeLine, width: number): string[] {
		const { theme } = this.look;
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

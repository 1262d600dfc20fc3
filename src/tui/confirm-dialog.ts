import { type Component, wrapTextWithAnsi } from "@mariozechner/pi-tui";
import { revealInvisible } from "../util/reveal.js";
import { oneLine, spread } from "./line.js";
import type { Look } from "./select-dialog.js";

/** What a `ConfirmDialog` asks. Texts may come from anywhere. */
export interface ConfirmQuestion {
	title: string;
	/** May have many lines: what does not fit is reached with the arrow keys. */
	message: string;
}

const MIN_ROWS = 3;

/** Asks one yes/no question. Enter or `y` accepts, escape or `n` refuses. */
export class ConfirmDialog implements Component {
	#top = 0;
	#hidden = 0;

	constructor(
		private readonly look: Look,
		private readonly question: ConfirmQuestion,
		private readonly onAnswer: (answer: boolean) => void,
	) {}

	render(width: number): string[] {
		const { theme, keymap } = this.look;
		const message = this.question.message ? revealInvisible(this.question.message).replace(/\t/g, "   ") : "";
		const lines = message ? message.split("\n").flatMap((line) => wrapTextWithAnsi(line, Math.max(1, width - 2))) : [];
		const rows = Math.max(MIN_ROWS, Math.floor((this.look.rows?.() ?? 30) / 3));
		this.#hidden = Math.max(0, lines.length - rows);
		this.#top = Math.min(this.#top, this.#hidden);
		const shown = lines.slice(this.#top, this.#top + rows);
		const place = `lines ${this.#top + 1}–${this.#top + shown.length} of ${lines.length} · ↑↓ `;
		const keys = ` ${keymap.keyOf("dialog.accept")} accept · ${keymap.keyOf("dialog.cancel")} refuse`;
		return [
			theme.dim("─".repeat(width)),
			spread(` ${theme.bold(oneLine(this.question.title))}`, this.#hidden > 0 ? theme.warning(place) : "", width),
			...shown.map((line) => spread(` ${line}`, "", width)),
			spread(theme.dim(keys), "", width),
		];
	}

	handleInput(data: string): void {
		const { keymap } = this.look;
		if (keymap.matches(data, "dialog.accept") || data === "y" || data === "Y") this.onAnswer(true);
		else if (keymap.matches(data, "dialog.cancel") || data === "n" || data === "N") this.onAnswer(false);
		else if (keymap.matches(data, "dialog.up")) this.#scroll(-1);
		else if (keymap.matches(data, "dialog.down")) this.#scroll(1);
		else if (keymap.matches(data, "dialog.pageUp")) this.#scroll(-10);
		else if (keymap.matches(data, "dialog.pageDown")) this.#scroll(10);
	}

	invalidate(): void {} // nothing cached

	#scroll(lines: number): void {
		this.#top = Math.max(0, Math.min(this.#top + lines, this.#hidden));
	}
}

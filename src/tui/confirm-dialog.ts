import { type Component, wrapTextWithAnsi } from "@mariozechner/pi-tui";
import { revealInvisible } from "../util/reveal.js";
import { type DialogStyle, hint, keyLines, UP_DOWN } from "./dialog-style.js";
import { oneLine, spread } from "./line.js";
import { ScrollText } from "./scroll.js";

/** The question of a `ConfirmDialog`. Its texts may be untrusted. */
export interface ConfirmQuestion {
	title: string;
	/** May have many lines; the arrow keys scroll it. */
	message: string;
}

const MIN_ROWS = 3;

/** Asks one yes/no question. */
export class ConfirmDialog implements Component {
	readonly #scroll = new ScrollText(() => Math.max(MIN_ROWS, Math.floor((this.style.rows?.() ?? 30) / 3)));

	constructor(
		private readonly style: DialogStyle,
		private readonly question: ConfirmQuestion,
		private readonly onAnswer: (answer: boolean) => void,
	) {}

	render(width: number): string[] {
		const { theme, keymap } = this.style;
		const message = this.question.message ? revealInvisible(this.question.message).replace(/\t/g, "   ") : "";
		const lines = message ? message.split("\n").flatMap((line) => wrapTextWithAnsi(line, Math.max(1, width - 2))) : [];
		const { from, to } = this.#scroll.window(lines.length);
		const position = `lines ${from + 1}–${to} of ${lines.length} · ${keymap.keyOf(...UP_DOWN)} `;
		const isCut = to - from < lines.length;
		return [
			theme.dim("─".repeat(width)),
			spread(` ${theme.bold(oneLine(this.question.title))}`, isCut ? theme.warning(position) : "", width),
			...lines.slice(from, to).map((line) => spread(` ${line}`, "", width)),
			...keyLines([hint("accept", "dialog.accept"), hint("refuse", "dialog.cancel")], this.style, width),
		];
	}

	handleInput(data: string): void {
		const { keymap } = this.style;
		if (keymap.matches(data, "dialog.accept") || keymap.matches(data, "question.yes")) this.onAnswer(true);
		else if (keymap.matches(data, "dialog.cancel") || keymap.matches(data, "question.no")) this.onAnswer(false);
		else this.#scroll.handle(data, keymap);
	}

	invalidate(): void {} // nothing cached
}

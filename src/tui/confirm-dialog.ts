import { type Component, visibleWidth, wrapTextWithAnsi } from "@mariozechner/pi-tui";
import { revealInvisible } from "../util/reveal.js";
import { type DialogStyle, hint, keyLines, titleLines } from "./dialog-style.js";
import type { KeyAction } from "./key-table.js";
import { spread } from "./line.js";
import { ScrollText } from "./scroll.js";

/** The question of a `ConfirmDialog`. Its texts may be untrusted. */
export interface ConfirmQuestion {
	title: string;
	/** May have many lines; the page keys scroll it. */
	message: string;
}

const MIN_ROWS = 3;
/** Minimum columns between the answers and the keys on one line. */
const GAP = 4;

/** Asks one yes/no question. Shows both answers and which of them Enter chooses, at first yes. */
export class ConfirmDialog implements Component {
	readonly #scroll = new ScrollText(() => Math.max(MIN_ROWS, Math.floor((this.style.rows?.() ?? 30) / 3)));
	#isYes = true;

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
		const keys = keymap.keyOf("dialog.pageUp", "dialog.pageDown");
		const position = `lines ${from + 1}–${to} of ${lines.length} · ${keys} `;
		const isCut = to - from < lines.length;
		const title = titleLines(this.question.title, this.style, width);
		const [first, last = ""] = [title.slice(0, -1), title.at(-1)];
		return [
			theme.dim("─".repeat(width)),
			...first,
			spread(last, isCut ? theme.warning(position) : "", width),
			...lines.slice(from, to).map((line) => spread(` ${line}`, "", width)),
			...this.#answers(width),
		];
	}

	handleInput(data: string): void {
		const { keymap } = this.style;
		const matches = (...actions: readonly KeyAction[]) => actions.some((action) => keymap.matches(data, action));
		if (matches("dialog.accept")) this.onAnswer(this.#isYes);
		else if (matches("question.yes")) this.onAnswer(true);
		else if (matches("question.no", "dialog.cancel")) this.onAnswer(false);
		// No wrapping: a person who wants to scroll down ends at the answer that changes nothing.
		else if (matches("answer.yes", "dialog.up")) this.#isYes = true;
		else if (matches("answer.no", "dialog.down")) this.#isYes = false;
		else if (matches("answer.other")) this.#isYes = !this.#isYes;
		else this.#scroll.handle(data, keymap);
	}

	invalidate(): void {} // nothing cached

	/** Both answers, with the keys on the same line if they fit. */
	#answers(width: number): string[] {
		const { theme } = this.style;
		const answer = (label: string, isSelected: boolean) =>
			isSelected ? `${theme.accent(" → ")}${theme.bold(label)}` : `   ${label}`;
		const answers = `${answer("Yes", this.#isYes)} ${answer("No", !this.#isYes)}`;
		const keys = keyLines(
			[
				hint("choose", "answer.yes", "answer.no"),
				hint("", "dialog.accept"),
				{ does: "", actions: ["question.yes", "question.no"], separator: "/" },
				hint("no", "dialog.cancel"),
			],
			this.style,
			width,
		);
		const [line = ""] = keys;
		const fits = keys.length === 1 && visibleWidth(answers) + GAP + visibleWidth(line) + 1 <= width;
		return fits ? [spread(answers, `${line} `, width)] : [spread(answers, "", width), ...keys];
	}
}

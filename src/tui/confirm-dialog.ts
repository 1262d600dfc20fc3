import { type Component, visibleWidth } from "@mariozechner/pi-tui";
import { type DialogStyle, fitsTitle, hint, keyLines, questionRows, titleLines } from "./dialog-style.js";
import type { KeyAction } from "./key-table.js";
import { clipLine, spread } from "./line.js";
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

/**
 * Asks one yes/no question. Shows both answers and which of them Enter chooses: at first yes, but no if the screen does not show
 * the complete question, all of which can be reached by scrolling.
 */
export class ConfirmDialog implements Component {
	readonly #scroll = new ScrollText(() => Math.max(MIN_ROWS, Math.floor((this.style.rows?.() ?? 30) / 3)));
	/** Null: the user has chosen none, and the question was not drawn. */
	#isYes: boolean | null = null;
	#drawn: { width: number; title: string[]; lines: string[] } | null = null;

	constructor(
		private readonly style: DialogStyle,
		private readonly question: ConfirmQuestion,
		private readonly onAnswer: (answer: boolean) => void,
	) {}

	render(width: number): string[] {
		const { theme, keymap } = this.style;
		if (this.#drawn?.width !== width) this.#drawn = this.#draw(width);
		const { title, lines } = this.#drawn;
		const { from, to } = this.#scroll.window(lines.length);
		const keys = keymap.keyOf("dialog.pageUp", "dialog.pageDown");
		const position = `lines ${from + 1}–${to} of ${lines.length} · ${keys} `;
		const isCut = to - from < lines.length;
		this.#isYes ??= !isCut;
		const [first, last = ""] = [title.slice(0, -1), title.at(-1)];
		const isBeside = visibleWidth(last) + visibleWidth(position) + 2 <= width;
		return [
			theme.dim("─".repeat(width)),
			...first,
			...(isCut && !isBeside ? [last, clipLine(` ${theme.warning(position)}`, width)] : []),
			...(isCut && isBeside ? [spread(last, theme.warning(position), width)] : []),
			...(isCut ? [] : [spread(last, "", width)]),
			...lines.slice(from, to).map((line) => spread(` ${line}`, "", width)),
			...this.#answers(width),
		];
	}

	handleInput(data: string): void {
		const { keymap } = this.style;
		const matches = (...actions: readonly KeyAction[]) => actions.some((action) => keymap.matches(data, action));
		if (matches("dialog.accept")) this.onAnswer(this.#isYes === true);
		else if (matches("question.yes")) this.onAnswer(true);
		else if (matches("question.no", "dialog.cancel")) this.onAnswer(false);
		// No wrapping: a person who wants to scroll down ends at the answer that changes nothing.
		else if (matches("answer.yes", "dialog.up")) this.#isYes = true;
		else if (matches("answer.no", "dialog.down")) this.#isYes = false;
		else if (matches("answer.other")) this.#isYes = !this.#isYes;
		else this.#scroll.handle(data, keymap);
	}

	invalidate(): void {} // nothing cached

	/** A title that is too long is scrolled with the message. */
	#draw(width: number): { width: number; title: string[]; lines: string[] } {
		const { title, message } = this.question;
		const isShort = fitsTitle(title, width);
		const rows = [...(isShort ? [] : [title]), ...(message ? [message] : [])];
		return {
			width,
			title: isShort ? titleLines(title, this.style, width) : [],
			lines: rows.flatMap((text) => questionRows(text, width - 2)),
		};
	}

	/** Both answers, with the keys on the same line if they fit. */
	#answers(width: number): string[] {
		const { theme } = this.style;
		const answer = (label: string, isSelected: boolean) =>
			isSelected ? `${theme.accent(" → ")}${theme.bold(label)}` : `   ${label}`;
		const answers = `${answer("Yes", this.#isYes === true)} ${answer("No", !this.#isYes)}`;
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

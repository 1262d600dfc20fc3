import {
	type Component,
	CURSOR_MARKER,
	type Focusable,
	Input,
	truncateToWidth,
	visibleWidth,
} from "@mariozechner/pi-tui";
import { joinLines } from "../util/trim.js";
import { type DialogStyle, hint, keyLines, titleLines } from "./dialog-style.js";
import { oneLine } from "./line.js";
import { visibleControls } from "./safe-line.js";

/** The input drops line ends. Of a key, they show that it may be more than a key. */
const LINE_END = "\u2028";

/** The question of an `InputDialog`. Its texts may be untrusted. */
export interface InputQuestion {
	title: string;
	/** Shown while the input is empty. */
	placeholder?: string;
	/** Shows dots instead of the text, for API keys. */
	masked?: boolean;
	/** Initial text, with the cursor at its end. Line ends and tabs become spaces. */
	value?: string;
}

/** Asks for one line of text. */
export class InputDialog implements Component, Focusable {
	focused = false;
	readonly #input = new Input();

	/** @param onAnswer receives the typed text, or null when canceled */
	constructor(
		private readonly style: DialogStyle,
		private readonly question: InputQuestion,
		private readonly onAnswer: (answer: string | null) => void,
	) {
		const value = joinLines(visibleControls(question.value ?? "")).replaceAll("\t", " ");
		// Pasting puts the cursor at the end.
		if (value) this.#input.handleInput(`\x1b[200~${value}\x1b[201~`);
	}

	render(width: number): string[] {
		const { theme } = this.style;
		return [
			theme.dim("─".repeat(width)),
			...titleLines(this.question.title, this.style, width),
			truncateToWidth(this.#line(width), width, ""),
			...keyLines([hint("accept", "dialog.accept"), hint("cancel", "dialog.cancel")], this.style, width),
		];
	}

	handleInput(data: string): void {
		const { keymap } = this.style;
		if (keymap.matches(data, "dialog.accept")) this.onAnswer(this.#input.getValue());
		else if (keymap.matches(data, "dialog.cancel")) this.onAnswer(null);
		else this.#input.handleInput(this.question.masked ? data.replace(/\r\n|\r|\n/g, LINE_END) : data);
	}

	invalidate(): void {
		this.#input.invalidate();
	}

	#line(width: number): string {
		const { theme } = this.style;
		const value = this.#input.getValue();
		const prompt = theme.accent(" > ");
		const cursor = `${this.focused ? CURSOR_MARKER : ""}\x1b[7m \x1b[27m`;
		const room = Math.max(1, width - 4);
		if (!value)
			return prompt + cursor + theme.dim(truncateToWidth(oneLine(this.question.placeholder ?? ""), room, "…"));
		if (this.question.masked) return `${prompt}${"•".repeat(Math.min([...value].length, room))}${cursor}`;
		this.#input.focused = this.focused;
		const [line = ""] = this.#input.render(Math.max(1, width - 1));
		return visibleWidth(line) < width ? ` ${line}` : line;
	}
}

import type { Component, Focusable } from "@mariozechner/pi-tui";
import { errorText } from "../../../errors.js";
import { type DialogStyle, hint, keyLines, titleLines } from "../../../tui/dialog-style.js";
import { clipLine } from "../../../tui/line.js";
import type { PromptEditor } from "../../../tui/prompt-editor.js";
import { cleanLine } from "../clean-text.js";

/** The parts of the screen that a `TextDialog` uses. */
export interface TextDialogHost {
	createEditor(): PromptEditor;
	/** @returns the new text, or null to keep the old one */
	editExternally(text: string): Promise<string | null>;
	requestRender(): void;
}

const KEYS = [
	hint("accept", "tui.input.submit"),
	hint("new line", "tui.input.newLine"),
	hint("your editor", "app.externalEditor"),
	hint("cancel", "dialog.cancel"),
];

/** Asks for a text of several lines. */
export class TextDialog implements Component, Focusable {
	readonly #editor: PromptEditor;
	/** Shown until the next key. */
	#problem: string | null = null;

	/** @param onAnswer receives the text exactly as it is in the editor, or null when canceled */
	constructor(
		private readonly style: DialogStyle,
		private readonly question: { title: string; value: string },
		private readonly host: TextDialogHost,
		private readonly onAnswer: (answer: string | null) => void,
	) {
		this.#editor = host.createEditor();
		this.#editor.setText(question.value);
	}

	get focused(): boolean {
		return this.#editor.focused;
	}

	set focused(focused: boolean) {
		this.#editor.focused = focused;
	}

	render(width: number): string[] {
		const { theme } = this.style;
		const problem = this.#problem === null ? [] : [theme.warning(clipLine(` ${cleanLine(this.#problem)}`, width))];
		return [
			...titleLines(this.question.title, this.style, width),
			...this.#editor.render(width),
			...problem,
			...keyLines(KEYS, this.style, width),
		];
	}

	handleInput(data: string): void {
		const { keymap } = this.style;
		this.#problem = null;
		if (keymap.matches(data, "dialog.cancel")) this.onAnswer(null);
		else if (keymap.matches(data, "app.externalEditor")) this.#editExternally();
		else if (keymap.matches(data, "tui.input.submit")) this.onAnswer(this.#editor.getExpandedText());
		else this.#editor.handleInput(data);
	}

	invalidate(): void {
		this.#editor.invalidate();
	}

	#editExternally(): void {
		this.host.editExternally(this.#editor.getExpandedText()).then(
			(text) => {
				if (text !== null) this.#editor.setText(text);
				this.host.requestRender();
			},
			(error: unknown) => {
				this.#problem = errorText(error);
				this.host.requestRender();
			},
		);
	}
}

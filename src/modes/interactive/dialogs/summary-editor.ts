import type { Component, Focusable } from "@mariozechner/pi-tui";
import { errorText } from "../../../errors.js";
import { type DialogStyle, hint, keyLines } from "../../../tui/dialog-style.js";
import type { PromptEditor } from "../../../tui/prompt-editor.js";
import { cleanLine, clipLine } from "../lines.js";

/** What the editor works with. */
export interface SummaryEditorOptions {
	editor: PromptEditor;
	text: string;
	/** @returns the new text, or null when it is to stay */
	editExternally(text: string): Promise<string | null>;
	requestRender(): void;
	/** Gets the text, trimmed; not called for an empty one. */
	onDone(text: string): void;
	onCancel(): void;
}

const KEYS = [
	hint("takes it", "tui.input.submit"),
	hint("new line", "tui.input.newLine"),
	hint("your editor", "app.externalEditor"),
	hint("leaves it as it was", "dialog.cancel"),
];

/** Lets the user rewrite a summary. */
export class SummaryEditor implements Component, Focusable {
	#said: string | null = null;

	constructor(
		private readonly style: DialogStyle,
		private readonly options: SummaryEditorOptions,
	) {
		const { editor, text, onDone } = options;
		editor.setText(text);
		editor.onSubmit = (written) => {
			if (written.trim()) onDone(written.trim());
			else {
				editor.setText(written);
				this.#say("A compaction needs a summary");
			}
		};
	}

	get focused(): boolean {
		return this.options.editor.focused;
	}

	set focused(focused: boolean) {
		this.options.editor.focused = focused;
	}

	render(width: number): string[] {
		const { theme } = this.style;
		const said = this.#said === null ? [] : [theme.warning(clipLine(` ${cleanLine(this.#said)}`, width))];
		return [
			clipLine(` ${theme.bold("Summary")}`, width),
			...this.options.editor.render(width),
			...said,
			...keyLines(KEYS, this.style, width),
		];
	}

	handleInput(data: string): void {
		const { keymap } = this.style;
		this.#said = null;
		if (keymap.matches(data, "dialog.cancel")) this.options.onCancel();
		else if (keymap.matches(data, "app.externalEditor")) this.#editExternally();
		else this.options.editor.handleInput(data);
	}

	invalidate(): void {
		this.options.editor.invalidate();
	}

	#editExternally(): void {
		const { editor, editExternally } = this.options;
		editExternally(editor.getExpandedText()).then(
			(text) => {
				if (text !== null) editor.setText(text);
				this.options.requestRender();
			},
			(error: unknown) => this.#say(errorText(error)),
		);
	}

	#say(text: string): void {
		this.#said = text;
		this.options.requestRender();
	}
}

import type { Component, Focusable } from "@mariozechner/pi-tui";
import { errorText } from "../../../errors.js";
import { type DialogStyle, hint, keyLines } from "../../../tui/dialog-style.js";
import { clipLine } from "../../../tui/line.js";
import type { PromptEditor } from "../../../tui/prompt-editor.js";
import { cleanLine } from "../clean-text.js";

/** Settings and callbacks of a `SummaryEditor`. */
export interface SummaryEditorOptions {
	editor: PromptEditor;
	text: string;
	/** @returns the new text, or null to keep the old one */
	editExternally(text: string): Promise<string | null>;
	requestRender(): void;
	/** Receives the trimmed text; not called for an empty one. */
	onDone(text: string): void;
	onCancel(): void;
}

const KEYS = [
	hint("accept", "tui.input.submit"),
	hint("new line", "tui.input.newLine"),
	hint("your editor", "app.externalEditor"),
	hint("discard", "dialog.cancel"),
];

/** Lets the user rewrite a summary. */
export class SummaryEditor implements Component, Focusable {
	/** Shown until the next key. */
	#notice: string | null = null;

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
				this.#notify("A compaction needs a summary");
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
		const notice = this.#notice === null ? [] : [theme.warning(clipLine(` ${cleanLine(this.#notice)}`, width))];
		return [
			clipLine(` ${theme.bold("Summary")}`, width),
			...this.options.editor.render(width),
			...notice,
			...keyLines(KEYS, this.style, width),
		];
	}

	handleInput(data: string): void {
		const { keymap } = this.style;
		this.#notice = null;
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
			(error: unknown) => this.#notify(errorText(error)),
		);
	}

	#notify(text: string): void {
		this.#notice = text;
		this.options.requestRender();
	}
}

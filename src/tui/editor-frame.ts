import type { Component, Focusable } from "@mariozechner/pi-tui";
import type { PromptEditor } from "./prompt-editor.js";

/** A component that draws the editor, and passes keys on to it. */
export type AroundEditor = Component & { handleInput(data: string): void };

/** The place of the prompt's editor on the screen: shows the editor, or a component around it. */
export class EditorFrame implements AroundEditor, Focusable {
	/** null: the editor itself. */
	around: AroundEditor | null = null;

	constructor(private readonly editor: PromptEditor) {}

	get focused(): boolean {
		return this.editor.focused;
	}

	set focused(isFocused: boolean) {
		this.editor.focused = isFocused;
	}

	render(width: number): string[] {
		return (this.around ?? this.editor).render(width);
	}

	handleInput(data: string): void {
		(this.around ?? this.editor).handleInput(data);
	}

	invalidate(): void {
		(this.around ?? this.editor).invalidate();
	}
}

import { type EditorUndo, editorUndo } from "./internals/editor.js";

/** Redo for pi-tui's editor, which can only undo. */
export class Redo {
	readonly #states: EditorUndo;
	/** Undone states, oldest first. */
	#undone: object[] = [];
	/** The text after the last undo or redo: once it differs there is nothing to redo. */
	#text = "";

	/** @throws TypeError in another version of pi-tui */
	constructor(private readonly editor: { getText(): string }) {
		this.#states = editorUndo(editor);
	}

	/** Runs `undo` and keeps the state before it. */
	undo(undo: () => void): void {
		this.#forgetStale();
		const { depth } = this.#states;
		const before = this.#states.snapshot();
		undo();
		if (this.#states.depth < depth) this.#undone.push(before);
		this.#text = this.editor.getText();
	}

	/** Reverts the last undo, unless the text was changed since. */
	redo(): void {
		this.#forgetStale();
		const next = this.#undone.pop();
		if (!next) return;
		this.#states.restore(next);
		this.#text = this.editor.getText();
	}

	#forgetStale(): void {
		if (this.editor.getText() !== this.#text) this.#undone = [];
	}
}

/** What redoing needs of pi-tui's editor beyond the public part. The base is pinned to one version. */
interface UndoState {
	readonly undoStack: { push(state: object): void; readonly length: number };
	readonly state: object;
}

/** The editor, as redoing sees it. */
interface EditedText {
	getText(): string;
}

/** Takes undoing back: pi-tui's editor can only undo. */
export class Redo {
	readonly #editor: EditedText & UndoState;
	/** States that were undone, the first of them first. */
	#undone: object[] = [];
	/** The text as the last undo or redo left it: with another one there is nothing to redo. */
	#text = "";

	/** @throws TypeError when the editor keeps its states in another way */
	constructor(editor: EditedText) {
		if (!hasUndoState(editor)) throw new TypeError("This version of pi-tui keeps its undo states in another way");
		this.#editor = editor;
	}

	/** Lets `undo` take a change back, and keeps what was there. */
	undo(undo: () => void): void {
		const { undoStack, state } = this.#editor;
		this.#forgetStale();
		const before = structuredClone(state);
		const { length } = undoStack;
		undo();
		if (undoStack.length < length) this.#undone.push(before);
		this.#text = this.#editor.getText();
	}

	/** Brings back what was undone last; nothing when the text was changed since. */
	redo(): void {
		this.#forgetStale();
		const next = this.#undone.pop();
		if (!next) return;
		this.#editor.undoStack.push(this.#editor.state);
		Object.assign(this.#editor.state, next);
		this.#text = this.#editor.getText();
	}

	#forgetStale(): void {
		if (this.#editor.getText() !== this.#text) this.#undone = [];
	}
}

function hasUndoState(editor: EditedText): editor is EditedText & UndoState {
	const stack: unknown = Reflect.get(editor, "undoStack");
	const state: unknown = Reflect.get(editor, "state");
	if (typeof stack !== "object" || stack === null || typeof state !== "object" || state === null) return false;
	return typeof Reflect.get(stack, "push") === "function" && typeof Reflect.get(stack, "length") === "number";
}

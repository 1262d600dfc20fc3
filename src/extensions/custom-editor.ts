import type { HookEditor, HookKeybindings } from "../hooks/types.js";
import { notAvailable } from "./with-refusals.js";

/** The editor that the running factory is asked to change, and whether a `CustomEditor` has taken it. */
let offered: { editor: HookEditor; isTaken: boolean } | null = null;

/** Calls a factory, whose `CustomEditor` is around an editor. @throws PiError if it makes another editor */
export function makeEditor<T>(editor: HookEditor, factory: () => T): T {
	const own = { editor, isTaken: false };
	offered = own;
	try {
		const made = factory();
		if (!own.isTaken)
			throw notAvailable("an editor that is no CustomEditor", "pi keeps its own editor; extend CustomEditor");
		return made;
	} finally {
		offered = null;
	}
}

/** The editor as extensions extend it: draws pi's editor and passes keys on to it. */
export class CustomEditor {
	focused = true;
	disableSubmit = false;
	readonly actionHandlers = new Map<string, () => void>();
	readonly #editor: HookEditor;

	constructor(
		protected readonly tui: object,
		_theme: object,
		private readonly keybindings?: HookKeybindings,
	) {
		if (!offered) throw notAvailable("CustomEditor outside of ctx.ui.setEditorComponent", "pi has one editor");
		this.#editor = offered.editor;
		offered.isTaken = true;
	}

	borderColor = (text: string): string => this.#editor.borderColor(text);
	onSubmit = (text: string): void => {
		this.#editor.setText(text);
		this.#editor.handleInput("\r");
	};
	onEscape = (): void => this.#editor.handleInput("\x1b");
	onCtrlD = (): void => this.#editor.handleInput("\x04");

	/** Calls a handler for the keys of an action. */
	onAction(action: string, handler: () => void): void {
		this.actionHandlers.set(action, handler);
	}

	render(width: number): string[] {
		return this.#editor.render(width);
	}

	handleInput(data: string): void {
		for (const [action, handler] of this.actionHandlers) {
			if (!this.keybindings?.matches(data, action)) continue;
			handler();
			return;
		}
		this.#editor.handleInput(data);
	}

	invalidate(): void {
		this.#editor.invalidate();
	}

	getText(): string {
		return this.#editor.getText();
	}

	getExpandedText(): string {
		return this.#editor.getExpandedText();
	}

	setText(text: string): void {
		this.#editor.setText(text);
	}

	insertTextAtCursor(text: string): void {
		this.#editor.insertTextAtCursor(text);
	}

	getLines(): string[] {
		return this.#editor.getLines();
	}

	getCursor(): { line: number; col: number } {
		return this.#editor.getCursor();
	}

	isShowingAutocomplete(): boolean {
		return this.#editor.isShowingAutocomplete();
	}

	// The look and the completions of the editor are those of pi.
	addToHistory(): void {}
	setAutocompleteProvider(): void {}
	setPaddingX(): void {}
	getPaddingX(): number {
		return 1;
	}
	setAutocompleteMaxVisible(): void {}
	setWorkingStatusIndicator(): void {}
}

import type { HookComponent, HookEditor, HookUI } from "../hooks/types.js";
import { makeEditor } from "./custom-editor.js";
import { extensionKeys } from "./extension-keys.js";

/** Makes the editor of an extension. */
type EditorFactory = (tui: object, theme: object, keybindings: object) => HookComponent;

/** Sees a key before the editor: may keep it, or replace it. */
type InputListener = (data: string) => { consume?: boolean; data?: string } | undefined;

/** What an extension has put around the editor: a component, and listeners to its keys. */
export class ExtensionEditor {
	#factory: EditorFactory | undefined;
	readonly #listeners = new Set<{ listener: InputListener }>();

	/** @param draw calls code of the extension */
	constructor(private readonly draw: <T>(action: () => T) => T) {}

	get factory(): EditorFactory | undefined {
		return this.#factory;
	}

	/** Draws the editor with another component; undefined restores it. */
	use(ui: HookUI, factory: EditorFactory | undefined): void {
		this.#factory = factory;
		this.#show(ui);
	}

	/** Shows the keys of the editor to a listener. @returns a function that removes it */
	listen(ui: HookUI, listener: InputListener): () => void {
		const record = { listener };
		this.#listeners.add(record);
		if (this.#listeners.size === 1) this.#show(ui);
		return () => void this.#listeners.delete(record);
	}

	#show(ui: HookUI): void {
		if (!this.#factory && this.#listeners.size === 0) {
			ui.setEditor(undefined);
			return;
		}
		const factory = this.#factory;
		ui.setEditor((tui, theme, keybindings, editor) => {
			const made = factory
				? this.draw(() => makeEditor(editor, () => factory(tui, theme.editor, extensionKeys(keybindings))))
				: editor;
			return this.#around(made);
		});
	}

	#around(component: HookComponent | HookEditor): HookComponent {
		return {
			render: (width) => this.draw(() => component.render(width)),
			invalidate: () => component.invalidate(),
			handleInput: (data) => this.draw(() => this.#pass(component, data)),
			...("dispose" in component ? { dispose: () => component.dispose?.() } : {}),
		};
	}

	#pass(component: HookComponent, data: string): void {
		let key = data;
		for (const { listener } of [...this.#listeners]) {
			const answer = listener(key);
			if (answer?.consume === true) return;
			if (typeof answer?.data === "string") key = answer.data;
		}
		component.handleInput?.(key);
	}
}

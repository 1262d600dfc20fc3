import type { ScreenOwner } from "../../../hooks/session-ui.js";
import { isComponent } from "../../../hooks/tool-drawing.js";
import type { EditorFactory, HookComponent, HookEditor, HookKeybindings } from "../../../hooks/types.js";
import { ContainedComponent } from "../../../tui/contained.js";
import type { AroundEditor } from "../../../tui/editor-frame.js";
import type { HookScreenTarget } from "./hook-screen-target.js";

/** What one hook has put around the editor. */
interface Layer {
	owner: ScreenOwner;
	component: HookComponent;
	view: ContainedComponent;
}

/** The components that hooks have put around the editor, each around those before it. */
export class EditorLayers {
	/** The innermost first. */
	#layers: Layer[] = [];

	constructor(private readonly options: HookScreenTarget & { keybindings: HookKeybindings }) {}

	/** Puts a component around all others; undefined removes that of the hook. A factory that fails is reported. */
	set(owner: ScreenOwner, factory: EditorFactory | undefined): void {
		this.#remove(this.#layers.find((layer) => layer.owner.path === owner.path));
		if (factory) this.#add(owner, factory);
		this.#update();
	}

	#add(owner: ScreenOwner, factory: EditorFactory): void {
		const { screen, theme, keybindings } = this.options;
		const { tui, style } = screen;
		let layer: Layer | undefined;
		const failed = (error: unknown) => {
			owner.failed("ui.setEditor", error);
			this.#remove(layer);
			this.#update();
		};
		try {
			const component: unknown = factory(
				tui,
				theme,
				keybindings,
				this.#editorFor(() => layer),
			);
			if (!isComponent(component)) throw new TypeError("the factory did not return a component");
			const view = new ContainedComponent(component, {
				name: owner.name,
				errorStyle: (text) => style.theme.error(text),
				maxRows: () => tui.terminal.rows,
				// Not now: a frame is drawn.
				onError: (error) => queueMicrotask(() => failed(error)),
				onDraw: (ms) => owner.drew(ms),
			});
			layer = { owner, component, view };
			this.#layers.push(layer);
		} catch (error) {
			failed(error);
		}
	}

	#remove(layer: Layer | undefined): void {
		if (!layer) return;
		this.#layers = this.#layers.filter((other) => other !== layer);
		layer.view.dispose();
	}

	#update(): void {
		const { screen, frame, editor, keymap } = this.options;
		const top = this.#layers.at(-1);
		frame.around = top
			? {
					render: (width) => top.view.render(width),
					invalidate: () => top.view.invalidate(),
					// Whatever a hook does with keys, this one clears the editor and ends pi.
					handleInput: (data) =>
						keymap.matches(data, "app.interrupt") ? editor.handleInput(data) : this.#pass(top, data),
				}
			: null;
		screen.tui.requestRender();
	}

	/** Passes a key to a layer. One that fails is removed, and what is below gets the key. */
	#pass(layer: Layer, data: string): void {
		const below = this.#below(layer);
		if (!layer.component.handleInput) {
			below.handleInput(data);
			return;
		}
		try {
			layer.view.handleInput(data);
		} catch (error) {
			layer.owner.failed("ui.setEditor", error);
			this.#remove(layer);
			this.#update();
			below.handleInput(data);
		}
	}

	/** What a layer is around. A layer that has been removed is around the editor. */
	#below(layer: Layer | undefined): AroundEditor {
		const at = layer ? this.#layers.indexOf(layer) : this.#layers.length;
		const below = this.#layers[at - 1];
		if (!below) return this.options.editor;
		return {
			render: (width) => below.view.render(width),
			invalidate: () => below.view.invalidate(),
			handleInput: (data) => this.#pass(below, data),
		};
	}

	#editorFor(layer: () => Layer | undefined): HookEditor {
		const { editor } = this.options;
		return Object.freeze<HookEditor>({
			render: (width) => this.#below(layer()).render(width),
			handleInput: (data) => this.#below(layer()).handleInput(data),
			invalidate: () => this.#below(layer()).invalidate(),
			getText: () => editor.getText(),
			getExpandedText: () => editor.getExpandedText(),
			setText: (text) => editor.setText(text),
			insertTextAtCursor: (text) => editor.insertTextAtCursor(text),
			getLines: () => editor.getLines(),
			getCursor: () => editor.getCursor(),
			isShowingAutocomplete: () => editor.isShowingAutocomplete(),
			borderColor: (text) => editor.borderStyle(text),
		});
	}
}

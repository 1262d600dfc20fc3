import type { CustomScreenOptions, HookScreen, ScreenOwner } from "../../../hooks/session-ui.js";
import type { AutocompleteFactory, CustomFactory, EntryTheme, ScreenLook, ThemeInfo } from "../../../hooks/types.js";
import { hookTheme } from "../hook-theme.js";
import type { HookScreenParts } from "./hook-screen-parts.js";
import type { HookScreenTarget } from "./hook-screen-target.js";

/** Settings of a `HookScreenLoader`. */
export interface HookScreenLoaderOptions extends Omit<HookScreenTarget, "theme"> {
	/** Reports that the code of the screen could not be loaded. */
	failed(error: unknown): void;
}

/** What hooks show on the screen. Its code is loaded when a hook first shows something; calls keep their order. */
export class HookScreenLoader implements HookScreen {
	readonly theme: EntryTheme;
	#parts: Promise<HookScreenParts> | null = null;
	#loaded: HookScreenParts | null = null;

	constructor(private readonly options: HookScreenLoaderOptions) {
		this.theme = hookTheme(options.screen.style.theme);
	}

	setStatus(...status: Parameters<HookScreen["setStatus"]>): void {
		this.#use((parts) => parts.setStatus(...status));
	}

	setWidget(...widget: Parameters<HookScreen["setWidget"]>): void {
		this.#use((parts) => parts.setWidget(...widget));
	}

	setTitle(...title: Parameters<HookScreen["setTitle"]>): void {
		this.#use((parts) => parts.setTitle(...title));
	}

	setWorkingMessage(...message: Parameters<HookScreen["setWorkingMessage"]>): void {
		this.#use((parts) => parts.setWorkingMessage(...message));
	}

	setLook<K extends keyof ScreenLook>(owner: ScreenOwner, name: K, value: ScreenLook[K] | undefined): void {
		this.#use((parts) => parts.setLook(owner, name, value));
	}

	setFooter(...footer: Parameters<HookScreen["setFooter"]>): void {
		this.#use((parts) => parts.setFooter(...footer));
	}

	setHeader(...header: Parameters<HookScreen["setHeader"]>): void {
		this.#use((parts) => parts.setHeader(...header));
	}

	setEditor(...editor: Parameters<HookScreen["setEditor"]>): void {
		this.#use((parts) => parts.setEditor(...editor));
	}

	addAutocompleteProvider(owner: ScreenOwner, factory: AutocompleteFactory): () => void {
		let remove = () => {};
		this.#use((parts) => {
			remove = parts.addAutocompleteProvider(owner, factory);
		});
		return () => this.#use(() => remove());
	}

	get themes(): ThemeInfo[] {
		const { themes } = this.options;
		return themes.all.map(({ name, path }) => ({
			name,
			path,
			get styles() {
				return hookTheme(themes.named(name));
			},
		}));
	}

	async custom<T>(owner: ScreenOwner, factory: CustomFactory<T>, options: CustomScreenOptions): Promise<T | null> {
		// Without a wait once it is loaded, so that components and dialogs open in the order of their calls.
		const parts = this.#loaded ?? (await this.#load());
		return parts.custom(owner, factory, options);
	}

	pasteToEditor(text: string): void {
		const { editor, screen } = this.options;
		editor.insertTextAtCursor(text);
		screen.tui.requestRender();
	}

	getEditorText(): string {
		return this.options.editor.getExpandedText();
	}

	setEditorText(text: string): void {
		const { editor, screen } = this.options;
		editor.setText(text);
		screen.tui.requestRender();
	}

	#use(action: (parts: HookScreenParts) => void): void {
		this.#load().then(action).catch(this.options.failed);
	}

	#load(): Promise<HookScreenParts> {
		if (this.#parts) return this.#parts;
		this.#parts = this.#create();
		// The first callback: calls that are queued already run right after it.
		this.#parts.then(
			(parts) => {
				this.#loaded = parts;
			},
			() => {}, // reported to each caller
		);
		return this.#parts;
	}

	async #create(): Promise<HookScreenParts> {
		const { HookScreenParts } = await import("./hook-screen-parts.js");
		return new HookScreenParts({ ...this.options, theme: this.theme });
	}
}

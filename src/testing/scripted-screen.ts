import { PLAIN_THEME } from "../hooks/plain-theme.js";
import type { HookScreen, ScreenOwner, WidgetContent } from "../hooks/session-ui.js";
import type {
	ComponentFactory,
	CustomFactory,
	EditorFactory,
	HookComponent,
	HookEditor,
	ScreenLook,
} from "../hooks/types.js";

/** Draws components as text. */
export interface Drawing {
	tui: Parameters<ComponentFactory>[0];
	keybindings: Parameters<ComponentFactory>[2];
	draw(component: HookComponent, name: string, onError: (error: unknown) => void): string[];
}

/** What hooks show, as text without styles, on a screen of 80 columns and 24 rows. */
export interface ShownScreen {
	/** Texts in the footer, by key. */
	statuses: Record<string, string>;
	/** Lines of the widgets, by key. */
	widgets: Record<string, string[]>;
	/** null: that of pi. */
	title: string | null;
	workingMessage: string | null;
	/** What hooks changed with `setLook`, by name. */
	look: Partial<ScreenLook>;
	header: string[] | null;
	footer: string[] | null;
	/** What hooks have put around the editor; null: nothing. */
	editor: string[] | null;
	editorText: string;
}

/** A component that a hook shows with `ui.custom`. */
export interface OpenComponent {
	/** Passes keys to it: names such as `enter`, or input sequences. @returns its lines then; null if it has closed */
	press(...keys: readonly string[]): string[] | null;
}

/** Asks the script for the keys that the user presses. @returns null if the user closes the component */
export type KeyScript = (hook: string, lines: string[], component: OpenComponent) => readonly string[] | null;

const KEYS: Readonly<Record<string, string>> = {
	enter: "\r",
	escape: "\x1b",
	space: " ",
	tab: "\t",
	backspace: "\x7f",
	up: "\x1b[A",
	down: "\x1b[B",
	right: "\x1b[C",
	left: "\x1b[D",
};

/** Something that a hook shows. */
interface Drawn {
	lines(): string[];
	/** Call when it is replaced or removed. */
	dispose(): void;
}

/** The screen of a test: keeps what hooks show. */
export class ScriptedScreen implements HookScreen {
	readonly theme = PLAIN_THEME;
	readonly #statuses = new Map<string, string>();
	readonly #widgets = new Map<string, Drawn>();
	#title: string | null = null;
	#workingMessage: string | null = null;
	readonly #look: Partial<ScreenLook> = {};
	/** By hook; the one set last is shown. */
	readonly #headers = new Map<string, Drawn>();
	readonly #footers = new Map<string, Drawn>();
	readonly #editors = new Map<string, Drawn>();
	#editorText = "";

	constructor(
		private readonly drawing: Drawing,
		private readonly keys: KeyScript,
	) {}

	/** What is shown now. */
	get shown(): ShownScreen {
		return {
			statuses: Object.fromEntries(this.#statuses),
			widgets: Object.fromEntries([...this.#widgets].map(([key, drawn]) => [key, drawn.lines()])),
			title: this.#title,
			workingMessage: this.#workingMessage,
			look: { ...this.#look },
			header: [...this.#headers.values()].at(-1)?.lines() ?? null,
			footer: [...this.#footers.values()].at(-1)?.lines() ?? null,
			editor: [...this.#editors.values()].at(-1)?.lines() ?? null,
			editorText: this.#editorText,
		};
	}

	setStatus(_: ScreenOwner, key: string, text: string | undefined): void {
		if (text === undefined) this.#statuses.delete(key);
		else this.#statuses.set(key, text);
	}

	setWidget(owner: ScreenOwner, key: string, content: WidgetContent | undefined): void {
		const drawn =
			typeof content === "function"
				? this.#make(owner, "ui.setWidget", content)
				: content && { lines: () => [...content], dispose() {} };
		put(this.#widgets, key, drawn);
	}

	async custom<T>(
		owner: ScreenOwner,
		factory: CustomFactory<T>,
		{ signal }: { signal: AbortSignal },
	): Promise<T | null> {
		if (signal.aborted) return null;
		const { tui, keybindings } = this.drawing;
		return new Promise<T | null>((resolve, reject) => {
			let component: HookComponent | null = null;
			let isOpen = true;
			const close = (result: T | null) => {
				if (!isOpen) return;
				isOpen = false;
				component?.dispose?.();
				resolve(result);
			};
			const fail = (error: unknown) => {
				if (isOpen) owner.failed("ui.custom", error);
				close(null);
			};
			const lines = () => (component ? this.drawing.draw(component, owner.name, fail) : []);
			const press = (...keys: readonly string[]) => {
				for (const key of keys) {
					if (!isOpen) break;
					try {
						component?.handleInput?.(KEYS[key] ?? key);
					} catch (error) {
						fail(error);
					}
				}
				return isOpen ? lines() : null;
			};
			const play = (made: HookComponent) => {
				component = made;
				const drawn = lines();
				if (!isOpen) return;
				const keys = this.keys(owner.name, drawn, { press });
				if (keys === null) close(null);
				else press(...keys);
				if (!isOpen || keys?.length === 0) return;
				throw new Error(`The component of ${owner.name} is still open after the keys ${keys?.join(", ")}`);
			};
			signal.addEventListener("abort", () => close(null), { once: true });
			(async () => factory(tui, this.theme, keybindings, close))().then((made) => {
				try {
					play(made);
				} catch (error) {
					// A mistake in the script, not in the hook.
					reject(error);
				}
			}, fail);
		});
	}

	setTitle(_: ScreenOwner, title: string | undefined): void {
		this.#title = title ?? null;
	}

	setWorkingMessage(_: ScreenOwner, message: string | undefined): void {
		this.#workingMessage = message ?? null;
	}

	setLook<K extends keyof ScreenLook>(_: ScreenOwner, name: K, value: ScreenLook[K] | undefined): void {
		if (value === undefined) delete this.#look[name];
		else this.#look[name] = value;
	}

	setFooter(owner: ScreenOwner, factory: ComponentFactory | undefined): void {
		put(this.#footers, owner.path, factory && this.#make(owner, "ui.setFooter", factory));
	}

	setHeader(owner: ScreenOwner, factory: ComponentFactory | undefined): void {
		put(this.#headers, owner.path, factory && this.#make(owner, "ui.setHeader", factory));
	}

	setEditor(owner: ScreenOwner, factory: EditorFactory | undefined): void {
		const below = [...this.#editors].findLast(([path]) => path !== owner.path)?.[1];
		const editor = this.#editorAround(below);
		put(
			this.#editors,
			owner.path,
			factory && this.#make(owner, "ui.setEditor", (...drawing) => factory(...drawing, editor)),
		);
	}

	/** An editor without keys, with what is already around it. */
	#editorAround(below: Drawn | undefined): HookEditor {
		const rule = (width: number) => "─".repeat(width);
		return {
			render: (width) => below?.lines() ?? [rule(width), ` ${this.#editorText}`, rule(width)],
			handleInput() {},
			invalidate() {},
			getText: () => this.#editorText,
			getExpandedText: () => this.#editorText,
			setText: (text) => this.setEditorText(text),
			insertTextAtCursor: (text) => this.pasteToEditor(text),
			getLines: () => this.#editorText.split("\n"),
			getCursor: () => ({ line: 0, col: 0 }),
			isShowingAutocomplete: () => false,
			borderColor: (text) => text,
		};
	}

	addAutocompleteProvider(): () => void {
		return () => {};
	}

	pasteToEditor(text: string): void {
		this.#editorText += text;
	}

	getEditorText(): string {
		return this.#editorText;
	}

	setEditorText(text: string): void {
		this.#editorText = text;
	}

	#make(owner: ScreenOwner, member: string, factory: ComponentFactory): Drawn {
		const failed = (error: unknown) => owner.failed(member, error);
		try {
			const component = factory(this.drawing.tui, this.theme, this.drawing.keybindings);
			return {
				lines: () => this.drawing.draw(component, owner.name, failed),
				dispose() {
					try {
						component.dispose?.();
					} catch (error) {
						failed(error);
					}
				},
			};
		} catch (error) {
			failed(error);
			return { lines: () => [], dispose() {} };
		}
	}
}

/** Shows something under a key, or removes what is shown there. */
function put(shown: Map<string, Drawn>, key: string, drawn: Drawn | undefined): void {
	const previous = shown.get(key);
	shown.delete(key);
	if (drawn) shown.set(key, drawn);
	previous?.dispose();
}

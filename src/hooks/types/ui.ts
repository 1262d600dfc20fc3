import type {
	AutocompleteProvider,
	Component,
	EditorTheme,
	MarkdownTheme,
	OverlayHandle,
	OverlayOptions,
	SelectListTheme,
	TUI,
} from "@mariozechner/pi-tui";
import type { Approval, ApprovalAnswer } from "../../util/approval.js";

/** Last argument of every dialog. */
export interface DialogOptions {
	/** Cancels the dialog. */
	signal?: AbortSignal;
	/** ms after which the dialog is canceled. */
	timeout?: number;
}

/** Last argument of `ui.input`. */
export interface InputOptions extends DialogOptions {
	/** Initial text, which the user can edit. */
	initial?: string;
}

/** Last argument of `ui.select`. */
export interface SelectOptions<T = unknown> extends DialogOptions {
	/** Lets the user type to filter the options. Default: true from 8 options on. */
	filter?: boolean;
	/** The option that is selected at first: the option itself, or the `value` of a `SelectOption`. */
	initial?: T;
}

/** Last argument of `ui.select` for a choice of several options. */
export interface SelectManyOptions<T = unknown> extends DialogOptions {
	/** Lets the user choose any number of options. */
	multiple: true;
	/** Lets the user type to filter the options. Default: true from 8 options on. */
	filter?: boolean;
	/** The options that are chosen at first. */
	initial?: T | readonly T[];
}

/** An option of `ui.select` with a label of its own. */
export interface SelectOption<T = unknown> {
	label: string;
	value: T;
	description?: string;
}

export type { OverlayHandle };

/** Where a widget is shown. */
export type WidgetPlacement = "aboveEditor" | "belowEditor";

/** Last argument of `ui.setWidget`. */
export interface WidgetOptions {
	/** Default `aboveEditor`. */
	placement?: WidgetPlacement;
}

/** Last argument of `ui.custom`. */
export interface CustomOptions {
	/** Draws the component over the transcript. Default: instead of the editor. */
	overlay?: boolean;
	/** Where an overlay is, and how large. A function is called for each frame. Default: in the middle, over the full width. */
	placement?: OverlayPlacement | (() => OverlayPlacement);
	/** Receives what hides, shows and focuses the overlay, once it is shown. */
	onHandle?(handle: OverlayHandle): void;
}

/** Size and position of an overlay: numbers are columns and rows, texts such as `50%` shares of the screen. */
export type OverlayPlacement = OverlayOptions;

/** A component of a hook. pi calls `dispose` once, when it removes the component. */
export type HookComponent = Component & { dispose?(): void };

/** The keys of pi, including the user's bindings. */
export interface HookKeybindings {
	/** Whether an input sequence is a key of an action in `keybindings.json`, such as `dialog.accept`. */
	matches(data: string, action: string): boolean;
}

/** What a hook can change about the look of pi's screen, by name. */
export interface ScreenLook {
	/** Name of a theme of `ui.themes`; `/theme` of the user replaces it. Default: that of the settings. */
	theme: string;
	/** Whether a line says what the model and its tools are doing. Default true. */
	working: boolean;
	/** What is drawn at the start of that line. Default: a spinner. */
	indicator: WorkingIndicator;
	/** The text instead of thinking that is not shown in full. Default: its first line. */
	thinkingLabel: string;
	/** Whether tool calls that have ended are shown in full. Default false. */
	expanded: boolean;
}

/** Pictures that are drawn one after another, with their own styles. */
export interface WorkingIndicator {
	/** None: nothing is drawn. */
	frames: readonly string[];
	/** Time between two frames, ms. Default 100; at least 16. */
	intervalMs?: number;
}

/** A theme that the user can choose. */
export interface ThemeInfo {
	readonly name: string;
	/** null for a theme of pi. */
	readonly path: string | null;
	/** Its styles. */
	readonly styles: EntryTheme;
}

/** Creates a component that stays on the screen, for a widget, the header or the footer. */
export type ComponentFactory = (tui: TUI, theme: EntryTheme, keybindings: HookKeybindings) => HookComponent;

/** Creates the component of `ui.custom`. `done` closes it with its result. */
export type CustomFactory<T> = (
	tui: TUI,
	theme: EntryTheme,
	keybindings: HookKeybindings,
	done: (result: T) => void,
) => HookComponent | Promise<HookComponent>;

/** pi's editor, with what the hooks before this one have put around it. */
export interface HookEditor {
	/** Draws it: its rules, its text and its completions. */
	render(width: number): string[];
	/** Passes on a key: to the completions, to pi's keys, or to the text. */
	handleInput(data: string): void;
	invalidate(): void;
	/** The text; long pastes in it are folded. */
	getText(): string;
	/** The text with all pastes. */
	getExpandedText(): string;
	setText(text: string): void;
	insertTextAtCursor(text: string): void;
	getLines(): string[];
	/** From 0. */
	getCursor(): { line: number; col: number };
	isShowingAutocomplete(): boolean;
	/** The style of its rules, which show the thinking level. */
	borderColor(text: string): string;
}

/** Creates the component that draws the editor and receives its keys. */
export type EditorFactory = (
	tui: TUI,
	theme: EntryTheme,
	keybindings: HookKeybindings,
	editor: HookEditor,
) => HookComponent;

/** Creates an autocomplete provider of the editor, which may delegate to `current`. */
export type AutocompleteFactory = (current: AutocompleteProvider) => AutocompleteProvider;

/**
 * The screen. Dialogs queue if several are open, and each settles exactly once; without a user each is canceled at once.
 * Everything else stays until the hook changes it or is unloaded, and is a no-op in modes that cannot show it.
 */
export interface HookUI {
	/** Lets the user choose several options. @returns the chosen options or their values, in order; null if canceled */
	select<T extends string>(
		title: string,
		options: readonly T[],
		dialog: SelectManyOptions<NoInfer<T>>,
	): Promise<T[] | null>;
	select<T>(
		title: string,
		options: readonly SelectOption<T>[],
		dialog: SelectManyOptions<NoInfer<T>>,
	): Promise<T[] | null>;
	/**
	 * Lets the user choose. Ask with `approve` whether something may run.
	 * @returns the option itself, or the `value` of a `SelectOption`; null if canceled
	 */
	select<T extends string>(title: string, options: readonly T[], dialog?: SelectOptions<NoInfer<T>>): Promise<T | null>;
	select<T>(title: string, options: readonly SelectOption<T>[], dialog?: SelectOptions<NoInfer<T>>): Promise<T | null>;
	/** Asks a yes/no question. @returns false if canceled */
	confirm(title: string, message?: string, dialog?: DialogOptions): Promise<boolean>;
	/**
	 * Asks whether something may run, as pi asks about the calls of tools: "No" is selected, letters answer only after a pause of
	 * typing, and what the question is about can be read completely. Closing it refuses.
	 */
	approve(approval: Approval, dialog?: DialogOptions): Promise<ApprovalAnswer>;
	/** Asks for a line of text. @returns null if canceled */
	input(title: string, placeholder?: string, dialog?: InputOptions): Promise<string | null>;
	/** Asks for a text of several lines. @returns the text, which may be empty; null if canceled */
	editor(title: string, initial?: string, dialog?: DialogOptions): Promise<string | null>;
	/** Shows a line without waiting. */
	notify(message: string, type?: "info" | "warning" | "error"): void;
	/** Shows a text in the footer, one for each key of this hook; undefined removes it. */
	setStatus(key: string, text: string | undefined): void;
	/** Shows lines or a component next to the editor, one block for each key of this hook; undefined removes it. */
	setWidget(key: string, content: readonly string[] | ComponentFactory | undefined, options?: WidgetOptions): void;
	/**
	 * Shows a component that receives all keys, until it calls `done`.
	 * @returns the argument of `done`; null if the component was closed, failed, or cannot be shown in this mode
	 */
	custom<T>(factory: CustomFactory<T>, options?: CustomOptions): Promise<T | null>;
	/** Replaces the title of the terminal's window; undefined restores it. */
	setTitle(title: string | undefined): void;
	/** Replaces the text that is shown while the model works; undefined restores it. */
	setWorkingMessage(message: string | undefined): void;
	/**
	 * Changes how pi's screen looks; undefined restores it.
	 * @throws PiError `bad_arguments` for a theme that does not exist
	 */
	setLook<K extends keyof ScreenLook>(name: K, value: ScreenLook[K] | undefined): void;
	/** Replaces pi's footer; undefined restores it. Statuses stay. */
	setFooter(factory: ComponentFactory | undefined): void;
	/** Replaces pi's first line; undefined restores it. Warnings stay. The component is drawn once. */
	setHeader(factory: ComponentFactory | undefined): void;
	/**
	 * Puts a component around the editor, which draws it and receives its keys; undefined removes it. Each one is around those
	 * that hooks have set before. The key that clears the editor and ends pi is not passed to it.
	 */
	setEditor(factory: EditorFactory | undefined): void;
	/** Adds completions to the editor. Of several providers, the one added last is asked first. */
	addAutocompleteProvider(factory: AutocompleteFactory): void;
	/** Inserts text into the editor at the cursor. */
	pasteToEditor(text: string): void;
	/** The text in the editor; empty in modes without one. */
	getEditorText(): string;
	/** Replaces the text in the editor. */
	setEditorText(text: string): void;
	/** The current theme; without styles in modes without a screen. */
	readonly theme: EntryTheme;
	/** The themes that the user can choose, sorted by name; none in modes without a screen. */
	readonly themes: readonly ThemeInfo[];
}

/** Text styles of the current theme, and the themes of pi-tui's components. */
export interface EntryTheme {
	accent(text: string): string;
	dim(text: string): string;
	muted(text: string): string;
	bold(text: string): string;
	italic(text: string): string;
	success(text: string): string;
	warning(text: string): string;
	error(text: string): string;
	added(text: string): string;
	removed(text: string): string;
	addedWord(text: string): string;
	removedWord(text: string): string;
	gutterIn(text: string): string;
	gutterOut(text: string): string;
	gutterSummary(text: string): string;
	userText(text: string): string;
	thinking(text: string): string;
	bashBorder(text: string): string;
	/** For `Markdown`. */
	readonly markdown: MarkdownTheme;
	/** For `SelectList`. */
	readonly selectList: SelectListTheme;
	/** For `Editor`. */
	readonly editor: EditorTheme;
}

/** A component returned by a hook's renderer; each line has at most `width` columns. */
export interface EntryComponent {
	render(width: number): string[];
	invalidate(): void;
}

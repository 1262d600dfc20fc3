import type { Approval, ApprovalAnswer } from "../util/approval.js";
import type {
	AutocompleteFactory,
	ComponentFactory,
	CustomFactory,
	CustomOptions,
	DialogOptions,
	EditorFactory,
	EntryTheme,
	InputOptions,
	ScreenLook,
	SelectManyOptions,
	SelectOption,
	SelectOptions,
	ThemeInfo,
	WidgetPlacement,
} from "./types.js";

/** The user interface that a mode provides for hooks and commands. */
export interface SessionUI {
	/** @param message empty if the hook gives none */
	confirm(title: string, message: string, dialog?: DialogOptions): Promise<boolean>;
	notify(message: string, type: "info" | "warning" | "error"): void;
	select<T extends string>(title: string, options: readonly T[], dialog?: SelectOptions): Promise<T | null>;
	select<T>(title: string, options: readonly SelectOption<T>[], dialog?: SelectOptions): Promise<T | null>;
	/** Absent: canceled. @returns the values of the chosen options, in their order; null if canceled */
	selectMany?(title: string, options: readonly unknown[], dialog?: SelectManyOptions): Promise<unknown[] | null>;
	input(title: string, placeholder?: string, dialog?: InputOptions): Promise<string | null>;
	/** `hook` of a dialog is who asks. Absent: asked with `confirm`, or `select` and `input`. */
	approve?(approval: Approval, dialog?: DialogOptions & { hook?: string }): Promise<ApprovalAnswer>;
	/** Absent: true. False: `input`, `editor` and `selectMany` are always canceled, because this user cannot type an answer. */
	readonly canType?: boolean;
	/** Absent: canceled. */
	editor?(title: string, initial: string, dialog?: DialogOptions): Promise<string | null>;
	/** Absent: nothing of it can be shown. */
	readonly hookScreen?: HookScreen;
}

/** The hook that something on the screen belongs to. */
export interface ScreenOwner {
	readonly name: string;
	/** Identifies the hook, across reloads. */
	readonly path: string;
	/** Position of the hook in load order. */
	readonly rank: number;
	/** Reports a failure. @param where a member of `ctx.ui` */
	failed(where: string, error: unknown): void;
	/** Records how long a component took to draw. */
	drew(ms: number): void;
}

/** How a component of `ui.custom` is shown. */
export interface CustomScreenOptions extends Omit<CustomOptions, "overlay"> {
	overlay: boolean;
	signal: AbortSignal;
}

/** Content of a widget: lines, or a component. */
export type WidgetContent = readonly string[] | ComponentFactory;

/** What hooks can show apart from dialogs. Arguments are checked. undefined removes what the hook has set before. */
export interface HookScreen {
	setStatus(owner: ScreenOwner, key: string, text: string | undefined): void;
	setWidget(owner: ScreenOwner, key: string, content: WidgetContent | undefined, placement: WidgetPlacement): void;
	/** Never rejects: a failure is reported to the owner. @returns null if the signal was aborted or nothing was shown */
	custom<T>(owner: ScreenOwner, factory: CustomFactory<T>, options: CustomScreenOptions): Promise<T | null>;
	setTitle(owner: ScreenOwner, title: string | undefined): void;
	setWorkingMessage(owner: ScreenOwner, message: string | undefined): void;
	/** A theme is one of `themes`. */
	setLook<K extends keyof ScreenLook>(owner: ScreenOwner, name: K, value: ScreenLook[K] | undefined): void;
	setFooter(owner: ScreenOwner, factory: ComponentFactory | undefined): void;
	setHeader(owner: ScreenOwner, factory: ComponentFactory | undefined): void;
	setEditor(owner: ScreenOwner, factory: EditorFactory | undefined): void;
	/** @returns a function that removes the provider */
	addAutocompleteProvider(owner: ScreenOwner, factory: AutocompleteFactory): () => void;
	pasteToEditor(text: string): void;
	getEditorText(): string;
	setEditorText(text: string): void;
	readonly theme: EntryTheme;
	/** Absent: the screen has no themes. */
	readonly themes?: readonly ThemeInfo[];
}

/** Dialogs without a user: every dialog is canceled at once, and nothing is shown. */
export const NO_UI: SessionUI = Object.freeze({
	canType: false,
	select: async () => null,
	confirm: async () => false,
	input: async () => null,
	notify: () => {},
});

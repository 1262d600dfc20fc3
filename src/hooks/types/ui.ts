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

/** An option of `ui.select` with a label of its own. */
export interface SelectOption<T = unknown> {
	label: string;
	value: T;
	description?: string;
}

/** Dialogs. They queue if several are open; each settles exactly once. Without a screen each is canceled at once. */
export interface HookUI {
	/** Lets the user choose. @returns the option itself, or the `value` of a `SelectOption`; null if canceled */
	select<T extends string>(title: string, options: readonly T[], dialog?: DialogOptions): Promise<T | null>;
	select<T>(title: string, options: readonly SelectOption<T>[], dialog?: DialogOptions): Promise<T | null>;
	/** Asks a yes/no question. @returns false if canceled */
	confirm(title: string, message: string, dialog?: DialogOptions): Promise<boolean>;
	/** Asks for a line of text. @returns null if canceled */
	input(title: string, placeholder?: string, dialog?: InputOptions): Promise<string | null>;
	/** Shows a line without waiting. */
	notify(message: string, type?: "info" | "warning" | "error"): void;
}

/** Text styles for entries that a hook renders. */
export interface EntryTheme {
	accent(text: string): string;
	dim(text: string): string;
	bold(text: string): string;
	success(text: string): string;
	warning(text: string): string;
	error(text: string): string;
}

/** A component returned by a hook's renderer; each line has at most `width` columns. */
export interface EntryComponent {
	render(width: number): string[];
	invalidate(): void;
}

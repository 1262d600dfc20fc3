/** Last argument of every dialog. */
export interface DialogOptions {
	/** Closes the dialog as cancelled. */
	signal?: AbortSignal;
	/** ms after which the dialog closes as cancelled. */
	timeout?: number;
}

/** Last argument of `ui.input`. */
export interface InputOptions extends DialogOptions {
	/** What stands in the line at first, for the user to change. */
	initial?: string;
}

/** An option of `ui.select` that says more than its value. */
export interface SelectOption<T = unknown> {
	label: string;
	value: T;
	description?: string;
}

/** Dialogs. Several at once queue; each settles exactly once. Without a screen: null, false, null and nothing. */
export interface HookUI {
	/** Lets the user choose. @returns the option itself, or the `value` of a `SelectOption`; null when cancelled */
	select<T extends string>(title: string, options: readonly T[], dialog?: DialogOptions): Promise<T | null>;
	select<T>(title: string, options: readonly SelectOption<T>[], dialog?: DialogOptions): Promise<T | null>;
	/** Asks a yes/no question. @returns false when cancelled */
	confirm(title: string, message: string, dialog?: DialogOptions): Promise<boolean>;
	/** Asks for a line of text. @returns null when cancelled */
	input(title: string, placeholder?: string, dialog?: InputOptions): Promise<string | null>;
	/** Shows a line and goes on. */
	notify(message: string, type?: "info" | "warning" | "error"): void;
}

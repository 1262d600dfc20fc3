import type { DialogOptions, HookUI, SelectOption } from "../hooks/types.js";

/** Settings of a choice that a built-in command offers. */
export interface ChoiceOptions extends DialogOptions {
	/** Index of the option that is selected at first, where there is a screen. Default 0. */
	selected?: number;
}

/** The dialogs of hooks, with what only built-in commands ask of them. */
export interface CommandUI extends HookUI {
	select<T extends string>(title: string, options: readonly T[], dialog?: ChoiceOptions): Promise<T | null>;
	select<T>(title: string, options: readonly SelectOption<T>[], dialog?: ChoiceOptions): Promise<T | null>;
}

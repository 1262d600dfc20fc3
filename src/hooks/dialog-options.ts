import { MAX_TIMER_MS } from "../util/abort.js";
import type { DialogOptions } from "./types.js";

/** An option of `ui.select` as dialogs show it. */
export interface SelectChoice {
	label: string;
	/** What the dialog returns: the `value` of a labeled option, else the option itself. */
	value: unknown;
	description?: string;
}

/**
 * The options of `ui.select`. Hooks run without type checks, so every value in the list is shown.
 * @returns an empty list if `options` is not an array
 */
export function selectChoices(options: unknown): SelectChoice[] {
	return Array.isArray(options) ? options.map(toChoice) : [];
}

function toChoice(option: unknown): SelectChoice {
	if (typeof option !== "object" || option === null || !("label" in option)) {
		return { label: textOf(option), value: option };
	}
	const description = "description" in option ? option.description : undefined;
	return {
		label: textOf(option.label),
		value: "value" in option ? option.value : option,
		...(description === undefined ? {} : { description: textOf(description) }),
	};
}

/** The signal and timeout that cancel a dialog automatically. Ignores invalid values; a timer can wait for 24.8 days at most. */
export function dialogLimits(dialog: DialogOptions | undefined): { signal?: AbortSignal; timeoutMs?: number } {
	return {
		...(dialog?.signal instanceof AbortSignal ? { signal: dialog.signal } : {}),
		...(typeof dialog?.timeout === "number" && dialog.timeout >= 0
			? { timeoutMs: Math.min(dialog.timeout, MAX_TIMER_MS) }
			: {}),
	};
}

/** The name of the hook that opened a dialog; null for a dialog of pi. */
export function askingHook(dialog: object | undefined): string | null {
	return dialog && "hook" in dialog && typeof dialog.hook === "string" ? dialog.hook : null;
}

/** Whether a hook opened a dialog while a call of a tool waits for it. */
export function opensDuringCall(dialog: object | undefined): boolean {
	return dialog !== undefined && "duringCall" in dialog && dialog.duringCall === true;
}

/** The title of a dialog for the user: `stacking asks: Clear session?` when a hook opened it. */
export function dialogTitle(title: unknown, dialog: DialogOptions | undefined): string {
	const hook = askingHook(dialog);
	return hook === null ? textOf(title) : `${hook} asks: ${textOf(title)}`;
}

/** Any value as text. Never throws. */
export function textOf(value: unknown): string {
	if (typeof value === "string") return value;
	try {
		if (typeof value === "object" && value !== null)
			return JSON.stringify(value) ?? Object.prototype.toString.call(value);
		return String(value);
	} catch {
		return "(cannot be shown)";
	}
}

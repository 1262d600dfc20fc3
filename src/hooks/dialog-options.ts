import type { DialogOptions } from "./types.js";

/** An option of `ui.select` as dialogs show it. */
export interface SelectChoice {
	label: string;
	/** What is given back: the `value` of a labelled option, else the very option. */
	value: unknown;
	description?: string;
}

/**
 * The options of `ui.select`. Hooks are loaded without type checks: whatever stands in the list is shown.
 * @returns an empty list for what is no list
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

/** When a dialog closes as cancelled by itself, as far as the hook has said something that makes sense. */
export function dialogLimits(dialog: DialogOptions | undefined): { signal?: AbortSignal; timeoutMs?: number } {
	return {
		...(dialog?.signal instanceof AbortSignal ? { signal: dialog.signal } : {}),
		...(typeof dialog?.timeout === "number" && dialog.timeout >= 0 ? { timeoutMs: dialog.timeout } : {}),
	};
}

/** Any value as text, never throwing. */
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

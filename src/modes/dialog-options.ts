import type { DialogOptions } from "../hooks/types.js";

/** An option of a choice, read from whatever a hook put into the list. */
export interface DialogOption {
	label: string;
	value: unknown;
	description?: string;
}

/** Hooks are loaded without type checks: whatever stands in the list is shown, and the very value comes back. */
export function toDialogOption(option: unknown): DialogOption {
	if (typeof option !== "object" || option === null || !("label" in option)) {
		return { label: textOf(option), value: option };
	}
	const hasDescription = "description" in option && option.description !== undefined;
	return {
		label: textOf(option.label),
		value: "value" in option ? option.value : option,
		...(hasDescription ? { description: textOf(option.description) } : {}),
	};
}

/** When a dialog closes by itself; what is no signal or time is left out. */
export function dialogLimits(dialog: DialogOptions | undefined): { signal?: AbortSignal; timeoutMs?: number } {
	const hasTime = typeof dialog?.timeout === "number" && dialog.timeout >= 0;
	return {
		...(dialog?.signal instanceof AbortSignal ? { signal: dialog.signal } : {}),
		...(hasTime ? { timeoutMs: dialog.timeout } : {}),
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

import type { ChoiceOptions, CommandUI } from "../../commands/command-ui.js";
import type { DialogOptions, SelectOption } from "../../hooks/types.js";
import { ConfirmDialog } from "../../tui/confirm-dialog.js";
import { InputDialog } from "../../tui/input-dialog.js";
import type { OverlayStack } from "../../tui/overlay-stack.js";
import { type Look, SelectDialog, type SelectItem } from "../../tui/select-dialog.js";

/** How loud a notice is. */
export type NoticeLevel = "info" | "warning" | "error";

/** Shows the dialogs that hooks and commands ask for. */
export class DialogController implements CommandUI {
	constructor(
		private readonly overlays: OverlayStack,
		private readonly look: Look,
		private readonly onNotice: (level: NoticeLevel, message: string) => void,
	) {}

	select<T extends string>(title: string, options: readonly T[], dialog?: ChoiceOptions): Promise<T | null>;
	select<T>(title: string, options: readonly SelectOption<T>[], dialog?: ChoiceOptions): Promise<T | null>;
	async select(title: string, options: readonly unknown[], dialog?: ChoiceOptions): Promise<unknown> {
		if (!Array.isArray(options) || options.length === 0) return null;
		const choice = { title: textOf(title), items: options.map(toItem), selected: dialog?.selected };
		return this.overlays.open<unknown>(
			(settle) => new SelectDialog(this.look, { ...choice, onSelect: settle, onCancel: () => settle(null) }),
			{ ...limits(dialog), cancelled: null },
		);
	}

	confirm(title: string, message: string, dialog?: DialogOptions): Promise<boolean> {
		const question = { title: textOf(title), message: textOf(message) };
		return this.overlays.open<boolean>((settle) => new ConfirmDialog(this.look, question, settle), {
			...limits(dialog),
			cancelled: false,
		});
	}

	input(title: string, placeholder?: string, dialog?: DialogOptions): Promise<string | null> {
		return this.#ask({ title, placeholder, masked: false }, dialog);
	}

	/** Asks for a key or a password: what is typed shows as dots. @returns null when cancelled */
	secret(title: string, placeholder?: string, dialog?: DialogOptions): Promise<string | null> {
		return this.#ask({ title, placeholder, masked: true }, dialog);
	}

	notify(message: string, type: NoticeLevel = "info"): void {
		this.onNotice(type === "warning" || type === "error" ? type : "info", textOf(message));
	}

	/** Cancels all dialogs, such as when the session ends that asked. */
	closeAll(): void {
		this.overlays.closeAll();
	}

	#ask(
		{ title, placeholder, masked }: { title: string; placeholder: string | undefined; masked: boolean },
		dialog: DialogOptions | undefined,
	): Promise<string | null> {
		const question = {
			title: textOf(title),
			placeholder: placeholder === undefined ? undefined : textOf(placeholder),
			masked,
		};
		return this.overlays.open<string | null>((settle) => new InputDialog(this.look, question, settle), {
			...limits(dialog),
			cancelled: null,
		});
	}
}

function limits(dialog: DialogOptions | undefined): { signal?: AbortSignal; timeoutMs?: number } {
	const timeoutMs = typeof dialog?.timeout === "number" && dialog.timeout >= 0 ? dialog.timeout : undefined;
	return { signal: dialog?.signal instanceof AbortSignal ? dialog.signal : undefined, timeoutMs };
}

/** Hooks are loaded without type checks: whatever stands in the list is shown, and the very value comes back. */
function toItem(option: unknown): SelectItem<unknown> {
	if (typeof option !== "object" || option === null || !("label" in option)) {
		return { label: textOf(option), value: option };
	}
	const description =
		"description" in option && option.description !== undefined ? textOf(option.description) : undefined;
	return { label: textOf(option.label), value: "value" in option ? option.value : option, description };
}

/** Any value as text, never throwing. */
function textOf(value: unknown): string {
	if (typeof value === "string") return value;
	try {
		if (typeof value === "object" && value !== null)
			return JSON.stringify(value) ?? Object.prototype.toString.call(value);
		return String(value);
	} catch {
		return "(cannot be shown)";
	}
}

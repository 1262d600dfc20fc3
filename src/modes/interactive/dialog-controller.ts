import type { Component } from "@mariozechner/pi-tui";
import type { ChoiceOptions, CommandUI } from "../../commands/command.js";
import { askingHook, dialogLimits, dialogTitle, selectChoices, textOf } from "../../hooks/dialog-options.js";
import type { DialogOptions, InputOptions, SelectOption } from "../../hooks/types.js";
import { ConfirmDialog } from "../../tui/confirm-dialog.js";
import type { DialogStyle } from "../../tui/dialog-style.js";
import { InputDialog } from "../../tui/input-dialog.js";
import type { OverlayStack } from "../../tui/overlay-stack.js";
import { SelectDialog } from "../../tui/select-dialog.js";
import { type Draft, GuardedDialog, TypingGuard } from "./dialogs/typing-guard.js";
import type { NoticeLevel } from "./views/notice-view.js";

/** Shows the dialogs of hooks and commands. */
export class DialogController implements CommandUI {
	constructor(
		private readonly overlays: OverlayStack,
		private readonly style: DialogStyle,
		private readonly onNotice: (level: NoticeLevel, message: string) => void,
		/** A dialog that opens while this has text ignores keys until the user pauses. */
		private readonly draft: Draft | null = null,
	) {}

	select<T extends string>(title: string, options: readonly T[], dialog?: ChoiceOptions): Promise<T | null>;
	select<T>(title: string, options: readonly SelectOption<T>[], dialog?: ChoiceOptions): Promise<T | null>;
	async select(title: string, options: readonly unknown[], dialog?: ChoiceOptions): Promise<unknown> {
		const items = selectChoices(options);
		if (items.length === 0) return null;
		const choice = { title: dialogTitle(title, dialog), items, selected: dialog?.selected };
		return this.overlays.open<unknown>(
			(settle) => {
				const select = { ...choice, onSelect: settle, onCancel: () => settle(null) };
				return this.#guard(new SelectDialog(this.style, select), dialog);
			},
			{ ...dialogLimits(dialog), canceled: null },
		);
	}

	confirm(title: string, message: string, dialog?: DialogOptions): Promise<boolean> {
		const question = { title: dialogTitle(title, dialog), message: textOf(message) };
		return this.overlays.open<boolean>(
			(settle) => this.#guard(new ConfirmDialog(this.style, question, settle), dialog),
			{ ...dialogLimits(dialog), canceled: false },
		);
	}

	input(title: string, placeholder?: string, dialog?: InputOptions): Promise<string | null> {
		return this.#ask({ title, placeholder, masked: false, initial: dialog?.initial }, dialog);
	}

	/** Asks for a key or a password and shows dots for the typed characters. @returns null when canceled */
	secret(title: string, placeholder?: string, dialog?: DialogOptions): Promise<string | null> {
		return this.#ask({ title, placeholder, masked: true }, dialog);
	}

	notify(message: string, type: NoticeLevel = "info"): void {
		this.onNotice(type === "warning" || type === "error" ? type : "info", textOf(message));
	}

	/** Cancels all dialogs, such as when their session ends. */
	closeAll(): void {
		this.overlays.closeAll();
	}

	#ask(
		{ title, placeholder, masked, initial }: { title: string; placeholder?: string; masked: boolean; initial?: string },
		dialog: DialogOptions | undefined,
	): Promise<string | null> {
		const question = {
			title: dialogTitle(title, dialog),
			placeholder: placeholder === undefined ? undefined : textOf(placeholder),
			masked,
			...(initial === undefined ? {} : { value: textOf(initial) }),
		};
		return this.overlays.open<string | null>(
			(settle) => this.#guard(new InputDialog(this.style, question, settle), dialog),
			{ ...dialogLimits(dialog), canceled: null },
		);
	}

	#guard(component: Component, dialog: DialogOptions | undefined): Component {
		const { draft } = this;
		if (!draft || draft.getText() === "") return component;
		// Text typed into a dialog of pi may be a secret, so it never reaches the draft.
		const onText = (data: string) => askingHook(dialog) !== null && draft.handleInput(data);
		return new GuardedDialog(component, new TypingGuard(true), this.style.keymap, onText);
	}
}

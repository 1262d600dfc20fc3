import type { Component, Focusable } from "@mariozechner/pi-tui";
import type { ChoiceOptions, CommandUI } from "../../commands/command.js";
import {
	askingHook,
	dialogLimits,
	dialogTitle,
	opensDuringCall,
	type SelectChoice,
	selectChoices,
	textOf,
} from "../../hooks/dialog-options.js";
import type { HookScreen } from "../../hooks/session-ui.js";
import type { DialogOptions, InputOptions, SelectManyOptions, SelectOption } from "../../hooks/types.js";
import type { DialogStyle } from "../../tui/dialog-style.js";
import type { OverlayOptions, OverlayStack } from "../../tui/overlay-stack.js";
import { SelectDialog } from "../../tui/select-dialog.js";
import type { Theme } from "../../tui/theme.js";
import type { Approval, ApprovalAnswer, ApprovalDetails } from "../../util/approval.js";
import { TIMING, type Timing } from "../../util/clock.js";
import type { TextDialogHost } from "./dialogs/text-dialog.js";
import { type Draft, guardTyping } from "./dialogs/typing-guard.js";
import type { NoticeLevel } from "./views/notice-view.js";

/** The parts of the screen that only some dialogs use. */
export interface DialogControllerOptions {
	draft?: Draft | null;
	/** Absent: `editor` is canceled at once. */
	text?: TextDialogHost | null;
	hookScreen?: HookScreen;
	/** When the last key arrived, as `monotonicMs`. Absent: long ago. */
	lastKeyAt?(): number;
	timing?: Timing;
	/** The theme of pi's own approvals. Default: that of all dialogs. */
	trustedTheme?(): Theme;
}

/** From this number of options on, hooks let the user filter them unless they say otherwise. */
const MIN_FILTERED = 8;

/** Shows the dialogs of hooks and commands. */
export class DialogController implements CommandUI {
	/** Shows what hooks show apart from dialogs; absent in tests of dialogs. */
	readonly hookScreen?: HookScreen;
	readonly #text: TextDialogHost | null;
	/** A dialog that opens while this has text ignores keys until the user pauses. */
	readonly #draft: Draft | null;
	readonly #lastKeyAt: () => number;
	readonly #timing: Timing;
	readonly #trustedTheme: () => Theme;

	constructor(
		private readonly overlays: OverlayStack,
		private readonly style: DialogStyle,
		private readonly onNotice: (level: NoticeLevel, message: string) => void,
		{
			draft = null,
			text = null,
			hookScreen,
			lastKeyAt = () => Number.NEGATIVE_INFINITY,
			timing = TIMING,
			trustedTheme = () => style.theme,
		}: DialogControllerOptions = {},
	) {
		this.#draft = draft;
		this.#text = text;
		this.#lastKeyAt = lastKeyAt;
		this.#timing = timing;
		this.#trustedTheme = trustedTheme;
		if (hookScreen) this.hookScreen = hookScreen;
	}

	select<T extends string>(title: string, options: readonly T[], dialog?: ChoiceOptions): Promise<T | null>;
	select<T>(title: string, options: readonly SelectOption<T>[], dialog?: ChoiceOptions): Promise<T | null>;
	async select(title: string, options: readonly unknown[], dialog?: ChoiceOptions): Promise<unknown> {
		const items = selectChoices(options);
		if (items.length === 0) return null;
		const selected = dialog?.selected ?? Math.max(0, chosenAt(items, dialog?.initial));
		const { keepsOrder = false } = dialog ?? {};
		const choice = { title: dialogTitle(title, dialog), items, selected, filters: filters(items, dialog), keepsOrder };
		return this.overlays.open<unknown>(
			(settle) => {
				const select = { ...choice, onSelect: settle, onCancel: () => settle(null) };
				return this.#guard(new SelectDialog(this.style, select), dialog);
			},
			{ ...overlayLimits(dialog), canceled: null },
		);
	}

	/** Asks for any number of options. @returns their values, in the order of the options; null if canceled */
	async selectMany(title: string, options: readonly unknown[], dialog: SelectManyOptions): Promise<unknown[] | null> {
		const choices = selectChoices(options);
		const initial = Array.isArray(dialog.initial) ? dialog.initial : [dialog.initial];
		const chosen = new Set(initial.map((value) => chosenAt(choices, value)));
		const items = choices.map(({ label, description }, at) => ({
			label,
			value: at,
			...(description === undefined ? {} : { description }),
			get sign() {
				return chosen.has(at) ? "●" : "○";
			},
		}));
		const toggle = (item: { value: number } | undefined) => {
			if (item && !chosen.delete(item.value)) chosen.add(item.value);
		};
		return this.overlays.open<unknown[] | null>(
			(settle) => {
				const select = new SelectDialog<number>(this.style, {
					title: dialogTitle(title, dialog),
					items,
					filters: filters(choices, dialog),
					verb: "accept",
					actions: [{ key: "dialog.toggle", label: "toggle", run: toggle }],
					onSelect: () => settle(choices.flatMap(({ value }, at) => (chosen.has(at) ? [value] : []))),
					onCancel: () => settle(null),
				});
				return this.#guard(select, dialog);
			},
			{ ...overlayLimits(dialog), canceled: null },
		);
	}

	/** Asks for a text of several lines. @returns null when canceled */
	async editor(title: string, initial: string, dialog?: DialogOptions): Promise<string | null> {
		const host = this.#text;
		if (!host) return null;
		const { TextDialog } = await import("./dialogs/text-dialog.js");
		const question = { title: dialogTitle(title, dialog), value: initial };
		return this.overlays.open<string | null>(
			(settle) => this.#guard(new TextDialog(this.style, question, host, settle), dialog),
			{ ...overlayLimits(dialog), canceled: null },
		);
	}

	async confirm(title: string, message: string, dialog?: DialogOptions): Promise<boolean> {
		const subject = { kind: "text", text: textOf(message) } as const;
		const { allowed } = await this.approve({ question: textOf(title), subject, yes: "Yes" }, dialog);
		return allowed;
	}

	/** Asks whether something may run. The theme of a project or package does not style pi's own questions. */
	approve(approval: Approval, dialog?: DialogOptions, details?: ApprovalDetails): Promise<ApprovalAnswer> {
		const style = askingHook(dialog) === null ? { ...this.style, theme: this.#trustedTheme() } : this.style;
		const asked = { ...approval, question: dialogTitle(approval.question, dialog) };
		const refused: ApprovalAnswer = { allowed: false, isClosed: true };
		return this.overlays.open<ApprovalAnswer>(
			(settle) => {
				const requestRender = () => this.overlays.redraw();
				const guard = { timing: this.#timing, lastKeyAt: this.#lastKeyAt, requestRender };
				const loaded = import("../../tui/approval-dialog.js").then(
					({ ApprovalDialog }) => new ApprovalDialog(style, asked, settle, guard, details),
				);
				loaded.catch(() => settle(refused));
				return this.#guard(new LoadedDialog(loaded, requestRender), dialog);
			},
			{ ...overlayLimits(dialog), canceled: refused },
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
			(settle) => {
				const loaded = import("../../tui/input-dialog.js").then(
					({ InputDialog }) => new InputDialog(this.style, question, settle),
				);
				loaded.catch(() => settle(null));
				return this.#guard(new LoadedDialog(loaded, () => this.overlays.redraw()), dialog);
			},
			{ ...overlayLimits(dialog), canceled: null },
		);
	}

	#guard(component: Component, dialog: DialogOptions | undefined): Component {
		const draft = this.#draft;
		// Text typed into a dialog of pi may be a secret, so it never reaches the draft.
		const keepsText = askingHook(dialog) !== null;
		if (!draft) return component;
		const isUnexpected = component instanceof SelectDialog && opensDuringCall(dialog);
		const { keymap } = this.style;
		return guardTyping(component, { draft, keymap, keepsText, isUnexpected, timing: this.#timing });
	}
}

/** A dialog whose code is loaded with the first one. It has its place in the queue at once; until it is loaded it is empty and ignores keys. */
class LoadedDialog implements Component, Focusable {
	#dialog: (Component & Focusable) | null = null;
	#isFocused = false;

	constructor(loaded: Promise<Component & Focusable>, onLoaded: () => void) {
		void loaded.then(
			(dialog) => {
				dialog.focused = this.#isFocused;
				this.#dialog = dialog;
				onLoaded();
			},
			() => {},
		);
	}

	get focused(): boolean {
		return this.#isFocused;
	}

	set focused(isFocused: boolean) {
		this.#isFocused = isFocused;
		if (this.#dialog) this.#dialog.focused = isFocused;
	}

	render(width: number): string[] {
		return this.#dialog?.render(width) ?? [];
	}

	handleInput(data: string): void {
		this.#dialog?.handleInput?.(data);
	}

	invalidate(): void {
		this.#dialog?.invalidate();
	}
}

/** How a dialog closes without an answer, and the hook that opens it. */
function overlayLimits(dialog: DialogOptions | undefined): Omit<OverlayOptions<unknown>, "canceled"> {
	const owner = askingHook(dialog);
	return { ...dialogLimits(dialog), ...(owner === null ? {} : { owner }) };
}

/** Position of the option with this value; -1 if no option has it. */
function chosenAt(choices: readonly SelectChoice[], value: unknown): number {
	return value === undefined ? -1 : choices.findIndex((choice) => choice.value === value);
}

/** Whether the user can filter the options. The lists of pi always have a filter. */
function filters(choices: readonly SelectChoice[], dialog: { filter?: boolean } | undefined): boolean {
	return dialog?.filter ?? (askingHook(dialog) === null || choices.length >= MIN_FILTERED);
}

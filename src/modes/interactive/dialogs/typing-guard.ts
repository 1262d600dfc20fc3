import { type Component, type Focusable, isKeyRelease } from "@mariozechner/pi-tui";
import { type Keymap, typedText } from "../../../tui/keymap.js";
import { PAUSE_MS, TIMING, type Timing } from "../../../util/clock.js";

/** The editor that a dialog replaces. */
export interface Draft {
	getText(): string;
	handleInput(data: string): void;
}

/** How a dialog is guarded. */
interface TypingGuard {
	draft: Draft;
	keymap: Keymap;
	/** Whether the text typed before the pause belongs to the draft. */
	keepsText: boolean;
	/** Whether it opens while the model works, when nobody expects it. Default: no. */
	isUnexpected?: boolean;
	timing?: Timing;
}

/** Guards a dialog that opens while the user types, or may be about to. */
export function guardTyping(
	dialog: Component,
	{ draft, keymap, keepsText, isUnexpected = false, timing = TIMING }: TypingGuard,
): Component {
	if (draft.getText() === "" && !isUnexpected) return dialog;
	const onText = (data: string) => keepsText && draft.handleInput(data);
	return new GuardedDialog(dialog, keymap, timing, onText);
}

/** Until the user pauses, it ignores all keys but Escape, which is safe. */
class GuardedDialog implements Component, Focusable {
	/** Time of the last key that was meant for the editor; null after a pause. */
	#typedAt: number | null;

	/** @param onText receives the text that is typed before the pause */
	constructor(
		private readonly dialog: Component & Partial<Focusable>,
		private readonly keymap: Keymap,
		private readonly timing: Timing,
		private readonly onText: (data: string) => void,
	) {
		this.#typedAt = timing.now();
	}

	get focused(): boolean {
		return this.dialog.focused ?? false;
	}

	set focused(isFocused: boolean) {
		this.dialog.focused = isFocused;
	}

	get wantsKeyRelease(): boolean {
		return this.dialog.wantsKeyRelease ?? false;
	}

	render(width: number): string[] {
		return this.dialog.render(width);
	}

	handleInput(data: string): void {
		const isCancel = this.keymap.matches(data, "dialog.cancel");
		if (isCancel || !this.#isForEditor()) this.dialog.handleInput?.(data);
		// Only text: Enter would send a draft that the user no longer sees.
		else if (!isKeyRelease(data) && typedText(data) !== "") this.onText(data);
	}

	invalidate(): void {
		this.dialog.invalidate();
	}

	/** @returns true when a key is not meant for the dialog; must be called for each */
	#isForEditor(): boolean {
		if (this.#typedAt === null) return false;
		const now = this.timing.now();
		const isPause = now - this.#typedAt >= PAUSE_MS;
		this.#typedAt = isPause ? null : now;
		return !isPause;
	}
}

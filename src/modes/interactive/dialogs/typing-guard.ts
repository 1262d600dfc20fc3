import { type Component, type Focusable, isKeyRelease } from "@mariozechner/pi-tui";
import { type Keymap, typedText } from "../../../tui/keymap.js";
import { monotonicMs } from "../../../util/clock.js";

/** After a pause this long, the next key is meant for the question. */
export const PAUSE_MS = 700;

/** Keeps keys that are meant for the editor from answering a question that opens while the user types. */
export class TypingGuard {
	/** Time of the last key that was meant for the editor; null after a pause. */
	#typedAt: number | null;

	/**
	 * @param isTyping whether the user was typing when the question opened
	 * @param now a monotonic clock in ms
	 */
	constructor(
		isTyping: boolean,
		private readonly now: () => number = monotonicMs,
	) {
		this.#typedAt = isTyping ? now() : null;
	}

	/** Must be called for each key. @returns true when the key is not meant for the question */
	isForEditor(): boolean {
		if (this.#typedAt === null) return false;
		const now = this.now();
		const isPause = now - this.#typedAt >= PAUSE_MS;
		this.#typedAt = isPause ? null : now;
		return !isPause;
	}
}

/** The editor that a dialog replaces. */
export interface Draft {
	getText(): string;
	handleInput(data: string): void;
}

/** Guards a dialog that opens while the user types. @param keepsText the text typed before the pause belongs to the draft */
export function guardTyping(
	dialog: Component,
	{ draft, keymap, keepsText }: { draft: Draft; keymap: Keymap; keepsText: boolean },
): Component {
	if (draft.getText() === "") return dialog;
	const onText = (data: string) => keepsText && draft.handleInput(data);
	return new GuardedDialog(dialog, new TypingGuard(true), keymap, onText);
}

/** A dialog that opened while the user was typing. Until the user pauses it ignores all keys but Escape, which is safe. */
class GuardedDialog implements Component, Focusable {
	/** @param onText receives the text that is typed before the pause */
	constructor(
		private readonly dialog: Component & Partial<Focusable>,
		private readonly guard: TypingGuard,
		private readonly keymap: Keymap,
		private readonly onText: (data: string) => void,
	) {}

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
		if (isCancel || !this.guard.isForEditor()) this.dialog.handleInput?.(data);
		// Only text: Enter would send a draft that the user no longer sees.
		else if (!isKeyRelease(data) && typedText(data) !== "") this.onText(data);
	}

	invalidate(): void {
		this.dialog.invalidate();
	}
}

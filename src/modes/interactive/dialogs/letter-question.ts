import type { Focusable } from "@mariozechner/pi-tui";
import { AnswerGuard, type GuardOptions } from "../../../tui/answer-guard.js";
import { clickedRow } from "../../../tui/clicks.js";
import type { KeyAction } from "../../../tui/key-table.js";
import type { Keymap } from "../../../tui/keymap.js";

/** A question that letters answer, with nothing selected for Enter. Its keys obey the rules of `AnswerGuard`. */
export abstract class LetterQuestion implements Focusable {
	readonly #guard: AnswerGuard;
	#isFocused = false;

	/** @param answers what each key does, in the order of their rows */
	constructor(
		private readonly keymap: Keymap,
		private readonly answers: Readonly<Partial<Record<KeyAction, () => void>>>,
		guard: GuardOptions,
	) {
		this.#guard = new AnswerGuard(guard, () => true);
	}

	get focused(): boolean {
		return this.#isFocused;
	}

	set focused(isFocused: boolean) {
		if (this.#isFocused && !isFocused) this.#guard.hide();
		this.#isFocused = isFocused;
	}

	/** Call for each frame. @param areShown whether it shows the answers */
	protected drew(areShown: boolean): void {
		this.#guard.drew(areShown ? Object.keys(this.answers) : []);
	}

	/** Must be called for each key. @returns whether it is one of an answer, which counts if the guard lets it through */
	protected answer(data: string): boolean {
		const clicked = clickedRow(data);
		const key = this.keymap.actionOf(data, this.answers);
		const isMeant = (name: string, at: number) => (clicked === null ? name === key : at === clicked);
		const [row, choose] = Object.entries(this.answers).find(([name], at) => isMeant(name, at)) ?? [];
		// Other keys are no answer, but show that the user types.
		if (row && choose) this.#guard.receive({ kind: clicked === null ? "letter" : "enter", text: "", row, choose });
		else this.#guard.receive({ kind: "text", text: "" });
		return choose !== undefined;
	}
}

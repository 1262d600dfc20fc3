import { type FoldedText, plainText, unfold } from "./paste-marks.js";

/** More than these nobody goes back to by hand. */
const MAX_PROMPTS = 500;

/**
 * What was sent before, to be looked through with the arrows. A prompt is there once, where it was sent last; the draft
 * that was there at the beginning comes after the newest.
 */
export class PromptHistory {
	/** Newest first. */
	#prompts: FoldedText[] = [];
	/** Index of what is looked at; -1: the draft. */
	#at = -1;
	#draft = plainText("");

	/** True while a prompt is looked at, not the draft. */
	get isBrowsing(): boolean {
		return this.#at >= 0;
	}

	/** The texts in full, newest first. */
	get texts(): string[] {
		return this.#prompts.map(unfold);
	}

	/** Adds what was sent now. An empty text is not kept. */
	add(prompt: FoldedText): void {
		this.stop();
		const text = unfold(prompt);
		if (text.trim() === "") return;
		this.#prompts = [prompt, ...this.#prompts.filter((other) => unfold(other) !== text)].slice(0, MAX_PROMPTS);
	}

	/** Adds what was sent before all that is there, newest first. */
	addOlder(texts: readonly string[]): void {
		const known = new Set(this.texts);
		for (const text of texts) {
			if (this.#prompts.length >= MAX_PROMPTS) return;
			if (known.has(text) || text.trim() === "") continue;
			known.add(text);
			this.#prompts.push(plainText(text));
		}
	}

	/**
	 * Goes one back.
	 * @param draft what to come back to; only looked at on the first step
	 * @returns what is there, or undefined at the end
	 */
	older(draft: () => FoldedText): FoldedText | undefined {
		const prompt = this.#prompts[this.#at + 1];
		if (!prompt) return undefined;
		if (this.#at === -1) this.#draft = draft();
		this.#at++;
		return prompt;
	}

	/** Goes one forward, at last to the draft. @returns undefined when that is where one is */
	newer(): FoldedText | undefined {
		if (this.#at === -1) return undefined;
		this.#at--;
		return this.#at === -1 ? this.#draft : this.#prompts[this.#at];
	}

	/** What is in the editor now is the draft. */
	stop(): void {
		this.#at = -1;
	}
}

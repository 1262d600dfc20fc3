import { type FoldedText, plainText, unfold } from "./paste-marks.js";

const MAX_PROMPTS = 500;

/**
 * Earlier prompts, browsed with the arrow keys. A repeated prompt is kept once, at its latest position; the draft comes
 * after the newest prompt.
 */
export class PromptHistory {
	/** Newest first. */
	#prompts: FoldedText[] = [];
	/** Index of the current prompt; -1: the draft. */
	#at = -1;
	#draft = plainText("");
	/** The current prompt as the editor shows it. */
	shown = "";

	/** @param load returns the prompts of earlier sessions, newest first; null: not available yet. Called once */
	constructor(private load?: () => Promise<readonly string[] | null>) {}

	/** Whether prompts of earlier sessions have not been loaded yet. */
	get isLoading(): boolean {
		return this.load !== undefined;
	}

	/** @returns whether prompts of earlier sessions have been added */
	async loadEarlier(): Promise<boolean> {
		const { load } = this;
		delete this.load;
		// On failure the history has the prompts of this session only.
		const texts = load ? await load().catch(() => []) : [];
		if (texts === null && load) this.load = load;
		else this.addOlder(texts ?? []);
		return texts !== null && texts.length > 0;
	}

	/** The texts in full, newest first. */
	get texts(): string[] {
		return this.#prompts.map(unfold);
	}

	/** Adds a submitted prompt and stops browsing. Empty prompts are ignored. */
	add(prompt: FoldedText): void {
		this.stop();
		const text = unfold(prompt);
		if (text.trim() === "") return;
		this.#prompts = [prompt, ...this.#prompts.filter((other) => unfold(other) !== text)].slice(0, MAX_PROMPTS);
	}

	/** Adds prompts older than all others, newest first. */
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
	 * Moves to the next older prompt.
	 * @param draft returns the current draft; called only on the first step
	 * @returns undefined when there is no older prompt
	 */
	older(draft: () => FoldedText): FoldedText | undefined {
		const prompt = this.#prompts[this.#at + 1];
		if (!prompt) return undefined;
		if (this.#at === -1) this.#draft = draft();
		this.#at++;
		return prompt;
	}

	/** Moves to the next newer prompt, after the newest to the draft. @returns undefined when already at the draft */
	newer(): FoldedText | undefined {
		if (this.#at === -1) return undefined;
		this.#at--;
		return this.#at === -1 ? this.#draft : this.#prompts[this.#at];
	}

	/** Stops browsing if the current prompt was edited. @param text that of the editor */
	stopIfEdited(text: string): void {
		if (text !== this.shown) this.stop();
	}

	/** Stops browsing: the text in the editor is the draft. */
	stop(): void {
		this.#at = -1;
	}
}

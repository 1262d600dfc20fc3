/** After so long without a key, ms, what a typist presses next is meant for the question. */
const PAUSE_MS = 700;

/** Keeps a question that opens by itself from being answered by keys that were meant for the editor. */
export class TypingGuard {
	/** When the last key came that was meant for the editor; null when none is any more. */
	#typedAt: number | null;

	/**
	 * @param isTyping true when the user was typing as the question came
	 * @param now ms that pass
	 */
	constructor(
		isTyping: boolean,
		private readonly now: () => number = () => performance.now(),
	) {
		this.#typedAt = isTyping ? now() : null;
	}

	/** Asked at each key. @returns true when the key is none of the question's */
	isForEditor(): boolean {
		if (this.#typedAt === null) return false;
		const now = this.now();
		const isPause = now - this.#typedAt >= PAUSE_MS;
		this.#typedAt = isPause ? null : now;
		return !isPause;
	}
}

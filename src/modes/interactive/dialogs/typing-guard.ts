/** After a pause this long, the next key is meant for the question. */
const PAUSE_MS = 700;

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
		private readonly now: () => number = () => performance.now(),
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

/**
 * A time limit that can be held while a person answers a dialog.
 * Calls back once when the running time is used up.
 */
export class Deadline {
	#remainingMs: number;
	#startedAt = 0;
	#timer: NodeJS.Timeout | undefined;
	#holds = 0;

	/** Starts at once. */
	constructor(
		limitMs: number,
		private readonly onExpire: () => void,
	) {
		this.#remainingMs = limitMs;
		this.#start();
	}

	/** Stops the clock until the returned function is called. */
	hold(): () => void {
		if (this.#holds++ === 0) {
			clearTimeout(this.#timer);
			this.#remainingMs -= performance.now() - this.#startedAt;
		}
		let released = false;
		return () => {
			if (released) return;
			released = true;
			if (--this.#holds === 0) this.#start();
		};
	}

	/** Ends the limit; nothing is called back any more. */
	clear(): void {
		clearTimeout(this.#timer);
		this.#holds = Number.POSITIVE_INFINITY;
	}

	#start(): void {
		this.#startedAt = performance.now();
		// It keeps the program alive: a run whose handler waits for nothing must not end as if it were done.
		this.#timer = setTimeout(this.onExpire, Math.max(0, this.#remainingMs));
	}
}

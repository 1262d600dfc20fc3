import { monotonicMs } from "../util/clock.js";

/** A time limit that can be paused while a person answers a dialog. Calls back once, when the time is used up. */
export class Deadline {
	#remainingMs: number;
	#startedAt = 0;
	#timer: NodeJS.Timeout | undefined;
	#holds = 0;

	/** Starts the clock. */
	constructor(
		limitMs: number,
		private readonly onExpire: () => void,
	) {
		this.#remainingMs = limitMs;
		this.#start();
	}

	/** Pauses the clock until the returned function is called. Several holds may overlap. */
	hold(): () => void {
		if (this.#holds++ === 0) {
			clearTimeout(this.#timer);
			this.#remainingMs -= monotonicMs() - this.#startedAt;
		}
		let released = false;
		return () => {
			if (released) return;
			released = true;
			if (--this.#holds === 0) this.#start();
		};
	}

	/** Cancels the limit; `onExpire` is not called after this. */
	clear(): void {
		clearTimeout(this.#timer);
		this.#holds = Number.POSITIVE_INFINITY;
	}

	#start(): void {
		this.#startedAt = monotonicMs();
		// Not unref'd: Node must not exit with code 0 while a handler waits for a promise that never resolves.
		this.#timer = setTimeout(this.onExpire, Math.max(0, this.#remainingMs));
	}
}

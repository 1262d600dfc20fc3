import { monotonicMs } from "../util/clock.js";

/** Measures how long a call of a hook takes, without the time that it waits for an answer of the user. */
export class CallClock {
	#elapsedMs = 0;
	#startedAt = monotonicMs();
	#holds = 0;

	/** Time so far, in ms. */
	get ms(): number {
		return this.#elapsedMs + (this.#holds > 0 ? 0 : monotonicMs() - this.#startedAt);
	}

	/** Stops the clock until the returned function is called. Several holds may overlap. */
	hold(): () => void {
		this.#elapsedMs = this.ms;
		this.#holds++;
		let isReleased = false;
		return () => {
			if (isReleased) return;
			isReleased = true;
			if (--this.#holds === 0) this.#startedAt = monotonicMs();
		};
	}
}

import { abortable } from "./abort.js";

/** Runs actions one after another. */
export class SerialQueue {
	#last: Promise<unknown> = Promise.resolve();

	/** Runs an action in its turn, or at once when `signal` aborts: it then ends on its own. */
	run<T>(action: () => Promise<T>, signal: AbortSignal): Promise<T> {
		const before = this.#last;
		const result = abortable(before, signal)
			.catch(() => {})
			.then(action);
		this.#last = Promise.allSettled([before, result]);
		return result;
	}
}

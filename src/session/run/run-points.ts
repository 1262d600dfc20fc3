import { PiError } from "../../errors.js";
import { onAbort } from "../../util/abort.js";

/**
 * The points of a run at which its context may be replaced: no request is open, and no call of the model. What is asked
 * for in between waits for the next point, and the run goes on when everything that began at a point has ended.
 */
export class RunPoints {
	#isOpen = false;
	/** What runs at the point. */
	readonly #running = new Set<Promise<unknown>>();
	#waiting: (() => Promise<void>) | null = null;

	/** Whether something waits for the next point. */
	get isAwaited(): boolean {
		return this.#waiting !== null;
	}

	/** Runs the handlers of a point, after what waited for it. */
	async at<T>(handlers: () => Promise<T>): Promise<T> {
		this.#isOpen = true;
		try {
			await this.runWaiting();
			return await handlers();
		} finally {
			// A handler need not wait for what it begins, and a command may begin something meanwhile.
			while (this.#running.size > 0) await Promise.allSettled(this.#running);
			this.#isOpen = false;
		}
	}

	/** Runs what waits for a point. Call it also after the last point of a run. */
	async runWaiting(): Promise<void> {
		await this.#waiting?.();
	}

	/** Runs an action now, if the run is at a point, else at the next one. Rejects when `signal` aborts before. */
	run<T>(action: () => Promise<T>, signal: AbortSignal): Promise<T> {
		if (this.#isOpen) return this.#track(action);
		return new Promise((resolve, reject) => {
			const start = async () => {
				release();
				this.#waiting = null;
				await this.#track(action).then(resolve, reject);
			};
			const release = onAbort(signal, () => {
				if (this.#waiting === start) this.#waiting = null;
				reject(new PiError("compaction_failed", "The compaction was canceled"));
			});
			if (!signal.aborted) this.#waiting = start;
		});
	}

	#track<T>(action: () => Promise<T>): Promise<T> {
		const result = action();
		this.#running.add(result);
		const end = () => void this.#running.delete(result);
		result.then(end, end);
		return result;
	}
}

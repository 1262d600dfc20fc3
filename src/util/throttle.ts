import { monotonicMs } from "./clock.js";

/** A function that is called now and then, however often it is wanted. */
export interface Throttled {
	/** Calls it at once, or later together with other notes. */
	note(): void;
	/** Calls it now if a note waits, and never again. */
	finish(): void;
	/** Never calls it again. */
	stop(): void;
}

/** Calls `update` at most once per interval, for the first note at once. */
export function throttle(update: () => void, intervalMs: number): Throttled {
	let timer: NodeJS.Timeout | undefined;
	let isPending = false;
	let isStopped = false;
	const tick = () => {
		timer = undefined;
		if (!isPending) return;
		isPending = false;
		timer = setTimeout(tick, intervalMs);
		update();
	};
	const stop = () => {
		clearTimeout(timer);
		isPending = false;
		isStopped = true;
	};
	return {
		note() {
			if (isStopped) return;
			isPending = true;
			if (timer === undefined) tick();
		},
		finish() {
			const isWanted = isPending;
			stop();
			if (isWanted) update();
		},
		stop,
	};
}

/** Runs something whenever it is wanted, but not before a pause since its last run has passed, which each run decides. */
export class Pace {
	#timer: NodeJS.Timeout | undefined;
	/** When the next run may begin, as `monotonicMs`. */
	#nextAt = 0;

	/** @param run returns the pause after it, in ms */
	constructor(private readonly run: () => number) {}

	/** Whether a run is due. */
	get isWaiting(): boolean {
		return this.#timer !== undefined;
	}

	request(): void {
		this.#timer ??= setTimeout(
			() => {
				this.#timer = undefined;
				const pauseMs = this.run();
				// Measured from its end, so that a slow machine has time for other work too.
				this.#nextAt = monotonicMs() + pauseMs;
			},
			Math.max(0, this.#nextAt - monotonicMs()),
		);
	}

	stop(): void {
		clearTimeout(this.#timer);
		this.#timer = undefined;
	}
}

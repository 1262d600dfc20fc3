/**
 * Time of a clock that is never set, in ms, from a point that only the process knows. The first use of `performance` takes
 * Node a millisecond, in which it loads what measures programs.
 */
export function monotonicMs(): number {
	const [seconds, nanoseconds] = process.hrtime();
	return seconds * 1000 + nanoseconds / 1e6;
}

/** The day of a time in the local time zone, such as `2026-11-23`. @param at ms since 1970 */
export function localDate(at: number): string {
	const date = new Date(at);
	const two = (number: number) => String(number).padStart(2, "0");
	return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
}

/** Time and timers, which a test replaces. */
export interface Timing {
	/** As `monotonicMs`. */
	now(): number;
	/** Calls `action` in `ms`, and after what arrived until then. @returns a function that cancels it */
	after(ms: number, action: () => void): () => void;
}

/** The time of the process. */
export const TIMING: Timing = {
	now: monotonicMs,
	after(ms, action) {
		let later: NodeJS.Immediate | undefined;
		// If the event loop was busy, keys may have arrived that have not been read yet.
		const timer = setTimeout(() => {
			later = setImmediate(action);
		}, ms);
		return () => {
			clearTimeout(timer);
			clearImmediate(later);
		};
	},
};

/** After a pause of typing this long, in ms, the next key is meant for what is on the screen then. */
export const PAUSE_MS = 700;

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

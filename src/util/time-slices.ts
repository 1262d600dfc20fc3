import { setImmediate as nextTick } from "node:timers/promises";
import { monotonicMs } from "./clock.js";

const SLICE_MS = 8;

/** Divides long synchronous work into slices of a few ms, between which other work of the process runs. */
export class TimeSlices {
	#begunAt = monotonicMs();

	/** Whether it is time for `next`. Asking costs less than waiting for a promise each time. */
	get isOver(): boolean {
		return monotonicMs() - this.#begunAt >= SLICE_MS;
	}

	/** Lets other work run, and begins the next slice. */
	async next(): Promise<void> {
		await nextTick();
		this.#begunAt = monotonicMs();
	}
}

/** Indices of the numbers in the memory that pi and the watchdog thread share. */
export const CELLS = {
	/** Number of running calls. */
	running: 0,
	/** Label of the call that started last; 0 for none. */
	latest: 1,
	limitMs: 2,
	/** Number of the last ping that the main thread has answered. */
	answer: 3,
	/** Never changes: a wait on it with a timeout is a sleep. */
	sleep: 4,
	length: 5,
} as const;

/** Start data of the watchdog thread. */
export interface WatchdogData {
	cells: Int32Array<SharedArrayBuffer>;
	/** Written to the terminal before pi exits; null without a screen. */
	restore: string | null;
	/** True if stdin is a terminal. */
	isTerminal: boolean;
}

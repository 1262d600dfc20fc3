/** Where in the memory that program and watchdog share each number is. */
export const CELLS = {
	/** How many calls run. */
	running: 0,
	/** Label of the one that began last; 0 for none. */
	latest: 1,
	/** ms. */
	limitMs: 2,
	/** The last question that the program has answered. */
	answer: 3,
	/** Never changes: to wait on it is to sleep. */
	nothing: 4,
	length: 5,
} as const;

/** What the thread is started with. */
export interface WatchdogData {
	cells: Int32Array<SharedArrayBuffer>;
	/** Written to the terminal before the end; null where there is no screen. */
	restore: string | null;
	/** True where keys come from a terminal. */
	isTerminal: boolean;
}

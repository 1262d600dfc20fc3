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
	/** 1 after the event loop of the main thread woke up, until the watchdog thread has seen it. */
	awake: 5,
	length: 6,
} as const;

/** A message to the watchdog thread: the text of a label, or a file that may be running when no call is. */
export type WatchdogMessage = { label: number; text: string } | WatchedFile;

/** A file of a hook or tool. */
export interface WatchedFile {
	kind: "hook" | "tool";
	/** Path to show to the user. */
	path: string;
	/** Path in stack traces. */
	realPath: string;
}

/** Start data of the watchdog thread. */
export interface WatchdogData {
	cells: Int32Array<SharedArrayBuffer>;
	/** Written to the terminal before pi exits; null without a screen. */
	restore: string | null;
	/** True if stdin is a terminal. */
	isTerminal: boolean;
}

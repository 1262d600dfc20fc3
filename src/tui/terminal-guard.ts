import type { EventEmitter } from "node:events";
import { type EndSignal, exitBySignal } from "../util/signals.js";
import type { LiveTUI } from "./live-tui.js";

const END_SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT"] as const;
/** Signals that a terminal sends to all foreground processes on Ctrl+C and Ctrl+\. */
const KEY_SIGNALS = ["SIGINT", "SIGQUIT"] as const;
/**
 * Restores the terminal in a single write when nothing else can run: ends an open frame, returns to the main screen, turns
 * off paste mode, reports of the mouse, focus, colors and keys, and styles, shows the cursor and clears the rows below it.
 */
export const LAST_BYTES =
	"\x1b[?2026l\x1b[?1047l\x1b[?2004l\x1b[?1006l\x1b[?1000l\x1b[?1004l\x1b[?2031l\x1b[?25h\x1b[>4;0m\x1b[<u\x1b[0m\x1b[0 q\x1b[J\r\n";
/** Delay after which a suspended program starts its screen again. */
const RESUME_MS = 100;

/**
 * Restores the terminal on exit, on a fatal error, on signals, and while SIGTSTP suspends the program. A closed terminal
 * counts as SIGHUP.
 * @param onSignal called for a signal after the terminal is restored; default: exit with 128 + its number
 * @returns a function that removes the guard
 */
export function guardTerminal(screen: LiveTUI, onSignal: (signal: EndSignal) => void = exitBySignal): () => void {
	const restore = () => screen.stop();
	const onError = () => {
		// With a handler the program continues, and so does the screen.
		if (process.listenerCount("uncaughtException") === 0) restore();
	};
	const onEndSignal = (signal: EndSignal) => {
		restore();
		onSignal(signal);
	};
	let isGone = false;
	// A closed terminal sends SIGHUP only to its own session; for other programs the input ends.
	const onGone = () => {
		if (isGone) return;
		isGone = true;
		onEndSignal("SIGHUP");
	};
	const listeners: readonly [emitter: EventEmitter, event: string, listener: () => void][] = [
		[process, "exit", restore],
		[process, "uncaughtExceptionMonitor", onError],
		// Writing to a closed terminal fails, which is safe to ignore.
		[process.stdout, "error", () => {}],
		[process.stdin, "end", onGone],
		[process.stdin, "error", onGone],
		[process, "SIGTSTP", () => void suspend(screen, process.pid)],
	];
	for (const [emitter, event, listener] of listeners) emitter.on(event, listener);
	for (const signal of END_SIGNALS) process.on(signal, onEndSignal);
	return () => {
		for (const [emitter, event, listener] of listeners) emitter.off(event, listener);
		for (const signal of END_SIGNALS) process.off(signal, onEndSignal);
	};
}

/** Stops the screen after reading late key reports, so that the shell does not receive them. */
export async function closeScreen(screen: LiveTUI, options?: Parameters<LiveTUI["stop"]>[0]): Promise<void> {
	if (!screen.isRunning) return;
	await screen.terminal.drainInput(500, 30);
	screen.stop(options);
}

/** Releases the terminal during `run`, then continues below its output. A stopped screen stays stopped. */
async function outsideScreen<T>(
	screen: LiveTUI,
	run: () => Promise<T>,
	options?: Parameters<LiveTUI["stop"]>[0],
): Promise<T> {
	const wasRunning = screen.isRunning;
	await closeScreen(screen, options);
	try {
		return await run();
	} finally {
		if (wasRunning) screen.start();
	}
}

/**
 * Runs an interactive program on the alternate screen; the main screen stays as it is. Ignores the signals of Ctrl+C and
 * Ctrl+\, which are meant for the program.
 */
export async function lendTerminal<T>(screen: LiveTUI, run: () => Promise<T>): Promise<T> {
	const runAlone = async () => {
		const kept = KEY_SIGNALS.map((signal) => ({ signal, listeners: process.listeners(signal) }));
		const ignore = () => {};
		for (const { signal } of kept) process.removeAllListeners(signal).on(signal, ignore);
		try {
			return await run();
		} finally {
			for (const { signal, listeners } of kept) {
				process.off(signal, ignore);
				for (const listener of listeners) process.on(signal, listener);
			}
		}
	};
	return outsideScreen(screen, runAlone, { lends: true });
}

/**
 * Suspends the program, as Ctrl+Z does in other programs. The promise resolves after it resumes, with the screen running.
 * Does nothing on Windows.
 * @param target process to suspend; 0 is the process group, as with Ctrl+Z, so that a parent such as npm is suspended too
 */
export async function suspend(screen: LiveTUI, target = 0): Promise<void> {
	if (process.platform === "win32") return;
	await outsideScreen(screen, async () => {
		// The signal suspends a process only if nobody listens for it.
		const listeners = process.listeners("SIGTSTP");
		process.removeAllListeners("SIGTSTP");
		try {
			await new Promise<void>((resolve) => {
				// A timer instead of SIGCONT: without job control the process is neither suspended nor continued. Time spent
				// suspended counts, so the timer fires soon after the process resumes.
				setTimeout(resolve, RESUME_MS);
				process.kill(target, "SIGTSTP");
			});
		} finally {
			for (const listener of listeners) process.on("SIGTSTP", listener);
		}
	});
}

import { constants } from "node:os";
import type { LiveTUI } from "./live-tui.js";

/** Signals that end the program. */
export type EndSignal = "SIGINT" | "SIGTERM" | "SIGHUP" | "SIGQUIT";

const END_SIGNALS: readonly EndSignal[] = ["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT"];
/** Frame open no more, paste mode off, cursor shown, key reports off: for whatever was left on. */
const LAST_BYTES = "\x1b[?2026l\x1b[?2004l\x1b[?25h\x1b[>4;0m";
/** When a suspended program looks at its screen again, of the time it runs. */
const GO_ON_MS = 100;

/**
 * Gives the terminal back on every way out: exit, an error that ends the program, and signals.
 * @param onSignal what a signal does once the terminal is back; default: exit with 128 + its number
 * @returns takes the guard off
 */
export function guardTerminal(screen: LiveTUI, onSignal: (signal: EndSignal) => void = exitBySignal): () => void {
	let released = false;
	const restore = () => {
		const wasRunning = screen.isRunning;
		screen.stop();
		return wasRunning;
	};
	const onExit = () => {
		restore();
		// A timer of pi-tui's may have turned key reports on again after `stop`: the last word is ours.
		if (!released) writeLast();
	};
	const onError = () => {
		// With a handler the program goes on, and so does the screen.
		if (process.listenerCount("uncaughtException") === 0) restore();
	};
	const handlers = END_SIGNALS.map(
		(signal) =>
			[
				signal,
				() => {
					restore();
					onSignal(signal);
				},
			] as const,
	);
	// The terminal may be gone already; what is written then is lost, and that is all.
	const ignore = () => {};
	process.on("exit", onExit);
	process.on("uncaughtExceptionMonitor", onError);
	process.stdout.on("error", ignore);
	for (const [signal, handler] of handlers) process.on(signal, handler);
	return () => {
		released = true;
		process.off("exit", onExit);
		process.off("uncaughtExceptionMonitor", onError);
		process.stdout.off("error", ignore);
		for (const [signal, handler] of handlers) process.off(signal, handler);
		writeLast();
	};
}

/** Ends the screen in good order: late key reports are swallowed, not left to the shell. */
export async function closeScreen(screen: LiveTUI): Promise<void> {
	if (!screen.isRunning) return;
	await screen.terminal.drainInput(500, 30);
	screen.stop();
}

/** Lets `run` have the terminal, then draws the screen anew. */
export async function outsideScreen<T>(screen: LiveTUI, run: () => Promise<T>): Promise<T> {
	await closeScreen(screen);
	try {
		return await run();
	} finally {
		screen.start();
		screen.requestRender(true);
	}
}

/**
 * Stops the program as Ctrl+Z does in other programs. The promise resolves when it goes on, with the screen back.
 * Does nothing where there is no job control.
 */
export async function suspend(screen: LiveTUI): Promise<void> {
	if (process.platform === "win32") return;
	await outsideScreen(
		screen,
		() =>
			new Promise<void>((resolve) => {
				// A shell without job control lets the signal pass: then nothing stops, and no SIGCONT ever comes.
				// Time that is spent stopped counts, so the timer does for both.
				setTimeout(resolve, GO_ON_MS);
				// The whole group, as the terminal itself would: a parent such as npm must stop too.
				process.kill(0, "SIGTSTP");
			}),
	);
}

function exitBySignal(signal: EndSignal): void {
	process.exit(128 + constants.signals[signal]);
}

function writeLast(): void {
	try {
		process.stdout.write(LAST_BYTES);
	} catch {
		// No terminal, nothing to restore.
	}
}

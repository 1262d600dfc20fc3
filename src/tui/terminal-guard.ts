import { type EndSignal, exitBySignal } from "../util/signals.js";
import type { LiveTUI } from "./live-tui.js";

const END_SIGNALS: readonly EndSignal[] = ["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT"];
/** What a terminal sends to every program in front when the user interrupts one. */
const KEY_SIGNALS = ["SIGINT", "SIGQUIT"] as const;
const INPUT_ENDS = ["end", "error"] as const;
/** Frame open no more, paste mode and reports of focus and colours off, cursor shown, key reports off: for whatever was left on. */
const MODES_OFF = "\x1b[?2026l\x1b[?2004l\x1b[?1004l\x1b[?2031l\x1b[?25h\x1b[>4;0m";
/** Gives the terminal back in one write, where nothing else can be done: the screen's last lines are wiped out too. */
export const LAST_BYTES = `${MODES_OFF}\x1b[<u\x1b[0m\x1b[J\r\n`;
/** When a suspended program looks at its screen again, of the time it runs. */
const GO_ON_MS = 100;

/**
 * Gives the terminal back on every way out: exit, an error that ends the program, and signals; also while the program is
 * stopped by SIGTSTP. A terminal that is gone counts as SIGHUP.
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
	const onStop = () => void suspend(screen, process.pid);
	let isGone = false;
	// A closed terminal tells only the programs of its own session; to others their input ends.
	const onGone = () => {
		if (isGone) return;
		isGone = true;
		restore();
		onSignal("SIGHUP");
	};
	// The terminal may be gone already; what is written then is lost, and that is all.
	const ignore = () => {};
	process.on("exit", onExit);
	process.on("uncaughtExceptionMonitor", onError);
	process.stdout.on("error", ignore);
	for (const end of INPUT_ENDS) process.stdin.on(end, onGone);
	for (const [signal, handler] of handlers) process.on(signal, handler);
	process.on("SIGTSTP", onStop);
	return () => {
		released = true;
		process.off("exit", onExit);
		process.off("uncaughtExceptionMonitor", onError);
		process.stdout.off("error", ignore);
		for (const end of INPUT_ENDS) process.stdin.off(end, onGone);
		for (const [signal, handler] of handlers) process.off(signal, handler);
		process.off("SIGTSTP", onStop);
		writeLast();
	};
}

/** Ends the screen in good order: late key reports are swallowed, not left to the shell. */
export async function closeScreen(screen: LiveTUI): Promise<void> {
	if (!screen.isRunning) return;
	await screen.terminal.drainInput(500, 30);
	screen.stop();
}

/** Lets `run` have the terminal, then goes on below what is there. A screen that is not on stays off. */
export async function outsideScreen<T>(screen: LiveTUI, run: () => Promise<T>): Promise<T> {
	const wasRunning = screen.isRunning;
	await closeScreen(screen);
	try {
		return await run();
	} finally {
		if (wasRunning) screen.start();
	}
}

/**
 * As `outsideScreen`, for a program of the user's: Ctrl+C and Ctrl+\ on its screen reach this program too, and are not
 * meant for it.
 */
export async function lendTerminal<T>(screen: LiveTUI, run: () => Promise<T>): Promise<T> {
	return outsideScreen(screen, async () => {
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
	});
}

/**
 * Stops the program as Ctrl+Z does in other programs. The promise resolves when it goes on, with the screen back.
 * Does nothing where there is no job control.
 * @param target process that is stopped; 0 is the whole group, as the terminal itself would: a parent such as npm must
 *   stop too
 */
export async function suspend(screen: LiveTUI, target = 0): Promise<void> {
	if (process.platform === "win32") return;
	await outsideScreen(screen, async () => {
		// What stops a program is that nobody listens.
		const listeners = process.listeners("SIGTSTP");
		process.removeAllListeners("SIGTSTP");
		try {
			await new Promise<void>((resolve) => {
				// A shell without job control lets the signal pass: then nothing stops, and no SIGCONT ever comes.
				// Time that is spent stopped counts, so the timer does for both.
				setTimeout(resolve, GO_ON_MS);
				process.kill(target, "SIGTSTP");
			});
		} finally {
			for (const listener of listeners) process.on("SIGTSTP", listener);
		}
	});
}

function writeLast(): void {
	try {
		process.stdout.write(MODES_OFF);
	} catch {
		// No terminal, nothing to restore.
	}
}

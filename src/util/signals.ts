import { constants } from "node:os";
import { isatty } from "node:tty";

/** Exit codes of programs that a signal ends: 128 and its number. */
const SIGNALS = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const;
/** ms after which a program that does not end by itself is ended. */
const HARD_STOP_MS = 5000;
/** A signal that comes this soon after the first, ms, belongs to the same end: a terminal that closes sends several. */
const TOGETHER_MS = 500;

/** A program's watch for signals. */
export interface SignalWatch {
	/** Code to exit with; undefined while no signal has come. */
	readonly exitCode: number | undefined;
	/** Does what a signal does that has this exit code. */
	end(code: number): void;
	release(): void;
}

/** Stops the work at the first signal, and the process at the second or when stopping takes too long. */
export function untilSignal(stop: () => Promise<void>): SignalWatch {
	let exitCode: number | undefined;
	let stoppedAt = 0;
	const end = (code: number) => {
		if (exitCode !== undefined) {
			if (performance.now() - stoppedAt > TOGETHER_MS) process.exit(code);
			return;
		}
		exitCode = code;
		stoppedAt = performance.now();
		setTimeout(() => process.exit(code), HARD_STOP_MS).unref();
		void stop();
	};
	const listeners = Object.entries(SIGNALS).map(([signal, code]) => {
		const listener = () => end(code);
		process.on(signal, listener);
		return () => process.off(signal, listener);
	});
	return {
		get exitCode() {
			return exitCode;
		},
		end,
		release() {
			for (const remove of listeners) remove();
		},
	};
}

/**
 * Detects that nothing is left that could finish the run, for example when a hook's command never answers. Node would
 * exit with code 0.
 * @returns ends the watch
 */
export function watchForStall(onStall: () => void): () => void {
	process.once("beforeExit", onStall);
	return () => process.off("beforeExit", onStall);
}

/** Signals that end the program. */
export type EndSignal = "SIGINT" | "SIGTERM" | "SIGHUP" | "SIGQUIT";

/** Ends the program with 128 + the signal's number; with the signal itself when the terminal is gone. */
export function exitBySignal(signal: EndSignal): void {
	if (!isatty(0)) {
		// Node would find that the terminal does not take its settings back, and abort with a core dump.
		process.removeAllListeners(signal);
		process.kill(process.pid, signal);
	}
	process.exit(128 + constants.signals[signal]);
}

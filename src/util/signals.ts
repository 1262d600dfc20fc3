import { constants } from "node:os";
import { isatty } from "node:tty";
import { monotonicMs } from "./clock.js";

/** Exit codes of programs ended by a signal: 128 + its number. */
const SIGNALS = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const;
/** ms after which pi exits even if stopping has not finished. */
const HARD_STOP_MS = 5000;
/** Signals within this time after the first, ms, count as one: a closing terminal sends several. */
const TOGETHER_MS = 500;

export interface SignalWatch {
	/** Exit code; undefined until a signal arrives. */
	readonly exitCode: number | undefined;
	/** Acts like a signal with this exit code. */
	end(code: number): void;
	release(): void;
}

/** Calls `stop` at the first signal; exits at the second one, or if stopping takes too long. */
export function stopOnSignal(stop: () => Promise<void>): SignalWatch {
	let exitCode: number | undefined;
	let stoppedAt = 0;
	const end = (code: number) => {
		if (exitCode !== undefined) {
			if (monotonicMs() - stoppedAt > TOGETHER_MS) process.exit(code);
			return;
		}
		exitCode = code;
		stoppedAt = monotonicMs();
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
 * Detects that nothing is left that could finish the run, for example if a hook's command never returns. Node would then
 * exit with code 0.
 * @returns a function that stops the detection
 */
export function watchForStall(onStall: () => void): () => void {
	process.once("beforeExit", onStall);
	return () => process.off("beforeExit", onStall);
}

/** Signals that end the program. */
export type EndSignal = "SIGINT" | "SIGTERM" | "SIGHUP" | "SIGQUIT";

/** Exits with code 128 + the signal's number; if the terminal is gone, ends the process with the signal itself. */
export function exitBySignal(signal: EndSignal): void {
	if (!isatty(0)) {
		// Node would fail to restore the terminal settings and abort with a core dump.
		process.removeAllListeners(signal);
		process.kill(process.pid, signal);
	}
	process.exit(128 + constants.signals[signal]);
}

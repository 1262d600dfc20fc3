import { constants } from "node:os";
import { isatty } from "node:tty";

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

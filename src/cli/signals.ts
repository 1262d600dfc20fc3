/** Exit codes of programs that a signal ends: 128 and its number. */
const SIGNALS = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const;
/** ms after which a program that does not end by itself is ended. */
const HARD_STOP_MS = 5000;

/** A program's watch for signals. */
export interface SignalWatch {
	/** Code to exit with; undefined while no signal has come. */
	readonly exitCode: number | undefined;
	release(): void;
}

/** Stops the work at the first signal, and the process at the second or when stopping takes too long. */
export function untilSignal(stop: () => Promise<void>): SignalWatch {
	let exitCode: number | undefined;
	const listeners = Object.entries(SIGNALS).map(([signal, code]) => {
		const listener = () => {
			if (exitCode !== undefined) process.exit(code);
			exitCode = code;
			setTimeout(() => process.exit(code), HARD_STOP_MS).unref();
			void stop();
		};
		process.on(signal, listener);
		return () => process.off(signal, listener);
	});
	return {
		get exitCode() {
			return exitCode;
		},
		release() {
			for (const remove of listeners) remove();
		},
	};
}

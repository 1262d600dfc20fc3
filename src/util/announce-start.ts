/** Event of the process, after which bin/optimize-late.cjs runs: what every start needs has run. */
const STARTED = "pi:started";

/** Announces that the program has started: its session has loaded or, in print and JSON mode, the first reply begins. */
export function announceStart(): void {
	const events: NodeJS.EventEmitter = process;
	events.emit(STARTED);
}

import type { AgentSessionEvent } from "./events.js";

/** A handler that runs for so long is told of, ms. */
const LONG_MS = 250;

/** Tells of handlers that keep the session waiting. Of those that are quick nobody hears. */
export class LongCalls {
	/** @param emit hears that a handler runs long, and later that it is done */
	constructor(
		private readonly emit: (event: Extract<AgentSessionEvent, { type: "hook_running" | "hook_done" }>) => void,
	) {}

	/** A handler begins. @returns what to call when it is done */
	begin(hookPath: string, event: string): () => void {
		let isTold = false;
		const timer = setTimeout(() => {
			isTold = true;
			this.emit({ type: "hook_running", hookPath, event, ms: LONG_MS });
		}, LONG_MS);
		timer.unref();
		return () => {
			clearTimeout(timer);
			if (isTold) this.emit({ type: "hook_done", hookPath, event });
		};
	}
}

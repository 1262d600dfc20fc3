import type { CallClock } from "./call-clock.js";
import type { Deadline } from "./deadline.js";
import type { LoadedHook } from "./hook-registry.js";

/** The call that a context object belongs to. */
export interface HookCall {
	hook: LoadedHook;
	/** Name of the event, or `/name` of a command. */
	event: string;
	signal: AbortSignal;
	/** null when the call has no time limit. */
	deadline: Deadline | null;
	/** Measures the call; absent for calls that /hooks does not count. */
	clock?: CallClock;
	/** False in `context` handlers and completions, which only compute something. */
	effects: boolean;
	/** True if a call of a tool waits for the handler: `rebuildContext` is left to the next request, and no tool can be called. */
	defersRebuild: boolean;
	/** True if the run waits for the call while a request or a call of a tool is open, so that nothing can be compacted. Default: false. */
	holdsRun?: boolean;
	/** The call of a tool that it runs; absent for other code. */
	tool?: { id: string; name: string };
}

/** Stops the time limit and the clock of a call until the returned function is called. */
export function holdClocks({ deadline, clock }: Pick<HookCall, "deadline" | "clock">): () => void {
	const release = deadline?.hold();
	const resume = clock?.hold();
	return () => {
		release?.();
		resume?.();
	};
}

import type { CallClock } from "./call-clock.js";
import type { Deadline } from "./deadline.js";
import type { LoadedHook } from "./registry.js";

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
	/** True if `rebuildContext` is left to the next request. */
	defersRebuild: boolean;
}

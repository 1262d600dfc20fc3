import type { HookAnswers, HookEventName, HookEvents, SessionEventResult, SessionReason } from "./types.js";

/**
 * Time limit of a handler. `timeout`: the user's `hookTimeout`; `none`: no limit, because a person may be answering;
 * `togetherMs`: limit for all handlers of the event together, or `hookTimeout` if that is less.
 */
export type HandlerDeadline = "timeout" | "none" | { readonly togetherMs: number };

/**
 * What the mode and session must offer for a handler to be called: active tools, other sessions to open, a screen, or a
 * user (or client) who can run shell commands.
 */
export type HookNeed = "tools" | "sessions" | "screen" | "user";

/** The policy of an event: how answers combine, how long a handler may take, what an error does. */
export interface EventPolicy<N extends HookEventName = HookEventName> {
	/**
	 * `none`: no answer is read. `first`: the first answer that stops something ends the chain. `chain`: each handler
	 * receives the result of the one before it. `gate`: both.
	 */
	combine: N extends keyof HookAnswers ? "first" | "chain" | "gate" : "none";
	deadline: HandlerDeadline;
	/** `pass`: the error is reported and the run continues. `block`: it is reported and blocks the tool call, as does a malformed answer. */
	onError: "pass" | "block";
	/** False if a handler must not save entries or rebuild the context. */
	effects: boolean;
	/**
	 * True if a call of a tool waits for the handler: `rebuildContext` is left to the next request and resolves at once, and
	 * `tools.call` is refused.
	 */
	defersRebuild: boolean;
	/** True if the run waits for the handler while a request or a call of a tool is open: `compact` is refused during a run. */
	holdsRun: boolean;
	/** Requirement without which the event never occurs; null: none. */
	needs: HookNeed | null;
}

const WATCH = {
	combine: "none",
	deadline: "timeout",
	onError: "pass",
	effects: true,
	defersRebuild: false,
	holdsRun: false,
	needs: null,
} as const;

/** The policy of each event. Runner, types, hook health and docs derive from it. */
export const EVENTS = {
	session: { ...WATCH, combine: "first" },
	prompt: { ...WATCH, combine: "gate" },
	agent_start: WATCH,
	agent_end: WATCH,
	agent_settled: WATCH,
	// The handler may ask a model for a summary.
	cache_expiring: { ...WATCH, deadline: "none" },
	turn_start: WATCH,
	turn_end: WATCH,
	before_request: { ...WATCH, combine: "first" },
	payload: { ...WATCH, combine: "chain", holdsRun: true },
	response: WATCH,
	// Calls of tools, and the end of the turn, wait for the updates before them.
	message_update: { ...WATCH, holdsRun: true },
	tool_call: {
		...WATCH,
		combine: "gate",
		deadline: "none",
		onError: "block",
		defersRebuild: true,
		holdsRun: true,
		needs: "tools",
	},
	tool_update: { ...WATCH, holdsRun: true, needs: "tools" },
	tool_result: { ...WATCH, combine: "chain", defersRebuild: true, holdsRun: true, needs: "tools" },
	context: { ...WATCH, combine: "chain", effects: false },
	// The handler may run the command itself, somewhere else.
	user_bash: { ...WATCH, combine: "gate", deadline: "none", needs: "user" },
	model_changed: WATCH,
	thinking_level_changed: WATCH,
	session_named: WATCH,
} as const satisfies { [N in HookEventName]: EventPolicy<N> };

/** The policy of one reason of the `session` event. */
export interface ReasonPolicy {
	/** Fields of an answer that are read. */
	reads: readonly (keyof SessionEventResult)[];
	deadline: HandlerDeadline;
	/** True if an abort stops waiting for the handler at once; the session change does not happen then. */
	abortable: boolean;
	needs: HookNeed | null;
}

const NOTIFIES = { reads: [], deadline: EVENTS.session.deadline, abortable: true, needs: null } as const;
const CANCELABLE = { ...NOTIFIES, reads: ["cancel"] } as const;

/** The rows of `session`, one for each reason. */
export const SESSION_REASONS = {
	start: NOTIFIES,
	before_switch: { ...CANCELABLE, needs: "sessions" },
	switch: { ...NOTIFIES, needs: "sessions" },
	before_clear: CANCELABLE,
	clear: NOTIFIES,
	before_branch: { ...CANCELABLE, reads: ["cancel", "skipConversationRestore"] },
	branch: NOTIFIES,
	before_compact: { ...CANCELABLE, reads: ["cancel", "compactionEntry", "nativeCompaction"], deadline: "none" },
	compact: NOTIFIES,
	// pi is exiting: an abort has nothing left to stop.
	shutdown: { ...NOTIFIES, deadline: { togetherMs: 2000 }, abortable: false },
} as const satisfies Record<SessionReason, ReasonPolicy>;

/** Events with this way to combine answers. */
export type EventsThatCombine<C extends EventPolicy["combine"]> = {
	[N in HookEventName]: (typeof EVENTS)[N]["combine"] extends C ? N : never;
}[HookEventName];

/** Names that `pi.on` accepts. */
export const EVENT_NAMES = Object.keys(EVENTS) as HookEventName[];

/** Time limits for the handlers of one event. */
export interface HandlerTimes {
	/** @returns limit of the next handler in ms; null for no limit. Call it once for each handler, right before it runs */
	next(): number | null;
}

/**
 * Time limits for the handlers of an event. Handlers with a shared limit divide one half of it equally, as a guaranteed
 * minimum for each, and use the other half in order of need: a slow handler cannot starve a later one.
 * @param count number of handlers
 * @param now ms of a monotonic clock
 */
export function handlerTimes(
	event: HookEvents[HookEventName],
	{ count, hookTimeoutMs, now }: { count: number; hookTimeoutMs: number; now(): number },
): HandlerTimes {
	const { deadline } = event.type === "session" ? SESSION_REASONS[event.reason] : EVENTS[event.type];
	if (deadline === "none") return { next: () => null };
	if (deadline === "timeout") return { next: () => hookTimeoutMs };
	const totalMs = Math.min(deadline.togetherMs, hookTimeoutMs);
	const shareMs = totalMs / (2 * count);
	const endsAt = now() + totalMs;
	let remaining = count;
	return {
		next() {
			remaining--;
			return Math.max(shareMs, endsAt - now() - remaining * shareMs);
		},
	};
}

export function isHookEventName(name: unknown): name is HookEventName {
	return typeof name === "string" && Object.hasOwn(EVENTS, name);
}

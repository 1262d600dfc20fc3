import type { HookAnswers, HookEventName, HookEvents, SessionEventResult, SessionReason } from "./types.js";

/**
 * How long a handler may take. `timeout`: the user's `hookTimeout`; `none`: no limit, a person may be answering;
 * `togetherMs`: all handlers of the event together may take so long, or `hookTimeout` where that is less.
 */
export type HandlerDeadline = "timeout" | "none" | { readonly togetherMs: number };

/** What must be there for something of a hook to happen at all. */
export type HookNeed =
	/** Tools that the model may call. */
	| "tools"
	/** Other sessions that can be opened. */
	| "sessions"
	/** A screen. */
	| "screen";

/** What an event promises: how answers combine, how long a handler may take, what its error does. */
export interface EventPolicy<N extends HookEventName = HookEventName> {
	/**
	 * `none`: answers are not read. `first`: the first answer that stops something ends the chain. `chain`: each handler
	 * sees what the one before it left.
	 */
	combine: N extends keyof HookAnswers ? "first" | "chain" : "none";
	deadline: HandlerDeadline;
	/** `pass`: reported, the run goes on. `block`: reported, and what was asked about does not happen. */
	onError: "pass" | "block";
	/** False where a handler must not save entries or rebuild the context. */
	effects: boolean;
	/** True where the context is computed before the next request anyway: a rebuild that a handler asks for waits. */
	defersRebuild: boolean;
	/** Without it the event never comes; null: nothing special. */
	needs: HookNeed | null;
}

const WATCH = {
	combine: "none",
	deadline: "timeout",
	onError: "pass",
	effects: true,
	defersRebuild: false,
	needs: null,
} as const;

/** The failure policy, one row for each event. Runner, types, health and docs derive from it. */
export const EVENTS = {
	session: { ...WATCH, combine: "first" },
	agent_start: WATCH,
	agent_end: WATCH,
	turn_start: WATCH,
	turn_end: WATCH,
	before_request: { ...WATCH, combine: "first", defersRebuild: true },
	tool_call: {
		...WATCH,
		combine: "first",
		deadline: "none",
		onError: "block",
		defersRebuild: true,
		needs: "tools",
	},
	tool_result: { ...WATCH, combine: "chain", defersRebuild: true, needs: "tools" },
	context: { ...WATCH, combine: "chain", effects: false },
} as const satisfies { [N in HookEventName]: EventPolicy<N> };

/** What a reason of the `session` event promises where it differs from the others. */
export interface ReasonPolicy {
	/** Members of an answer that are read. */
	reads: readonly (keyof SessionEventResult)[];
	deadline: HandlerDeadline;
	/** True where an abort ends the wait for the handler at once; what it was asked about does not happen then. */
	abortable: boolean;
	needs: HookNeed | null;
}

const TELLS = { reads: [], deadline: EVENTS.session.deadline, abortable: true, needs: null } as const;
const ASKS = { ...TELLS, reads: ["cancel"] } as const;

/** The rows of `session`, one for each reason. */
export const SESSION_REASONS = {
	start: TELLS,
	before_switch: { ...ASKS, needs: "sessions" },
	switch: { ...TELLS, needs: "sessions" },
	before_clear: ASKS,
	clear: TELLS,
	before_branch: { ...ASKS, reads: ["cancel", "skipConversationRestore"] },
	branch: TELLS,
	before_compact: { ...ASKS, reads: ["cancel", "compactionEntry"], deadline: "none" },
	compact: TELLS,
	// Everything is being stopped when this comes.
	shutdown: { ...TELLS, deadline: { togetherMs: 2000 }, abortable: false },
} as const satisfies Record<SessionReason, ReasonPolicy>;

/** Events whose answers combine in one way. */
export type EventsThatCombine<C extends EventPolicy["combine"]> = {
	[N in HookEventName]: (typeof EVENTS)[N]["combine"] extends C ? N : never;
}[HookEventName];

/** Names that `pi.on` accepts. */
export const EVENT_NAMES = Object.keys(EVENTS) as HookEventName[];

/** The handlers of an event that is under way, and the time that they have. */
export interface HandlerTimes {
	/** ms that the next handler may take; null for no limit. To be called once for each of them, right before its call. */
	next(): number | null;
}

/**
 * How long each handler of an event may take. Where they share a time, half of it is there for whoever needs it, and of
 * the other half each has its part for certain: however long the others take, it is asked and can answer.
 * @param count how many handlers there are
 * @param now ms, of any clock that only goes forward
 */
export function handlerTimes(
	event: HookEvents[HookEventName],
	{ count, hookTimeoutMs, now }: { count: number; hookTimeoutMs: number; now(): number },
): HandlerTimes {
	const { deadline } = event.type === "session" ? SESSION_REASONS[event.reason] : EVENTS[event.type];
	if (deadline === "none") return { next: () => null };
	if (deadline === "timeout") return { next: () => hookTimeoutMs };
	const totalMs = Math.min(deadline.togetherMs, hookTimeoutMs);
	const partMs = totalMs / (2 * count);
	const endsAt = now() + totalMs;
	let later = count;
	return {
		next() {
			later--;
			return Math.max(partMs, endsAt - now() - later * partMs);
		},
	};
}

export function isHookEventName(name: unknown): name is HookEventName {
	return typeof name === "string" && Object.hasOwn(EVENTS, name);
}

import type { HookEventName, HookEvents, SessionEvent } from "./types.js";

/** What an event promises: how answers combine, how long a handler may take, what its error does. */
export interface EventPolicy {
	/**
	 * `none`: answers are not read. `first`: the first answer that stops something ends the chain. `chain`: each handler
	 * sees what the one before it left.
	 */
	combine: "none" | "first" | "chain";
	/** `timeout`: the user's `hookTimeout`; `none`: no limit, a person may be answering; a number: ms. */
	deadline: "timeout" | "none" | number;
	/** `pass`: reported, the run goes on. `block`: reported, and the tool call does not run. */
	onError: "pass" | "block";
	/** False where a handler must not save entries or rebuild the context. */
	effects: boolean;
}

/** The failure policy, one row for each event. Types, runner and docs derive from it. */
export const EVENTS = {
	session: { combine: "first", deadline: "timeout", onError: "pass", effects: true },
	agent_start: { combine: "none", deadline: "timeout", onError: "pass", effects: true },
	agent_end: { combine: "none", deadline: "timeout", onError: "pass", effects: true },
	turn_start: { combine: "none", deadline: "timeout", onError: "pass", effects: true },
	turn_end: { combine: "none", deadline: "timeout", onError: "pass", effects: true },
	before_request: { combine: "first", deadline: "timeout", onError: "pass", effects: true },
	tool_call: { combine: "first", deadline: "none", onError: "block", effects: true },
	tool_result: { combine: "chain", deadline: "timeout", onError: "pass", effects: true },
	context: { combine: "chain", deadline: "timeout", onError: "pass", effects: false },
} as const satisfies Record<HookEventName, EventPolicy>;

/** Names that `pi.on` accepts. */
export const EVENT_NAMES = Object.keys(EVENTS) as HookEventName[];

/** Reasons of the `session` event whose deadline is not the usual one. */
const SESSION_DEADLINES: Partial<Record<SessionEvent["reason"], EventPolicy["deadline"]>> = {
	before_compact: "none",
	shutdown: 2000,
};

/** ms that a handler of this event may take; null for no limit. */
export function deadlineOf(event: HookEvents[HookEventName], hookTimeoutMs: number): number | null {
	const special = event.type === "session" ? SESSION_DEADLINES[event.reason] : undefined;
	const deadline = special ?? EVENTS[event.type].deadline;
	if (deadline === "none") return null;
	return deadline === "timeout" ? hookTimeoutMs : deadline;
}

export function isHookEventName(name: unknown): name is HookEventName {
	return typeof name === "string" && Object.hasOwn(EVENTS, name);
}

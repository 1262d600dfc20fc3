import type { AgentSessionEvent } from "../session/events.js";
import { isOfCommand } from "./mode.js";

/** The event of a hook's failure. */
export type HookErrorEvent = Extract<AgentSessionEvent, { type: "hook_error" }>;

/**
 * Decides which errors of hooks a mode shows: not those of commands, and each one once until hooks are loaded again or the
 * session changes. A handler mostly fails each time, such as before each request or tool call.
 */
export class ShownHookErrors {
	readonly #lines = new Set<string>();
	#isSwitching = false;

	/** Call it with each event. */
	handle(event: AgentSessionEvent): void {
		if (event.type !== "activity_changed") return;
		const isSwitching = event.activity.state === "switching";
		if (isSwitching && !this.#isSwitching) this.forget();
		this.#isSwitching = isSwitching;
	}

	/** Accepts all errors again: those that were shown are no longer on the screen. */
	forget(): void {
		this.#lines.clear();
	}

	/** Whether to show an error. @param line describes it */
	accepts(event: HookErrorEvent, line: string): boolean {
		if (isOfCommand(event) || this.#lines.has(line)) return false;
		this.#lines.add(line);
		return true;
	}
}

/** The line about an error where commands can be typed: no tool runs until a hook that fails at each call is off. */
export function withNextStep({ event }: HookErrorEvent, line: string): string {
	return event === "tool_call" ? `${line} · /hooks turns it off` : line;
}

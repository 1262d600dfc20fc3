import type { AgentSessionEvent } from "../session/events.js";
import { isOfCommand } from "./mode.js";

/** The event of a hook's failure. */
export type HookErrorEvent = Extract<AgentSessionEvent, { type: "hook_error" }>;

/**
 * Decides which errors of hooks a mode shows: not those of commands, and those of `context` handlers once until hooks are
 * loaded again or the session changes. Such a handler runs before each request, and mostly fails each time.
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
		if (event.event === "context") this.#lines.add(line);
		return true;
	}
}

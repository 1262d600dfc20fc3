import type { Api, Model } from "@mariozechner/pi-ai";
import type { EventsThatCombine } from "../../hooks/events.js";
import type { HookEvents } from "../../hooks/types.js";
import { isSessionInfoEntry, type ThinkingLevel } from "../../log/entry.js";
import { freezeDeep } from "../../log/freeze.js";
import type { AgentSessionEvent } from "../events.js";
import type { SessionCore } from "../session-core.js";

/**
 * Notifies hooks of changes that nothing waits for: another model or thinking level, a name, a response. Their handlers
 * run one after another, in the order of the changes.
 */
export class HookNotices {
	#model: Model<Api> | null;
	#level: ThinkingLevel;
	#last: Promise<void> = Promise.resolve();

	constructor(private readonly deps: Pick<SessionCore, "state" | "activity" | "hooks" | "ended">) {
		this.#model = deps.state.model;
		this.#level = deps.state.thinkingLevel;
	}

	/** Call with every event of the session. */
	observe(event: AgentSessionEvent): void {
		switch (event.type) {
			case "model_changed":
			case "thinking_level_changed":
			case "session_changed":
				this.#compare(event.type === "session_changed" && event.reason === "start");
				break;
			case "entry_appended":
				if (isSessionInfoEntry(event.entry)) this.notify({ type: "session_named", name: event.entry.name });
		}
	}

	/** Runs the handlers of an event after those of earlier ones. */
	notify(event: HookEvents[EventsThatCombine<"none">]): void {
		const { hooks, activity, ended } = this.deps;
		if (!hooks().registry.has(event.type)) return;
		const run = () => hooks().emit(Object.freeze(event), AbortSignal.any([ended, activity.nextAbort]));
		this.#last = this.#last.then(run);
	}

	/** Resolves when all handlers so far have returned. */
	settled(): Promise<void> {
		return this.#last;
	}

	/**
	 * The model also changes silently, with the session.
	 * @param isStart the model is not another one, but the first
	 */
	#compare(isStart: boolean): void {
		const { model, thinkingLevel: level } = this.deps.state;
		const [previousModel, previousLevel] = [this.#model, this.#level];
		this.#model = model;
		this.#level = level;
		if (isStart) return;
		if (model?.id !== previousModel?.id || model?.provider !== previousModel?.provider) {
			this.notify({ type: "model_changed", model: freezeDeep(model), previousModel: freezeDeep(previousModel) });
		}
		if (level !== previousLevel) this.notify({ type: "thinking_level_changed", level, previousLevel });
	}
}

import type { Api, Model } from "@mariozechner/pi-ai";
import type { AppMessage, ThinkingLevel } from "../log/entry.js";
import { thinkingLevels } from "../models/thinking-levels.js";
import type { QueueMode } from "../session/prompt/prompt-queue.js";
import type { SessionComponents } from "../session/session-components.js";

/** State that only programs that drive a session read and change; the modes of pi do not need it. */
export interface SessionControls {
	/** The messages of the next request. */
	readonly messages: readonly AppMessage[];
	/** Whether queued prompts are delivered one per turn or all at once; for this session only, not saved. */
	readonly queueMode: QueueMode;
	/** Whether failed requests are retried; for this session only, not saved. */
	readonly autoRetry: boolean;
	/** Models with a known key, including those of local servers. */
	availableModels(): Promise<Model<Api>[]>;
	/** A model of a provider with a key; one that pi's list lacks has the facts of its nearest relative. */
	findModel(provider: string, id: string): Promise<Model<Api> | null>;
	/** Asks the providers for new models if the settings ask for it and the list is older than a week. Never throws. */
	updateModelsWeekly(signal: AbortSignal): Promise<void>;
	/** The thinking levels that the model supports, least first. */
	thinkingLevels(): ThinkingLevel[];
}

/** The controls of a session. @internal */
export function createControls({ store, models, state, context }: SessionComponents): SessionControls {
	const { settings } = store;
	return {
		get messages() {
			return context.messages;
		},
		get queueMode() {
			return settings.current.queueMode;
		},
		get autoRetry() {
			return settings.current.retry.enabled;
		},
		availableModels: () => models.list.available(),
		findModel: (provider, id) => models.list.findWithKey(provider, id),
		updateModelsWeekly: async (signal) => models.offers.updates?.updateWeekly(signal),
		thinkingLevels: () => thinkingLevels(state.model),
	};
}

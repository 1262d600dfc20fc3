import type { AssistantMessage } from "@mariozechner/pi-ai";
import type { AppMessage } from "../log/entry.js";
import { type LastModel, saveLastModel } from "../models/last-models.js";
import type { KnownModel } from "../models/model-facts.js";
import { modelName } from "../models/model-match.js";
import type { Models, Store } from "../services/service-types.js";
import type { AgentSessionEvent } from "./events.js";
import type { SessionState } from "./session-state.js";

/** Remembers the model and thinking level that a session uses for the next session in its directory. */
export class ModelMemory {
	/** Full names of the models that have answered in this session. */
	readonly #answered = new Set<string>();
	#saved = "";
	#writes: Promise<void> = Promise.resolve();

	constructor(
		private readonly services: { store: Pick<Store, "settings" | "lastModels" | "cwd">; models: Pick<Models, "list"> },
		private readonly state: Pick<SessionState, "model" | "thinkingLevel">,
	) {}

	/** Remembers what the user chose, and what a run uses. A model that no list has must answer first. */
	observe(event: AgentSessionEvent): void {
		switch (event.type) {
			case "message_end":
				if (!isAnswer(event.message)) return;
				this.#answered.add(modelName({ provider: event.message.provider, id: event.message.model }));
				this.#save();
				break;
			case "model_changed":
			case "thinking_level_changed":
			case "agent_start":
				this.#save();
				break;
		}
	}

	/** Resolves when everything is written. */
	flush(): Promise<void> {
		return this.#writes;
	}

	#save(): void {
		const { settings, lastModels, cwd } = this.services.store;
		const models = this.services.models.list;
		const { model, thinkingLevel } = this.state;
		// The next session would not find a model that only this one knows, such as that of the demo.
		if (!settings.current.rememberModel || !model || !models.find(model.provider, model.id)) return;
		const { assumed }: KnownModel = model;
		if (assumed && !this.#answered.has(modelName(model))) return;
		const used: LastModel = { provider: model.provider, modelId: model.id, thinkingLevel };
		const text = JSON.stringify(used);
		if (text === this.#saved) return;
		this.#saved = text;
		// A failure costs only the convenience; the log reports a full disk or a read-only home.
		this.#writes = this.#writes.then(() => saveLastModel(lastModels, cwd, used)).catch(() => {});
	}
}

function isAnswer(message: AppMessage): message is AssistantMessage {
	return message.role === "assistant" && message.stopReason !== "error" && message.stopReason !== "aborted";
}

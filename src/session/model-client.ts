import type { Api, Model } from "@mariozechner/pi-ai";
import type { ModelClient } from "./session-parts.js";

/** Loads pi-ai, which takes a while, as the client that sessions use. */
export async function loadModelClient(): Promise<ModelClient> {
	const ai = await import("@mariozechner/pi-ai");
	return {
		stream: (model, context, options) => ai.streamSimple(model, context, options),
		validate: (tool, call) => ai.validateToolArguments(tool, call),
		isOverflow: (message, contextWindow) => ai.isContextOverflow(message, contextWindow || undefined),
		clampThinkingLevel: (model: Model<Api>, level) => ai.clampThinkingLevel(model, level),
		async prepare(model) {
			if (model.api !== "bedrock-converse-stream") return;
			// pi-ai looks for its Bedrock client at a path that a bundle does not have.
			const { bedrockProviderModule } = await import("@mariozechner/pi-ai/bedrock-provider");
			ai.setBedrockProviderModule(bedrockProviderModule);
		},
		release: (sessionId) => ai.cleanupSessionResources(sessionId),
	};
}

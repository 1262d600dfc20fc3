import type { Api, Model } from "@mariozechner/pi-ai";
import type { ModelClient } from "./session-setup.js";

/** Clients that pi-ai would otherwise load, slowly, during the first request. */
const PROVIDER_CLIENTS: Partial<Record<string, () => Promise<unknown>>> = {
	"anthropic-messages": () => import("@mariozechner/pi-ai/anthropic"),
	"google-generative-ai": () => import("@mariozechner/pi-ai/google"),
	"openai-completions": () => import("@mariozechner/pi-ai/openai-completions"),
	"openai-responses": () => import("@mariozechner/pi-ai/openai-responses"),
};

/** Loads pi-ai, which is slow to import, as the client of sessions. */
export async function loadModelClient(): Promise<ModelClient> {
	const ai = await import("@mariozechner/pi-ai");
	return {
		stream: (model, context, options) => ai.streamSimple(model, context, options),
		validate: (tool, call) => ai.validateToolArguments(tool, call),
		isOverflow: (message, contextWindow) => ai.isContextOverflow(message, contextWindow || undefined),
		clampThinkingLevel: (model: Model<Api>, level) => ai.clampThinkingLevel(model, level),
		async prepare(model) {
			if (model.api === "bedrock-converse-stream") {
				// pi-ai imports its Bedrock client from a path that does not exist in a bundle.
				const { bedrockProviderModule } = await import("@mariozechner/pi-ai/bedrock-provider");
				ai.setBedrockProviderModule(bedrockProviderModule);
			} else await PROVIDER_CLIENTS[model.api]?.();
		},
		release: (sessionId) => ai.cleanupSessionResources(sessionId),
	};
}

import type { Api, Model } from "@mariozechner/pi-ai";
import type { ModelClient } from "./session-setup.js";

/** The clients that pi-ai would load with the first request: loaded earlier, they do not hold it up. */
const PROVIDER_CLIENTS: Partial<Record<string, () => Promise<unknown>>> = {
	"anthropic-messages": () => import("@mariozechner/pi-ai/anthropic"),
	"google-generative-ai": () => import("@mariozechner/pi-ai/google"),
	"openai-completions": () => import("@mariozechner/pi-ai/openai-completions"),
	"openai-responses": () => import("@mariozechner/pi-ai/openai-responses"),
};

/** Loads pi-ai, which takes a while, as the client that sessions use. */
export async function loadModelClient(): Promise<ModelClient> {
	const ai = await import("@mariozechner/pi-ai");
	return {
		stream: (model, context, options) => ai.streamSimple(model, context, options),
		validate: (tool, call) => ai.validateToolArguments(tool, call),
		isOverflow: (message, contextWindow) => ai.isContextOverflow(message, contextWindow || undefined),
		clampThinkingLevel: (model: Model<Api>, level) => ai.clampThinkingLevel(model, level),
		async prepare(model) {
			if (model.api === "bedrock-converse-stream") {
				// pi-ai looks for its Bedrock client at a path that a bundle does not have.
				const { bedrockProviderModule } = await import("@mariozechner/pi-ai/bedrock-provider");
				ai.setBedrockProviderModule(bedrockProviderModule);
			} else await PROVIDER_CLIENTS[model.api]?.();
		},
		release: (sessionId) => ai.cleanupSessionResources(sessionId),
	};
}

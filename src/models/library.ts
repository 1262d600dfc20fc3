/**
 * What hooks import as `@mariozechner/pi-ai`: its index and the functions of its entry `compat`. These are pi's own, so that
 * hooks share the list of models with pi, and importing one function does not load the lists of all providers.
 */
import type { Api, ApiProvider, Model } from "@mariozechner/pi-ai";
import { createFauxCore } from "../../node_modules/@mariozechner/pi-ai/dist/providers/faux.js";
import { normalizeContext } from "../../node_modules/@mariozechner/pi-ai/dist/utils/transcript.js";
import { registerApiProvider as register, unregisterApiProviders } from "../util/pi-ai.js";
import { builtInModels } from "./built-in-models.js";

export { Type } from "typebox";
export * from "../../node_modules/@mariozechner/pi-ai/dist/api/anthropic-messages.lazy.js";
export * from "../../node_modules/@mariozechner/pi-ai/dist/api/azure-openai-responses.lazy.js";
export * from "../../node_modules/@mariozechner/pi-ai/dist/api/bedrock-converse-stream.lazy.js";
export * from "../../node_modules/@mariozechner/pi-ai/dist/api/google-generative-ai.lazy.js";
export * from "../../node_modules/@mariozechner/pi-ai/dist/api/google-vertex.lazy.js";
export * from "../../node_modules/@mariozechner/pi-ai/dist/api/mistral-conversations.lazy.js";
export * from "../../node_modules/@mariozechner/pi-ai/dist/api/openai-codex-responses.lazy.js";
export * from "../../node_modules/@mariozechner/pi-ai/dist/api/openai-completions.lazy.js";
export * from "../../node_modules/@mariozechner/pi-ai/dist/api/openai-responses.lazy.js";
export * from "../../node_modules/@mariozechner/pi-ai/dist/api/pi-messages.lazy.js";
export * from "../../node_modules/@mariozechner/pi-ai/dist/env-api-keys.js";
export * from "../../node_modules/@mariozechner/pi-ai/dist/image-models.js";
export * from "../../node_modules/@mariozechner/pi-ai/dist/images.js";
export * from "../../node_modules/@mariozechner/pi-ai/dist/images-api-registry.js";
export * from "../../node_modules/@mariozechner/pi-ai/dist/index.js";
export * from "../../node_modules/@mariozechner/pi-ai/dist/legacy-api-aliases.js";
export * from "../../node_modules/@mariozechner/pi-ai/dist/providers/images/register-builtins.js";
export {
	getApiProvider,
	getApiProviders,
	resetApiProviders,
	unregisterApiProviders,
} from "../util/pi-ai.js";
export { complete, completeSimple, stream, streamSimple } from "./hook-requests.js";

/** The names of the providers that ship with pi. */
export function getProviders(): string[] {
	return builtInModels().lists.providers;
}

/** The models of a provider that ship with pi; none for an unknown provider. */
export function getModels(provider: string): Model<Api>[] {
	return [...builtInModels().lists.of(provider)];
}

/** A model that ships with pi; undefined for an unknown one. Handlers of hooks find all models with `ctx.findModel`. */
export function getModel(provider: string, id: string): Model<Api> | undefined {
	return builtInModels().lists.find(provider, id);
}

/** Registers the functions that send the requests of a wire format. They get the system prompt and tools as a message. */
export function registerApiProvider<T extends Api>(
	{ api, stream, streamSimple }: Pick<ApiProvider<T>, "api" | "stream" | "streamSimple">,
	sourceId?: string,
): void {
	register<T>(
		{
			api,
			stream: (model, context, options) => stream(model, normalizeContext(context), options),
			streamSimple: (model, context, options) => streamSimple(model, normalizeContext(context), options),
		},
		sourceId,
	);
}

/** The wire formats of pi-ai are registered when they are first used. */
export function registerBuiltInApiProviders(): void {}

/** Registers a model whose replies a test sets. @see the documentation of pi-ai */
export function registerFauxProvider(options: Parameters<typeof createFauxCore>[0] = {}) {
	const core = createFauxCore(options);
	const sourceId = `faux-provider-${crypto.randomUUID()}`;
	registerApiProvider({ api: core.api, stream: core.stream, streamSimple: core.streamSimple }, sourceId);
	return { ...core, unregister: () => unregisterApiProviders(sourceId) };
}

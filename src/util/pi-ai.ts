/**
 * The part of pi-ai that every session needs. The package itself also loads the library that checks arguments, which takes
 * as long as the rest; hooks get the complete package.
 */
export {
	getApiProvider,
	registerApiProvider,
	unregisterApiProviders,
} from "../../node_modules/@mariozechner/pi-ai/dist/api-registry.js";
export { clampThinkingLevel, getModels, getProviders } from "../../node_modules/@mariozechner/pi-ai/dist/models.js";
export { setBedrockProviderModule } from "../../node_modules/@mariozechner/pi-ai/dist/providers/register-builtins.js";
export { cleanupSessionResources } from "../../node_modules/@mariozechner/pi-ai/dist/session-resources.js";
export { streamSimple } from "../../node_modules/@mariozechner/pi-ai/dist/stream.js";
export { createAssistantMessageEventStream } from "../../node_modules/@mariozechner/pi-ai/dist/utils/event-stream.js";
export { isContextOverflow } from "../../node_modules/@mariozechner/pi-ai/dist/utils/overflow.js";

/**
 * The requests of pi-ai: `stream` finds the client of a model by its wire format. pi-ai's own entry for this loads the lists of
 * all providers, and is going to be removed there.
 */
import type {
	Api,
	AssistantMessageEventStream,
	Context,
	KnownApi,
	Model,
	ProviderStreams,
	SimpleStreamOptions,
} from "@mariozechner/pi-ai";
import { lazyApi } from "../../node_modules/@mariozechner/pi-ai/dist/api/lazy.js";
import { createModels } from "../../node_modules/@mariozechner/pi-ai/dist/models.js";
import { normalizeContext } from "../../node_modules/@mariozechner/pi-ai/dist/utils/transcript.js";

export {
	calculateCost,
	clampThinkingLevel,
	getSupportedThinkingLevels,
} from "../../node_modules/@mariozechner/pi-ai/dist/models.js";
export { cleanupSessionResources } from "../../node_modules/@mariozechner/pi-ai/dist/session-resources.js";
export { createAssistantMessageEventStream } from "../../node_modules/@mariozechner/pi-ai/dist/utils/event-stream.js";
export { isContextOverflow } from "../../node_modules/@mariozechner/pi-ai/dist/utils/overflow.js";

/** The clients of wire formats. Bundlers cannot follow the path from which pi-ai imports the one of Bedrock. */
const CLIENTS: Readonly<Record<KnownApi, () => Promise<ProviderStreams>>> = {
	"anthropic-messages": () => import("@mariozechner/pi-ai/api/anthropic-messages"),
	"azure-openai-responses": () => import("@mariozechner/pi-ai/api/azure-openai-responses"),
	"bedrock-converse-stream": () => import("@mariozechner/pi-ai/api/bedrock-converse-stream"),
	"google-generative-ai": () => import("@mariozechner/pi-ai/api/google-generative-ai"),
	"google-vertex": () => import("@mariozechner/pi-ai/api/google-vertex"),
	"mistral-conversations": () => import("@mariozechner/pi-ai/api/mistral-conversations"),
	"openai-codex-responses": () => import("@mariozechner/pi-ai/api/openai-codex-responses"),
	"openai-completions": () => import("@mariozechner/pi-ai/api/openai-completions"),
	"openai-responses": () => import("@mariozechner/pi-ai/api/openai-responses"),
	"pi-messages": () => import("@mariozechner/pi-ai/api/pi-messages"),
};

/** Providers whose requests pi-ai adapts: it adds headers, or fills in the account in the address. */
const ADAPTED: Readonly<Record<string, () => Promise<Parameters<ReturnType<typeof createModels>["setProvider"]>[0]>>> =
	{
		"cloudflare-ai-gateway": async () =>
			(await import("@mariozechner/pi-ai/providers/cloudflare-ai-gateway")).cloudflareAIGatewayProvider(),
		"cloudflare-workers-ai": async () =>
			(await import("@mariozechner/pi-ai/providers/cloudflare-workers-ai")).cloudflareWorkersAIProvider(),
		opencode: async () => (await import("@mariozechner/pi-ai/providers/opencode")).opencodeProvider(),
		"opencode-go": async () => (await import("@mariozechner/pi-ai/providers/opencode-go")).opencodeGoProvider(),
	};

/** A function that sends a request. The reply's failures are events, never thrown once the stream exists. */
type Stream = (model: Model<Api>, context: Context, options?: SimpleStreamOptions) => AssistantMessageEventStream;

/** The functions that send the requests of a wire format. */
export interface ApiProvider {
	api: Api;
	/** Takes the options of the wire format. */
	stream: Stream;
	/** Takes options that all wire formats understand. */
	streamSimple: Stream;
}

/** Registered formats. Those of pi-ai are added when they are first asked for. */
const registered = new Map<Api, { provider: ApiProvider; sourceId: string | undefined }>();
const loaded = new Map<string, ProviderStreams>();

/** Registers the functions that send the requests of a wire format; they replace those that it has. */
export function registerApiProvider<T extends Api>(
	provider: {
		api: T;
		stream: (model: Model<T>, context: Context, options?: SimpleStreamOptions) => AssistantMessageEventStream;
		streamSimple: (model: Model<T>, context: Context, options?: SimpleStreamOptions) => AssistantMessageEventStream;
	},
	sourceId?: string,
): void {
	const checked =
		(send: (model: Model<T>, context: Context, options?: SimpleStreamOptions) => AssistantMessageEventStream): Stream =>
		(model, context, options) => {
			if (!hasApi(model, provider.api)) throw new Error(`Mismatched api: ${model.api} expected ${provider.api}`);
			return send(model, context, options);
		};
	const { api } = provider;
	registered.set(api, {
		provider: { api, stream: checked(provider.stream), streamSimple: checked(provider.streamSimple) },
		sourceId,
	});
}

function hasApi<T extends Api>(model: Model<Api>, api: T): model is Model<T> {
	return model.api === api;
}

/** Removes the functions that were registered with this source. */
export function unregisterApiProviders(sourceId: string): void {
	for (const [api, entry] of registered) if (entry.sourceId === sourceId) registered.delete(api);
}

/** The functions that send the requests of a wire format; undefined for an unknown one. */
export function getApiProvider(api: Api): ApiProvider | undefined {
	return registered.get(api)?.provider ?? (isKnown(api) ? ownProvider(api) : undefined);
}

/** The functions of all wire formats. */
export function getApiProviders(): ApiProvider[] {
	const apis = new Set<Api>([...Object.keys(CLIENTS), ...registered.keys()]);
	return [...apis].flatMap((api) => getApiProvider(api) ?? []);
}

/** Removes all functions that were registered. */
export function resetApiProviders(): void {
	registered.clear();
}

/** Loads the client of a model, which takes up to 60 ms, before its first request. */
export async function loadClient(model: Model<Api>): Promise<void> {
	const name = clientOf(model);
	if (name !== undefined && !loaded.has(name)) loaded.set(name, await importClient(name));
}

/** Sends a request with the options of the model's wire format. @throws Error for an unknown format, or without a key */
export function stream(
	model: Model<Api>,
	context: Context,
	options?: SimpleStreamOptions,
): AssistantMessageEventStream {
	return providerOf(model).stream(model, context, options);
}

/** Sends a request with options that all wire formats understand. @throws as `stream` */
export function streamSimple(
	model: Model<Api>,
	context: Context,
	options?: SimpleStreamOptions,
): AssistantMessageEventStream {
	return providerOf(model).streamSimple(model, context, options);
}

function providerOf({ api }: Model<Api>): ApiProvider {
	const provider = getApiProvider(api);
	if (!provider) throw new Error(`No API provider registered for api: ${api}`);
	return provider;
}

/** The client of pi-ai for a wire format. */
function ownProvider(api: KnownApi): ApiProvider {
	const clientFor = (model: Model<Api>) => {
		const name = clientOf(model) ?? api;
		return loaded.get(name) ?? lazyApi(() => importClient(name));
	};
	return {
		api,
		stream: (model, context, options) => clientFor(model).stream(model, normalizeContext(context), options),
		streamSimple: (model, context, options) => clientFor(model).streamSimple(model, normalizeContext(context), options),
	};
}

function isKnown(api: Api): api is KnownApi {
	return Object.hasOwn(CLIENTS, api);
}

/** The name of a model's client: that of an adapted provider, or its wire format. */
function clientOf({ api, provider }: Model<Api>): string | undefined {
	if (Object.hasOwn(ADAPTED, provider)) return provider;
	return isKnown(api) ? api : undefined;
}

async function importClient(name: string): Promise<ProviderStreams> {
	const provider = ADAPTED[name];
	if (!provider) {
		if (!isKnown(name)) throw new Error(`No API provider registered for api: ${name}`);
		return CLIENTS[name]();
	}
	const models = createModels();
	models.setProvider(await provider());
	return {
		stream: (model, context, options) => models.stream(model, context, options),
		streamSimple: (model, context, options) => models.streamSimple(model, context, options),
	};
}

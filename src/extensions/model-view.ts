import type {
	Api,
	AssistantMessage,
	AssistantMessageEvent,
	Context,
	Model,
	SimpleStreamOptions,
} from "@mariozechner/pi-ai";
import type { HookEventContext } from "../hooks/types.js";

/** The models whose key is known, which extensions read without waiting. */
export class KnownModels {
	#available: readonly Model<Api>[] = [];

	get available(): readonly Model<Api>[] {
		return this.#available;
	}

	/** Reads them again. Never rejects: a session that ends meanwhile needs none. */
	async refresh(ctx: HookEventContext): Promise<void> {
		this.#available = await ctx.availableModels().catch(() => this.#available);
	}
}

/** The options of a request as extensions give them: pi sends levels of thinking under one name for all wire formats. */
type RequestOptions = SimpleStreamOptions & { reasoningEffort?: SimpleStreamOptions["reasoning"] };

/** The events of a reply, before its request has been sent. */
interface LateStream extends AsyncIterable<AssistantMessageEvent> {
	result(): Promise<AssistantMessage>;
}

/** How extensions register providers, as in the API. */
export interface ProviderRegistration {
	registerProvider(name: unknown, config?: unknown): void;
	unregisterProvider(name: string): void;
}

/** The models as extensions find them. Members that it lacks are undefined, because extensions test them. */
export function createModelView(ctx: () => HookEventContext, known: KnownModels, providers: ProviderRegistration) {
	const keyOf = (model: Model<Api>) => ctx().requestAuth(model);
	const isKnown = (provider: string) => known.available.some((model) => model.provider === provider);
	const send = (model: Model<Api>, context: Context, { reasoningEffort, ...options }: RequestOptions = {}) =>
		ctx().stream(model, context, { ...(reasoningEffort && { reasoning: reasoningEffort }), ...options });
	const stream = (...request: Parameters<typeof send>): LateStream => {
		const started = send(...request);
		started.catch(() => {}); // whoever reads the events or the result gets it
		return {
			result: async () => (await started).result(),
			async *[Symbol.asyncIterator]() {
				yield* await started;
			},
		};
	};
	return {
		...providers,
		find: (provider: string, id: string) => ctx().findModel(provider, id) ?? undefined,
		getAll: () => [...known.available],
		getAvailable: () => [...known.available],
		getError: () => undefined,
		refresh: () => known.refresh(ctx()),
		hasConfiguredAuth: ({ provider, id }: Model<Api>) =>
			known.available.some((model) => model.provider === provider && model.id === id),
		getProviderDisplayName: (provider: string) => provider,
		getProviderAuthStatus: (provider: string) => ({ configured: isKnown(provider) }),
		stream,
		streamSimple: stream,
		complete: (...request: Parameters<typeof send>) => stream(...request).result(),
		async getApiKey(model: Model<Api>) {
			return ctx().resolveApiKey(model);
		},
		async getApiKeyForProvider(provider: string) {
			const model = known.available.find((candidate) => candidate.provider === provider);
			return model && ctx().resolveApiKey(model);
		},
		async getApiKeyAndHeaders(model: Model<Api>) {
			const auth = await keyOf(model);
			if (!auth) return { ok: false as const, error: `no key for ${model.provider} is known` };
			return { ok: true as const, ...auth };
		},
	};
}

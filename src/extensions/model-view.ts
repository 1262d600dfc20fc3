import type { Api, Model } from "@mariozechner/pi-ai";
import type { HookEventContext } from "../hooks/types.js";
import { withRefusals } from "./with-refusals.js";

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

/** How extensions register providers, as in the API. */
export interface ProviderRegistration {
	registerProvider(name: unknown, config?: unknown): void;
	unregisterProvider(name: string): void;
}

/** The models as extensions find them. */
export function createModelView(ctx: () => HookEventContext, known: KnownModels, providers: ProviderRegistration) {
	const keyOf = (model: Model<Api>) => ctx().requestAuth(model);
	return withRefusals("ctx.modelRegistry", {
		...providers,
		find: (provider: string, id: string) => ctx().findModel(provider, id) ?? undefined,
		getAll: () => [...known.available],
		getAvailable: () => [...known.available],
		getError: () => undefined,
		refresh: () => known.refresh(ctx()),
		hasConfiguredAuth: ({ provider, id }: Model<Api>) =>
			known.available.some((model) => model.provider === provider && model.id === id),
		getProviderDisplayName: (provider: string) => provider,
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
	});
}

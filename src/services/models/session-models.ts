import type { Api, Model } from "@mariozechner/pi-ai";
import type { CommandModels, ModelAsking, ModelOffer } from "../../commands/pickers.js";
import { PiError } from "../../errors.js";
import type { Credentials } from "../../models/credentials.js";
import { type FindLocalOptions, findLocalModels, isLocalServer, loadLocalModel } from "../../models/local-servers.js";
import { readPatterns } from "../../models/model-match.js";
import { type ModelRegistry, modelName } from "../../models/models.js";
import type { FindOfferingOptions, Offering } from "../../models/update/find-offering.js";
import type { Network } from "../../network/network.js";
import type { SessionModels } from "../service-types.js";

/** Asks the providers with keys for a model that no list has. @throws the reason of `signal` */
export type FindOffering = (id: string, asking: Pick<FindOfferingOptions, "signal" | "onWait">) => Promise<Offering>;

export interface SessionModelsOptions {
	registry: ModelRegistry;
	credentials: Credentials;
	/** Carries the requests that renew logins. */
	network: Network;
	/** `--models`: the models that Ctrl+P cycles through. */
	patterns?: readonly string[];
	/** Where local model servers are. */
	local?: FindLocalOptions | undefined;
	/** Absent: no provider is asked. */
	findOffering?: FindOffering | undefined;
	/** The path of the hook that provided a model and is not loaded anymore; null if the model is available. */
	missingHook?: ((model: Model<Api>) => string | null) | undefined;
}

/** The models and keys that a session uses. */
export function createSessionModels(options: SessionModelsOptions): SessionModels {
	const { registry, credentials, network, patterns, local, missingHook } = options;
	const available = async () => {
		await registerLocalModels(registry, local);
		return registry.availableModels();
	};
	const refresh = async (model: Model<Api>) => {
		if (isLocalServer(model.provider)) await registerLocalModels(registry, { ...local, only: model });
	};
	return {
		find: (provider, id) => registry.findModel(provider, id) ?? null,
		findUsed(provider, id, needsKey = false) {
			if (needsKey && !credentials.hasKey(provider)) return null;
			return registry.findOrAssume(provider, id) ?? null;
		},
		async findWithKey(provider, id) {
			const usable = await available();
			const found = usable.find((model) => model.provider === provider && model.id === id);
			return found ?? (registry.findModel(provider, id) ? null : (registry.findOrAssume(provider, id) ?? null));
		},
		available,
		cycle: async () =>
			patterns ? registry.matchModels(patterns).models.map(({ model }) => model) : registry.recentModels(),
		resolveApiKey: (model) => network.run(() => credentials.resolveApiKey(model)),
		requestAuth: (model) => network.run(() => credentials.requestAuth(model)),
		searchServer: (used) => searchServer(registry, used, local),
		refresh,
		async load(model, signal) {
			await loadLocalModel(model, signal);
			await refresh(model);
		},
		describeReplaced: ({ provider, id }, by) => registry.describeReplaced({ provider, modelId: id }, by),
		describeUnloaded(model) {
			const hook = missingHook?.(model) ?? null;
			if (hook === null) return null;
			return new PiError(
				"model_missing",
				`${modelName(model)} is not available: ${hook}, which provides it, is not loaded`,
				{
					hint: "turn the hook on in /hooks, or choose another model with /model",
				},
			);
		},
		describeMissingModel: () => registry.describeMissingModel("No model is chosen"),
	};
}

/** The models of a session as commands offer them. */
export function createModelOffers({
	registry,
	credentials,
	local,
	findOffering,
}: Omit<SessionModelsOptions, "network">): CommandModels {
	const offers = () => {
		const states = new Map<string, ModelOffer["key"]>();
		return registry.all().map((model): ModelOffer => {
			const key = states.get(model.provider) ?? credentials.keyState(model.provider);
			states.set(model.provider, key);
			const source = credentials.hookOf(model.provider);
			return { model, key, isPriced: registry.isPriced(model), ...(source !== undefined && { source }) };
		});
	};
	return {
		offers,
		keyState: (provider) => credentials.keyState(provider),
		bestOf: (provider) => registry.bestOf(provider),
		findLocal: (signal) => registerLocalModels(registry, { ...local, signal }),
		resolve: (spec, asking) => resolveModel(registry, spec, { local, findOffering, ...asking }),
	};
}

/** Options of `resolveModel`. */
export interface ResolveOptions extends ModelAsking, Pick<SessionModelsOptions, "local" | "findOffering"> {
	provider?: string | undefined;
}

/**
 * Resolves a model by name. If it is unknown, searches for local servers, then asks the providers with keys.
 * @throws as `resolveModelSpec`, and the reason of `signal`
 */
export async function resolveModel(
	registry: ModelRegistry,
	spec: string,
	{ local, provider, findOffering, listHint, signal, onWait }: ResolveOptions = {},
): ReturnType<CommandModels["resolve"]> {
	const scope = { ...(provider === undefined ? {} : { provider }), listHint };
	try {
		return registry.resolveModelSpec(spec, scope);
	} catch (error) {
		if (await registerLocalModels(registry, { ...local, ...(signal && { signal }) })) {
			try {
				return registry.resolveModelSpec(spec, scope);
			} catch {
				// The first error says the same.
			}
		}
		signal?.throwIfAborted();
		const { name: id, thinkingLevel } = readPatterns(spec).at(-1) ?? { name: spec };
		// Words of a search and names of a provider are no ids to ask for.
		const isId = provider === undefined && /^\S+$/.test(id);
		const { model, unasked } = (isId && (await findOffering?.(id, { signal, onWait }))) || NOT_FOUND;
		if (model) return { model, ...(thinkingLevel && { thinkingLevel }) };
		const keyless = registry.assumeWithoutKey(spec, provider);
		if (!keyless) throw withReason(error, unasked);
		return keyless;
	}
}

const NOT_FOUND: Offering = { model: null, unasked: null };

/** Adds to an error about an unknown id which providers could not be asked. */
function withReason(error: unknown, reason: string | null): unknown {
	if (!(error instanceof PiError) || reason === null) return error;
	return new PiError(error.code, error.message, { hint: [reason, error.hint].filter(Boolean).join(" · ") });
}

/** Finds local servers and registers their models. @returns true when there are any */
export async function registerLocalModels(registry: ModelRegistry, options: FindLocalOptions = {}): Promise<boolean> {
	const models = await findLocalModels(options);
	registry.registerModels(models);
	return models.length > 0;
}

/** Searches this machine for a model that a local server offered before. */
export async function searchServer(
	registry: ModelRegistry,
	{ provider, id }: { provider: string; id: string },
	local: FindLocalOptions = {},
): Promise<void> {
	if (isLocalServer(provider) && !registry.findModel(provider, id)) await registerLocalModels(registry, local);
}

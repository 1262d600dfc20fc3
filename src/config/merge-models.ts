import type { Api, Model } from "@mariozechner/pi-ai";
import { modelName } from "./model-match.js";
import type { CustomModel, CustomProvider, ModelsFile } from "./models-file.js";

export interface MergedModels {
	models: readonly Model<Api>[];
	/** The problems of models.json, one line each. */
	warnings: string[];
	/** Names of the models without a known price. */
	unpriced: ReadonlySet<string>;
}

/** Applies models.json to the models of pi-ai. */
export function mergeModels(builtIn: readonly Model<Api>[], file: ModelsFile): MergedModels {
	const warnings = [...file.warnings];
	const warn: Warn = (problem) => void warnings.push(`${file.path}: ${problem}`);
	const models = file.providers.reduce((all, provider) => applyProvider(all, provider, warn), builtIn);
	return { models, warnings, unpriced: unpricedModels(builtIn, file.providers) };
}

type Warn = (problem: string) => void;

function applyProvider(models: readonly Model<Api>[], provider: CustomProvider, warn: Warn): Model<Api>[] {
	const builtIn = models.filter((model) => model.provider === provider.name);
	if (provider.models === null) {
		if (builtIn.length === 0) warn(`providers.${provider.name} has no models`);
		return models.map((model) => (model.provider === provider.name ? redirect(model, provider) : model));
	}
	const own = provider.models.flatMap((model) => buildModel(model, provider, builtIn[0], warn) ?? []);
	return upsert(models, own);
}

function redirect(model: Model<Api>, { baseUrl, compat }: CustomProvider): Model<Api> {
	return {
		...model,
		...(baseUrl !== undefined && { baseUrl }),
		...(compat && { compat: { ...model.compat, ...compat } }),
	};
}

/** Headers may be secrets: `Credentials.requestAuth` resolves them with the key, so the model does not contain them. */
function buildModel(
	model: CustomModel,
	provider: CustomProvider,
	sibling: Model<Api> | undefined,
	warn: Warn,
): Model<Api> | null {
	const api = model.api ?? provider.api ?? sibling?.api;
	const baseUrl = model.baseUrl ?? provider.baseUrl ?? sibling?.baseUrl;
	if (api === undefined || baseUrl === undefined) {
		const missing = api === undefined ? "api" : "baseUrl";
		warn(`${provider.name}/${model.id} has no ${missing}; ignored`);
		return null;
	}
	const compat = provider.compat || model.compat ? { ...provider.compat, ...model.compat } : undefined;
	const { id, name, reasoning, thinkingLevelMap } = model;
	const { input: inputPrice = 0, output = 0, cacheRead = 0, cacheWrite = 0 } = model.cost;
	const cost = { input: inputPrice, output, cacheRead, cacheWrite };
	const input = [...model.input];
	const [contextWindow, maxTokens] = [Math.floor(model.contextWindow), Math.floor(model.maxTokens)];
	const base = { id, name, api, provider: provider.name, baseUrl, reasoning, input, cost, contextWindow, maxTokens };
	return { ...base, ...(thinkingLevelMap && { thinkingLevelMap }), ...(compat && { compat }) };
}

/** pi-ai stores 0 for unknown prices and subscriptions too. */
function unpricedModels(builtIn: readonly Model<Api>[], providers: readonly CustomProvider[]): Set<string> {
	const isUnknown = ({ id, name, cost }: Model<Api>) =>
		cost.input === 0 && cost.output === 0 && !/\bfree\b/i.test(`${id} ${name}`);
	const unpriced = new Set(builtIn.filter(isUnknown).map(modelName));
	for (const { name: provider, models } of providers) {
		for (const { id, cost } of models ?? []) {
			const name = modelName({ provider, id });
			if (cost.input === undefined && cost.output === undefined) unpriced.add(name);
			else unpriced.delete(name);
		}
	}
	return unpriced;
}

/** Adds models; each replaces the model with the same provider and id. */
export function upsert(models: readonly Model<Api>[], added: readonly Model<Api>[]): Model<Api>[] {
	const byName = new Map(models.map((model) => [modelName(model), model]));
	for (const model of added) byName.set(modelName(model), model);
	return [...byName.values()];
}

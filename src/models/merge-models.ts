import type { Api, Model } from "@mariozechner/pi-ai";
import { trimEndOf } from "../util/trim.js";
import { isLocalServer } from "./local-addresses.js";
import type { KnownModel } from "./model-facts.js";
import type { ModelLists } from "./model-lists.js";
import type { CustomModel, CustomProvider, ModelOverride, ModelsFile } from "./models-file.js";

export interface MergedModels {
	models: ModelLists;
	/** The problems of models.json, one line each. */
	warnings: string[];
	/** Whether the price of a model is known. */
	isPriced(model: Pick<Model<Api>, "provider" | "id">): boolean;
	/** Applies models.json to a model that is found later, such as that of a local server. */
	adapt(model: Model<Api>): Model<Api>;
}

/** Applies models.json to the models of pi-ai. */
export function mergeModels(builtIn: ModelLists, file: ModelsFile): MergedModels {
	const warnings = [...file.warnings];
	const models = applyProviders(builtIn, file.providers, (provider, problem) => {
		warnings.push(`${provider.source ?? file.path}: ${problem}`);
	});
	return {
		models,
		warnings,
		isPriced: (model) => isPriced(model, builtIn, file.providers),
		adapt: (model) => {
			const provider = file.providers.find(({ name }) => name === model.provider);
			return provider ? adapt(model, provider, baseUrlsOf(provider, builtIn.of(provider.name))) : model;
		},
	};
}

/** Adds the models of providers, and changes how built-in ones are reached. @param warn receives each problem */
export function applyProviders(
	models: ModelLists,
	providers: readonly CustomProvider[],
	warn: (provider: CustomProvider, problem: string) => void = () => {},
): ModelLists {
	return providers.reduce(
		(all, provider) => applyProvider(all, provider, (problem) => warn(provider, problem)),
		models,
	);
}

type Warn = (problem: string) => void;

function applyProvider(models: ModelLists, provider: CustomProvider, warn: Warn): ModelLists {
	const { name, models: own, overrides } = provider;
	const builtIn = models.of(name);
	const isBuiltIn = (id: string) => builtIn.some((model) => model.id === id);
	const baseUrlOf = baseUrlsOf(provider, builtIn);
	const added = (own ?? []).flatMap((model) =>
		isBuiltIn(model.id) ? [] : (createModel(model, provider, builtIn, warn) ?? []),
	);
	const all = [...builtIn, ...added];
	// The models of a local server are adapted when they are found.
	if (!isLocalServer(name)) {
		if (all.length === 0 && own === null) warn(`providers.${name} has no models`);
		for (const id of overrides.keys()) {
			if (!all.some((model) => model.id === id))
				warn(`providers.${name}.modelOverrides: no model ${JSON.stringify(id)}`);
		}
	}
	return models.with(all.map((model) => adapt(model, provider, baseUrlOf)));
}

type BaseUrlOf = (baseUrl: string) => string;

/** The base URL of a provider's models with what models.json says. */
function baseUrlsOf({ baseUrl }: CustomProvider, builtIn: readonly Model<Api>[]): BaseUrlOf {
	if (baseUrl === undefined) return (known) => known;
	return replaceBaseUrls(
		builtIn.map((model) => model.baseUrl),
		baseUrl,
	);
}

/** Applies what models.json says about a model's provider and about the model itself. */
function adapt(model: Model<Api>, provider: CustomProvider, baseUrlOf: BaseUrlOf): Model<Api> {
	const own = provider.models?.findLast(({ id }) => id === model.id);
	const override = provider.overrides.get(model.id);
	const reached = own || provider.models === null ? redirect(model, { provider, own, baseUrlOf }) : model;
	return [own, override].reduce((changed, fields) => (fields ? change(changed, fields) : changed), reached);
}

function redirect(
	model: Model<Api>,
	{ provider, own, baseUrlOf }: { provider: CustomProvider; own: CustomModel | undefined; baseUrlOf: BaseUrlOf },
): Model<Api> {
	const api = own ? (own.api ?? provider.api ?? model.api) : model.api;
	const baseUrl = own?.baseUrl ?? baseUrlOf(model.baseUrl);
	// The flags of one wire format mean nothing to another.
	const compat = { ...(api === model.api && model.compat), ...provider.compat };
	return { ...model, api, baseUrl, ...(Object.keys(compat).length > 0 && { compat }) };
}

/** Headers may be secrets: `Credentials.requestAuth` resolves them with the key, so the model does not contain them. */
function change(model: KnownModel, fields: ModelOverride): KnownModel {
	const { name, reasoning, tools, input, contextWindow, maxTokens } = fields;
	const { thinkingLevelMap, cost, compat } = fields;
	return {
		...model,
		...defined({ name, reasoning, tools }),
		...(input && { input: [...input] }),
		...(contextWindow !== undefined && { contextWindow: Math.floor(contextWindow) }),
		...(maxTokens !== undefined && { maxTokens: Math.floor(maxTokens) }),
		...(thinkingLevelMap && { thinkingLevelMap: { ...model.thinkingLevelMap, ...defined(thinkingLevelMap) } }),
		...(cost && { cost: { ...model.cost, ...defined(cost) } }),
		...(compat && { compat: { ...model.compat, ...compat } }),
	};
}

/** Without the members that are undefined. */
function defined<T extends object>(fields: T): { [K in keyof T]?: Exclude<T[K], undefined> };
function defined(fields: object): object {
	return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}

/** A model of models.json with defaults; `adapt` adds its fields. */
function createModel(
	{ id, api: ownApi, baseUrl: ownUrl }: CustomModel,
	provider: CustomProvider,
	builtIn: readonly Model<Api>[],
	warn: Warn,
): Model<Api> | null {
	const [sibling] = builtIn;
	const api = ownApi ?? provider.api ?? sibling?.api;
	const known = builtIn.find((model) => model.api === api)?.baseUrl;
	const baseUrl = ownUrl ?? known ?? provider.baseUrl ?? sibling?.baseUrl;
	if (api === undefined || baseUrl === undefined) {
		const missing = api === undefined ? "api" : "baseUrl";
		if (!isLocalServer(provider.name)) warn(`${provider.name}/${id} has no ${missing}; ignored`);
		return null;
	}
	return {
		id,
		name: id,
		api,
		provider: provider.name,
		baseUrl,
		reasoning: false,
		input: ["text"],
		cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
		contextWindow: 128_000,
		maxTokens: 16_384,
	};
}

function isPriced(
	{ provider, id }: Pick<Model<Api>, "provider" | "id">,
	builtIn: ModelLists,
	providers: readonly CustomProvider[],
): boolean {
	const listed = providers
		.filter(({ name }) => name === provider)
		.flatMap(({ models, overrides }) =>
			[...(models ?? []).filter((own) => own.id === id), overrides.get(id) ?? []].flat(),
		);
	if (listed.some(({ cost }) => cost?.input !== undefined || cost?.output !== undefined)) return true;
	const known = builtIn.find(provider, id);
	if (!known) return listed.length === 0 || isLocalServer(provider);
	// pi-ai stores 0 for unknown prices and subscriptions too.
	const { cost, name } = known;
	return cost.input !== 0 || cost.output !== 0 || /\bfree\b/i.test(`${id} ${name}`);
}

/**
 * Replaces the base URLs of a provider by the one of models.json. The models of some providers have several: those of OpenRouter
 * `https://openrouter.ai/api/v1` and, for Anthropic's format, `https://openrouter.ai/api`. If the new one ends like one of them
 * (`/v1`), only what precedes the ends is replaced.
 * @param known the base URLs of the provider's models
 * @param own the one of models.json
 * @returns the new base URL for a known one; one that was replaced before is unchanged
 */
export function replaceBaseUrls(known: readonly string[], own: string): (baseUrl: string) => string {
	const addresses = [...new Set(known)];
	const root = addresses.length > 1 ? commonRoot(addresses) : null;
	if (root === null) return () => own;
	const ends = addresses.map((address) => trimEndOf(address, "/").slice(root.length));
	const plain = trimEndOf(own, "/");
	const end = ends.find((candidate) => candidate !== "" && plain.endsWith(candidate));
	// It may be the address of a server that has no such parts.
	if (end === undefined && ends.includes("")) return () => own;
	const start = plain.slice(0, plain.length - (end ?? "").length);
	const replaced = new Map(addresses.map((address, at) => [address, `${start}${ends[at]}`]));
	const news = new Set(replaced.values());
	return (baseUrl) => replaced.get(baseUrl) ?? (news.has(baseUrl) ? baseUrl : own);
}

/** What all addresses begin with: the server and complete parts of the path; null if their servers differ. */
function commonRoot(addresses: readonly string[]): string | null {
	const [first = [], ...others] = addresses.map((address) => trimEndOf(address, "/").split("/"));
	const differs = (at: number) => others.some((parts) => parts[at] !== first[at]);
	let length = 0;
	while (length < first.length && !differs(length)) length++;
	// `https://host` has three parts.
	return length < 3 ? null : first.slice(0, length).join("/");
}

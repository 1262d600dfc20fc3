import type { BuiltInModels } from "./built-in-models.js";
import type { Credentials } from "./credentials.js";
import { callsTools, type KnownModel, modelFacts } from "./model-facts.js";
import type { ModelList } from "./model-list.js";
import type { CustomProvider } from "./models-file.js";
import { thinkingLevels } from "./thinking-levels.js";
import { formatDay, formatUpdateAge } from "./update/describe-update.js";
import type { ListedFacts } from "./update/listed-model.js";

/** A fact about a model as text, and where it comes from. */
export interface ModelOrigin {
	/** Such as `context`. */
	fact: string;
	value: string;
	/** Such as `list (22 Sep 2026)`, `anthropic (today)`, `models.json`, `nearest relative claude-opus-5-5`. */
	from: string;
}

export interface ModelOriginSources {
	list: ModelList;
	/** The list that ships. */
	shipped: BuiltInModels;
	/** The providers of models.json and hooks. */
	providers: readonly CustomProvider[];
	credentials: Pick<Credentials, "keySource">;
	isPriced: boolean;
	/** ms since the epoch. */
	now: number;
}

/** Everything that pi knows about a model. */
export function modelOrigins(model: KnownModel, sources: ModelOriginSources): ModelOrigin[] {
	const { provider, id, api, baseUrl, reasoning, input, released, retired } = model;
	const { priceText, context } = modelFacts(model, sources.isPriced);
	const from = (fact: keyof ListedFacts | "api" | "baseUrl" | "thinkingLevelMap") => originOf(fact, model, sources);
	return [
		{ fact: "model", value: `${provider}/${id}`, from: from("api") },
		{ fact: "name", value: model.name, from: from("name") },
		{ fact: "context", value: `${model.contextWindow} tokens (${context})`, from: from("contextWindow") },
		{ fact: "reply", value: `${model.maxTokens} tokens`, from: from("maxTokens") },
		{ fact: "price", value: priceText.replace(/^price /, ""), from: sources.isPriced ? from("cost") : "" },
		{ fact: "thinking", value: yesNo(reasoning), from: from("reasoning") },
		...(reasoning ? [{ fact: "levels", value: thinkingLevels(model).join(", "), from: from("thinkingLevelMap") }] : []),
		{ fact: "images", value: yesNo(input.includes("image")), from: from("input") },
		{ fact: "tools", value: yesNo(callsTools(model)), from: from("tools") },
		...(released === undefined ? [] : [{ fact: "released", value: released, from: from("released") }]),
		...(retired ? [{ fact: "offered", value: "no longer", from: provenance(sources, provider) }] : []),
		{ fact: "format", value: api, from: from("api") },
		{ fact: "address", value: baseUrl || "unknown", from: from("baseUrl") },
		{ fact: "key", value: sources.credentials.keySource(provider) ?? "none", from: "" },
	];
}

function originOf(
	fact: keyof ListedFacts | "api" | "baseUrl" | "thinkingLevelMap",
	{ provider, id, relative }: KnownModel,
	sources: ModelOriginSources,
): string {
	const { list, shipped, providers } = sources;
	const own = providers.find(({ name }) => name === provider);
	const override = own?.overrides.get(id);
	const custom = own?.models?.findLast((candidate) => candidate.id === id);
	const source = own?.source ?? "models.json";
	const isOwn = (fields: object | undefined) =>
		fields !== undefined && Object.entries(fields).some(([key, value]) => key === fact && value !== undefined);
	if (isOwn(override) || isOwn(custom) || ((fact === "api" || fact === "baseUrl") && isOwn(own))) return source;
	const update = list.file.of(provider);
	const isUsed = (at: number) => relative !== undefined || at >= list.madeAt;
	if (update.provider && isUsed(update.provider.updatedAt) && isOwn(update.provider.models.get(id)))
		return provenance(sources, provider);
	if (update.catalog && isUsed(update.catalog.updatedAt) && isOwn(update.catalog.models.get(id)))
		return `catalog (${formatUpdateAge(update.catalog.updatedAt, sources.now)})`;
	if (relative !== undefined) return fact === "name" ? "its id" : `nearest relative ${relative}`;
	if (shipped.lists.find(provider, id)) return `list (${formatDay(list.madeAt)})`;
	return custom ? `default of ${source}` : "the server";
}

/** The provider, and when it said so. */
function provenance({ list, now }: ModelOriginSources, provider: string): string {
	const { provider: part } = list.file.of(provider);
	return part ? `${provider} (${formatUpdateAge(part.updatedAt, now)})` : provider;
}

function yesNo(value: boolean): string {
	return value ? "yes" : "no";
}

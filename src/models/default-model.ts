import type { Api, Model } from "@mariozechner/pi-ai";
import { compareVersions, hasOneTask, type IdWords, isAlias, lastSegment, plainId, readIdWords } from "./id-words.js";
import { callsTools, type KnownModel } from "./model-facts.js";

/**
 * Well-known providers, for users who chose none: the first with a key is used. Makers offer only their own models; the
 * others offer models of makers too.
 */
const PROVIDER_ORDER: readonly { provider: string; isMaker?: true }[] = [
	{ provider: "anthropic", isMaker: true },
	{ provider: "openai", isMaker: true },
	{ provider: "openai-codex" },
	{ provider: "google", isMaker: true },
	{ provider: "github-copilot" },
	{ provider: "openrouter" },
	{ provider: "vercel-ai-gateway" },
	{ provider: "opencode" },
	{ provider: "xai", isMaker: true },
	{ provider: "deepseek", isMaker: true },
	{ provider: "zai", isMaker: true },
	{ provider: "moonshotai", isMaker: true },
	{ provider: "moonshotai-cn" },
	{ provider: "kimi-coding" },
	{ provider: "minimax", isMaker: true },
	{ provider: "minimax-cn" },
	{ provider: "mistral", isMaker: true },
	{ provider: "xiaomi", isMaker: true },
	{ provider: "opencode-go" },
	{ provider: "cerebras" },
	{ provider: "groq" },
	{ provider: "fireworks" },
	{ provider: "huggingface" },
	{ provider: "azure-openai-responses" },
	{ provider: "google-vertex" },
	{ provider: "amazon-bedrock" },
];

/** The names of the well-known providers, the one whose key counts first at the front. */
export const WELL_KNOWN_PROVIDERS: readonly string[] = PROVIDER_ORDER.map(({ provider }) => provider);

const MAKERS: readonly string[] = PROVIDER_ORDER.filter(({ isMaker }) => isMaker).map(({ provider }) => provider);

const MIN_WINDOW = 128_000;
/** Output prices of models for general use, US dollars per million tokens. */
const GENERAL_PRICE = { from: 2, to: 25 };

interface Candidate {
	model: KnownModel;
	words: IdWords;
}

/**
 * The model with which a session of a provider starts if the user chose none. Makers: the newest general model. Others: the
 * newest general model of the first maker that they offer, else of all.
 * @param modelsOf the models of any provider; called for the makers if `provider` is none
 */
export function defaultModelOf(
	provider: string,
	modelsOf: (provider: string) => readonly Model<Api>[],
): Model<Api> | undefined {
	const models = modelsOf(provider);
	if (MAKERS.includes(provider)) return chooseDefault(models.filter(({ id }) => !namesOther(provider, id)));
	if (models.length < 2) return models[0];
	const find = offeredAmong(models);
	for (const maker of MAKERS) {
		const theirs = modelsOf(maker);
		const offered = offersOf(theirs, models, find);
		const chosen = newest(generalAmong([...offered.keys()], hasPrices(theirs)).general)?.model ?? chooseDefault(theirs);
		const found = chosen && (offered.get(chosen) ?? find(chosen.id));
		if (found) return found;
	}
	return chooseDefault(models);
}

/**
 * The models of a maker that another provider offers: with the maker's facts, or, if the maker's list lacks the model, with those
 * of the provider. The values are the models of the provider.
 */
function offersOf(
	theirs: readonly Model<Api>[],
	models: readonly KnownModel[],
	find: (id: string) => Model<Api> | undefined,
): Map<Model<Api>, Model<Api>> {
	const offers = new Map<Model<Api>, Model<Api>>();
	const ids = new Set<string>();
	for (const { retired: _, ...model } of theirs as readonly KnownModel[]) {
		const offered = find(model.id);
		if (!offered) continue;
		offers.set(model, offered);
		ids.add(offered.id);
	}
	for (const model of models) {
		const isTheirs = model.relative !== undefined && ids.has(model.relative) && !ids.has(model.id);
		if (isTheirs && !model.retired) offers.set(model, model);
	}
	return offers;
}

/**
 * The newest model for general use: it is offered, calls tools, is no snapshot, alias or variant of another one, thinks, has at
 * least 128k context and an output price from $2 to $25 per million. Requirements that no model meets are ignored, the last
 * ones first.
 */
export function chooseDefault(models: readonly Model<Api>[]): Model<Api> | undefined {
	return newest(generalAmong(models, hasPrices(models)).best)?.model;
}

/** How much older than the newest model of a provider a model can be that is still recent. */
const RECENT_MS = 365 * 24 * 3_600_000;

/**
 * The models of a provider between which a user may want to switch: for general use, the newest of those that differ only in their
 * version, and at most a year older than the newest of all. Of a provider that offers models of makers, those of the makers.
 * @param modelsOf the models of any provider
 */
export function recentModels(
	provider: string,
	modelsOf: (provider: string) => readonly Model<Api>[],
): readonly Model<Api>[] {
	const models = modelsOf(provider);
	if (MAKERS.includes(provider)) return recentAmong(models.filter(({ id }) => !namesOther(provider, id)));
	const find = offeredAmong(models);
	const offered = MAKERS.flatMap((maker) => {
		const offers = offersOf(modelsOf(maker), models, find);
		return recentAmong([...offers.keys()]).flatMap((model) => offers.get(model) ?? []);
	});
	return offered.length > 0 ? [...new Set(offered)] : recentAmong(models);
}

function recentAmong(models: readonly KnownModel[]): readonly KnownModel[] {
	const families = new Map<string, Candidate[]>();
	for (const candidate of generalAmong(models, false).general) {
		if (hasOneTask(candidate.model.id)) continue;
		const family = candidate.words.words.join(" ");
		families.set(family, [...(families.get(family) ?? []), candidate]);
	}
	const newestOfEach = [...families.values()].flatMap((family) => newest(family)?.model ?? []);
	const releasedAt = ({ released }: KnownModel) => (released === undefined ? Number.NaN : Date.parse(released));
	const last = Math.max(...newestOfEach.map(releasedAt).filter((time) => !Number.isNaN(time)));
	return newestOfEach.filter((model) => !(releasedAt(model) < last - RECENT_MS));
}

function hasPrices(models: readonly Model<Api>[]): boolean {
	return models.some(({ cost }) => cost.output > 0);
}

/** @returns `general`: the models that meet all requirements; `best`: the same without requirements that no model meets */
function generalAmong(
	models: readonly Model<Api>[],
	arePriced: boolean,
): { general: readonly Candidate[]; best: readonly Candidate[] } {
	const all = models.map((model): Candidate => ({ model, words: readIdWords(model.id) }));
	const isVariant = variantsOf(all);
	const requirements: ((candidate: Candidate) => boolean)[] = [
		({ model }) => !model.retired,
		({ model }) => callsTools(model),
		({ words }) => !words.isDated && !isAlias(words),
		({ words }) => !isVariant(words),
		({ model }) => model.reasoning,
		({ model }) => model.contextWindow >= MIN_WINDOW,
		({ model: { cost } }) => !arePriced || (cost.output >= GENERAL_PRICE.from && cost.output <= GENERAL_PRICE.to),
	];
	const best = requirements.reduce((left, meets) => {
		const meeting = left.filter(meets);
		return meeting.length > 0 ? meeting : left;
	}, all);
	return { best, general: best.filter((candidate) => requirements.every((meets) => meets(candidate))) };
}

/** A maker can host models of another, whose name their ids contain. */
function namesOther(provider: string, id: string): boolean {
	return readIdWords(id).words.some((word) => word !== provider && MAKERS.includes(word));
}

/** Finds ids with the version and the words of another one and more words, such as a faster variant. */
function variantsOf(all: readonly Candidate[]): (id: IdWords) => boolean {
	const keyOf = (words: readonly string[], { version }: IdWords) => `${words.join(" ")} ${version.join(".")}`;
	const keys = new Set(all.map(({ words }) => keyOf(words.words, words)));
	return (id) => id.words.some((_, end) => keys.has(keyOf(id.words.slice(0, end), id)));
}

/** The newest by date; of models without a date, one with a higher version than that. */
function newest(candidates: readonly Candidate[]): Candidate | undefined {
	const [dated] = candidates
		.filter(({ model }) => model.released !== undefined)
		.sort((a, b) => compareTexts(b.model.released, a.model.released) || compareVersion(b, a) || byPrice(a, b));
	const [other] = candidates
		.filter(({ model }) => model.released === undefined)
		.sort((a, b) => compareVersion(b, a) || byPrice(a, b));
	return dated && other ? (compareVersion(other, dated) > 0 ? other : dated) : (dated ?? other);
}

function compareVersion(a: Candidate, b: Candidate): number {
	return compareVersions(a.words.version, b.words.version);
}

function byPrice(a: Candidate, b: Candidate): number {
	return (
		b.model.cost.output - a.model.cost.output ||
		Number(a.words.isDated) - Number(b.words.isDated) ||
		compareTexts(a.model.id, b.model.id)
	);
}

/**
 * Finds the model of a maker among those of another provider: with the same id after the last slash, else with words before it,
 * as in `global.anthropic.claude-opus-5-5`. Of several, the cheapest, then the one with most words before the id: addresses
 * without a region cannot always be called.
 */
function offeredAmong(models: readonly Model<Api>[]): (id: string) => Model<Api> | undefined {
	const offered = models
		.filter(({ retired }: KnownModel) => !retired)
		.toSorted((a, b) => a.cost.output - b.cost.output || b.id.length - a.id.length || compareTexts(a.id, b.id));
	const byId = new Map<string, Model<Api>>();
	const byEnd = new Map<string, Model<Api>>();
	for (const model of offered) {
		const id = plainId(lastSegment(model.id));
		if (!byId.has(id)) byId.set(id, model);
		for (let dash = id.indexOf("-"); dash !== -1; dash = id.indexOf("-", dash + 1)) {
			const end = id.slice(dash + 1);
			if (!byEnd.has(end)) byEnd.set(end, model);
		}
	}
	return (id) => byId.get(plainId(lastSegment(id))) ?? byEnd.get(plainId(lastSegment(id)));
}

function compareTexts(a = "", b = ""): number {
	return a < b ? -1 : a > b ? 1 : 0;
}

import type { Api, Model } from "@mariozechner/pi-ai";
import { compareVersions, type IdWords, isAlias, readIdWords } from "./id-words.js";
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
 * default of the first maker that they offer too, else the newest general model.
 * @param modelsOf the models of any provider; called for the makers if `provider` is none
 */
export function defaultModelOf(
	provider: string,
	modelsOf: (provider: string) => readonly Model<Api>[],
): Model<Api> | undefined {
	const models = modelsOf(provider);
	if (MAKERS.includes(provider)) return chooseDefault(models.filter(({ id }) => !namesOther(provider, id)));
	if (models.length < 2) return models[0];
	for (const maker of MAKERS) {
		const theirs = chooseDefault(modelsOf(maker));
		const offered = theirs && findOffered(theirs.id, models);
		if (offered) return offered;
	}
	return chooseDefault(models);
}

/**
 * The newest model for general use: it is offered, calls tools, is no snapshot, alias or variant of another one, thinks, has at
 * least 128k context and an output price from $2 to $25 per million. Requirements that no model meets are ignored, the last
 * ones first.
 */
export function chooseDefault(models: readonly Model<Api>[]): Model<Api> | undefined {
	const hasPrices = models.some(({ cost }) => cost.output > 0);
	const all = models.map((model): Candidate => ({ model, words: readIdWords(model.id) }));
	const isVariant = variantsOf(all);
	const requirements: ((candidate: Candidate) => boolean)[] = [
		({ model }) => !model.retired,
		({ model }) => callsTools(model),
		({ words }) => !words.isDated && !isAlias(words),
		({ words }) => !isVariant(words),
		({ model }) => model.reasoning,
		({ model }) => model.contextWindow >= MIN_WINDOW,
		({ model: { cost } }) => !hasPrices || (cost.output >= GENERAL_PRICE.from && cost.output <= GENERAL_PRICE.to),
	];
	const general = requirements.reduce((left, meets) => {
		const meeting = left.filter(meets);
		return meeting.length > 0 ? meeting : left;
	}, all);
	return newest(general)?.model;
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
 * The model of a maker among those of another provider: with the same id after the last slash, else with words before it, as
 * in `global.anthropic.claude-opus-5-5`. Of several, the cheapest, then the one with most words before the id: addresses
 * without a region cannot always be called.
 */
function findOffered(id: string, models: readonly Model<Api>[]): Model<Api> | undefined {
	const wanted = plainId(id);
	const offered = models.filter(({ retired }: KnownModel) => !retired);
	const sameId = offered.filter((model) => plainId(model.id) === wanted);
	const found = sameId.length > 0 ? sameId : offered.filter((model) => plainId(model.id).endsWith(`-${wanted}`));
	const [first] = found.sort(
		(a, b) => a.cost.output - b.cost.output || b.id.length - a.id.length || compareTexts(a.id, b.id),
	);
	return first;
}

/** The id after the last slash, with `.` and `-` equal. */
function plainId(id: string): string {
	return id
		.slice(id.lastIndexOf("/") + 1)
		.toLowerCase()
		.replaceAll(".", "-");
}

function compareTexts(a = "", b = ""): number {
	return a < b ? -1 : a > b ? 1 : 0;
}

import type { Api, Model } from "@mariozechner/pi-ai";
import { compareVersions, type IdWords, isAlias, readIdWords } from "../id-words.js";
import { relativesAmong } from "../nearest-relative.js";
import { known, type ListedCost, type ListedFacts, type ListedModel, type ListedModels } from "./listed-model.js";
import type { UpdatePart } from "./model-list-file.js";

/** What an update is compared with. */
export interface ShippedList {
	models: readonly Model<Api>[];
	/** When the list was made, ms since the epoch. */
	madeAt: number;
	/** The provider's default model. Default: the newest general one. */
	usual?: Model<Api> | undefined;
}

const DAY_MS = 24 * 3_600_000;
/** A model that came out this long before the list that ships is missing there on purpose. */
const GRACE_MS = 90 * DAY_MS;

/**
 * What a provider's own list adds to the list that ships. Models that an earlier list has added keep their facts.
 * @param previous the part of the latest update; null: the first one
 */
export function providerDifference(
	{ models, ids, isComplete }: ListedModels,
	shipped: ShippedList,
	previous: UpdatePart | null,
	now: number,
): UpdatePart {
	const part = difference(models, shipped, now);
	const known = new Set(shipped.models.map(({ id }) => id));
	const vanished = [...(previous?.models ?? [])].filter(([id]) => !known.has(id) && !part.models.has(id));
	const all = new Map([...part.models, ...vanished]);
	// Servers in front of a provider can list only models of their own.
	const isItsList = isComplete && shipped.models.some(({ id }) => ids.includes(id));
	const isOffered = offeredBy(ids);
	const retired = isItsList ? [...known, ...all.keys()].filter((id) => !isOffered(id)) : (previous?.retired ?? []);
	return { ...part, models: all, retired: [...new Set(retired)] };
}

/**
 * What the catalog adds to the list that ships.
 * @param offered the ids that the provider lists itself; null: unknown
 */
export function catalogDifference(
	cataloged: readonly ListedModel[],
	shipped: ShippedList,
	offered: readonly string[] | null,
	now: number,
): UpdatePart {
	const known = new Set(shipped.models.map(({ id }) => id));
	const isOffered = offered === null ? () => true : offeredBy(offered);
	const usable = cataloged.filter(({ id, facts }) => known.has(id) || (facts.tools !== false && isOffered(id)));
	return difference(usable, shipped, now);
}

function difference(listed: readonly ListedModel[], { models, madeAt, usual }: ShippedList, now: number): UpdatePart {
	const byId = new Map(models.map((model) => [model.id, model]));
	const relativeOf = relativesAmong(models, usual);
	const found = listed.flatMap(({ id, facts }): [string, ListedFacts][] => {
		const model = byId.get(id);
		if (!model) return isNew(facts, madeAt) ? [[id, { ...facts, ...known({ relative: relativeOf(id)?.id }) }]] : [];
		const changed = changedFacts(facts, model);
		return Object.keys(changed).length > 0 ? [[id, changed]] : [];
	});
	return { updatedAt: now, models: new Map(found), retired: [] };
}

function isNew({ released }: ListedFacts, madeAt: number): boolean {
	return released === undefined || Date.parse(released) >= madeAt - GRACE_MS;
}

/** pi-ai knows better what a listed model can do, but not what it costs today. */
function changedFacts({ contextWindow, maxTokens, cost, released }: ListedFacts, model: Model<Api>): ListedFacts {
	return known({
		contextWindow: contextWindow === model.contextWindow ? undefined : contextWindow,
		maxTokens: maxTokens === model.maxTokens ? undefined : maxTokens,
		cost: cost && !isSameCost(cost, model.cost) ? cost : undefined,
		released,
	});
}

function isSameCost(cost: ListedCost, known: Model<Api>["cost"]): boolean {
	return (["input", "output", "cacheRead", "cacheWrite"] as const).every(
		(kind) => cost[kind] === undefined || cost[kind] === known[kind],
	);
}

/** Whether a list contains an id, or the snapshot or variant that the id means. */
function offeredBy(ids: readonly string[]): (id: string) => boolean {
	const exact = new Set(ids);
	const words = ids.map(readIdWords);
	return (id) => {
		const [base = id] = id.split(":");
		if (exact.has(id) || exact.has(base)) return true;
		const wanted = readIdWords(id);
		return (
			isAlias(wanted) || (!wanted.isDated && words.some((listed) => listed.isDated && isSameModel(wanted, listed)))
		);
	};
}

function isSameModel(a: IdWords, b: IdWords): boolean {
	return a.words.join(" ") === b.words.join(" ") && compareVersions(a.version, b.version) === 0;
}

import type { Api, Model } from "@mariozechner/pi-ai";
import type { KnownModel } from "../model-facts.js";
import { ModelLists } from "../model-lists.js";
import { relatedModel, relativesAmong } from "../nearest-relative.js";
import type { ListedFacts } from "./listed-model.js";
import type { ModelListFile, ProviderUpdate } from "./model-list-file.js";

/** Models with what an update found; the list of a provider is read and changed when it is first needed. */
export function applyModelList(
	lists: ModelLists,
	madeAt: number,
	file: Pick<ModelListFile, "providers" | "of">,
): ModelLists {
	if (file.providers.length === 0) return lists;
	const updated = new Set(file.providers);
	const read = (provider: string) =>
		updated.has(provider) ? () => applyUpdate(lists.of(provider), madeAt, file.of(provider)) : () => lists.of(provider);
	return new ModelLists(new Map(lists.providers.map((provider) => [provider, read(provider)])));
}

/**
 * The models of a provider with what an update found. What the provider says counts more than the catalog; about models of
 * a list that was made later, neither says anything.
 */
export function applyUpdate(
	models: readonly Model<Api>[],
	madeAt: number,
	update: ProviderUpdate,
): readonly Model<Api>[] {
	const parts = [update.catalog, update.provider].filter((part) => part !== null);
	if (parts.length === 0) return models;
	const recent = parts.filter(({ updatedAt }) => updatedAt >= madeAt);
	const retiredIn = (from: typeof parts) => new Set(from.flatMap((part) => part.retired));
	const [retired, gone] = [retiredIn(recent), retiredIn(parts)];
	const factsIn = (from: typeof parts, id: string): ListedFacts =>
		Object.assign({}, ...from.map((part) => part.models.get(id)));
	const listed = new Set(models.map(({ id }) => id));
	const changed = models.map((model): KnownModel => {
		const facts = withFacts(model, factsIn(recent, model.id));
		return retired.has(model.id) ? { ...facts, retired: true } : facts;
	});
	const added = [...new Set(parts.flatMap((part) => [...part.models.keys()]))].filter((id) => !listed.has(id));
	const byId = new Map(models.map((model) => [model.id, model]));
	let relativeOf: ReturnType<typeof relativesAmong> | null = null;
	const createModel = (id: string): KnownModel[] => {
		const facts = factsIn(parts, id);
		let relative = byId.get(facts.relative ?? "");
		if (!relative) {
			// An update of pi may have removed it.
			relativeOf ??= relativesAmong(models);
			relative = relativeOf(id);
		}
		if (!relative) return [];
		const model = withFacts(relatedModel(id, relative), facts);
		return [gone.has(id) ? { ...model, retired: true } : model];
	};
	return [...changed, ...added.flatMap(createModel)];
}

function withFacts(model: Model<Api>, { cost, relative: _, ...facts }: ListedFacts): KnownModel {
	return { ...model, ...facts, ...(cost && { cost: { ...model.cost, ...cost } }) };
}

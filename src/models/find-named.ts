import type { Api, Model, ModelThinkingLevel } from "@mariozechner/pi-ai";
import { sortByLikelihood } from "./likelihood.js";
import { findById, findByIdAlike, findByName, findByNameAlike, findFuzzy, type ModelPattern } from "./model-match.js";

/** A model and, if the user named one with it, a thinking level. */
export interface ResolvedModel {
	model: Model<Api>;
	thinkingLevel?: ModelThinkingLevel;
}

/** The models among which a name is searched. */
export interface SearchedModels {
	/** The names of the providers. */
	readonly providers: readonly string[];
	of(provider: string): readonly Model<Api>[];
	hasKey(provider: string): boolean;
}

type Search = (name: string) => readonly Model<Api>[];

/**
 * Finds the model with exactly one of these names: `provider/id` or an id. Then those count whose name differs only in how its
 * version is written, or in the maker before it. Models with a key come first; the lists of other providers are read last.
 * @param options `within`: searches only these
 */
export function findNamed(
	patterns: readonly ModelPattern[],
	models: SearchedModels,
	{ within }: { within?: readonly Model<Api>[] | undefined } = {},
): ResolvedModel | undefined {
	const named = (name: string) => within ?? namedModels(name, models);
	return first(patterns, models, [
		(name) => findByName(named(name), name),
		(name) => findByNameAlike(withKey(named(name), models), name),
		(id) => findById(usable(models, within), id),
		(id) => findByIdAlike(usable(models, within), id),
		(id) => findById(within ?? all(models), id),
		(name) => findByNameAlike(named(name), name),
		(id) => findByIdAlike(within ?? all(models), id),
	]);
}

/** Finds the likeliest model whose name contains all words of one of these names. */
export function findByWords(
	patterns: readonly ModelPattern[],
	models: SearchedModels,
	{ within }: { within?: readonly Model<Api>[] | undefined } = {},
): ResolvedModel | undefined {
	return first(patterns, models, [
		(words) => findFuzzy(usable(models, within), words),
		(words) => findFuzzy(within ?? all(models), words),
	]);
}

/** The best result of the first search that finds one of the names. */
function first(
	patterns: readonly ModelPattern[],
	models: SearchedModels,
	searches: readonly Search[],
): ResolvedModel | undefined {
	for (const search of searches) {
		for (const { name, thinkingLevel } of patterns) {
			const model = best(search(name), models);
			if (model) return { model, ...(thinkingLevel && { thinkingLevel }) };
		}
	}
	return undefined;
}

/** The most likely model; those with a key come first. */
function best(found: readonly Model<Api>[], models: SearchedModels): Model<Api> | undefined {
	const keyed = withKey(found, models);
	return sortByLikelihood(keyed.length > 0 ? keyed : found)[0];
}

/** The models of the providers that a name may begin with. */
function namedModels(name: string, { providers, of }: SearchedModels): Model<Api>[] {
	const isNamed = (provider: string) => name.toLowerCase().startsWith(`${provider.toLowerCase()}/`);
	return providers.filter(isNamed).flatMap(of);
}

function usable(models: SearchedModels, within: readonly Model<Api>[] | undefined): readonly Model<Api>[] {
	return within ? withKey(within, models) : models.providers.filter(models.hasKey).flatMap(models.of);
}

function withKey(found: readonly Model<Api>[], { hasKey }: SearchedModels): readonly Model<Api>[] {
	return found.filter(({ provider }) => hasKey(provider));
}

function all({ providers, of }: SearchedModels): readonly Model<Api>[] {
	return providers.flatMap(of);
}

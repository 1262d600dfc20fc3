import type { Api, Model } from "@mariozechner/pi-ai";
import { defaultModelOf, WELL_KNOWN_PROVIDERS } from "./default-model.js";
import { type IdWords, readIdWords } from "./id-words.js";
import type { KnownModel } from "./model-facts.js";

/** Created for the first comparison, because it loads data for milliseconds. `localeCompare` would create one each time. */
let collator: Intl.Collator | undefined;

/**
 * Sorts models by how likely a user wants them: those that are still offered before retired ones, the default models of
 * well-known providers first, then by well-known providers, undated ids before dated ones, newest first.
 */
export function sortByLikelihood<T extends Model<Api>>(models: readonly T[]): T[] {
	if (models.length < 2) return [...models];
	const byProvider = new Map<string, T[]>();
	for (const model of models) {
		const known = byProvider.get(model.provider);
		if (known) known.push(model);
		else byProvider.set(model.provider, [model]);
	}
	const modelsOf = (provider: string) => byProvider.get(provider) ?? [];
	const usual = new Set<Model<Api> | undefined>(
		WELL_KNOWN_PROVIDERS.map((provider) => defaultModelOf(provider, modelsOf)),
	);
	const ids = new Map<T, IdWords>(models.map((model) => [model, readIdWords(model.id)]));
	const isDated = (model: T) => ids.get(model)?.isDated === true;
	const compareIds = (a: string, b: string) => {
		collator ??= new Intl.Collator("en", { numeric: true });
		return collator.compare(a, b);
	};
	const isRetired = ({ retired }: KnownModel) => Number(retired === true);
	return [...models].sort(
		(a, b) =>
			isRetired(a) - isRetired(b) ||
			Number(usual.has(b)) - Number(usual.has(a)) ||
			providerRank(a) - providerRank(b) ||
			Number(isDated(a)) - Number(isDated(b)) ||
			compareIds(b.id, a.id),
	);
}

function providerRank({ provider }: Model<Api>): number {
	const rank = WELL_KNOWN_PROVIDERS.indexOf(provider);
	return rank === -1 ? WELL_KNOWN_PROVIDERS.length : rank;
}

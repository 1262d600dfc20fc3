import { builtInModels } from "./built-in-models.js";
import type { ModelLists } from "./model-lists.js";
import { applyModelList } from "./update/apply-list.js";
import { type ModelListFile, type ProviderUpdate, readModelList } from "./update/model-list-file.js";

const DAY_MS = 24 * 3_600_000;
const WEEK_MS = 7 * DAY_MS;

/** The list of models: the one that ships, with what updates have found since. */
export interface ModelList {
	lists: ModelLists;
	/** What the user's updates found. */
	file: ModelListFile;
	/** When the list that ships was made, ms since the epoch. */
	madeAt: number;
	/** The latest time at which a provider answered; null if none did since the list that ships. */
	updatedAt(): number | null;
	/** The providers that the latest update could not ask. */
	failed(): string[];
	/** When an update has to ask a provider again, ms since the epoch: a week after its answer, a day after a failure. */
	dueAt(provider: string): number;
}

/** The catalog counts for a provider that cannot be asked, but not for one that failed. */
function answeredAt({ provider, catalog, failedAt }: ProviderUpdate): number {
	return provider?.updatedAt ?? (failedAt === null ? catalog?.updatedAt : undefined) ?? 0;
}

/** Reads the list. Never throws: see `readModelList`. @param path of model-list.json */
export function loadModelList(path: string): ModelList {
	const { lists, madeAt } = builtInModels();
	const file = readModelList(path);
	return {
		lists: applyModelList(lists, madeAt, file),
		file,
		madeAt,
		updatedAt() {
			const last = Math.max(0, ...file.providers.map((provider) => answeredAt(file.of(provider))));
			return last > madeAt ? last : null;
		},
		failed: () => file.providers.filter((provider) => file.of(provider).failedAt !== null),
		dueAt(provider) {
			const update = file.of(provider);
			return update.failedAt === null ? Math.max(madeAt, answeredAt(update)) + WEEK_MS : update.failedAt + DAY_MS;
		},
	};
}

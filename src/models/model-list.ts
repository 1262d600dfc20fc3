import { builtInModels } from "./built-in-models.js";
import type { ModelLists } from "./model-lists.js";
import { applyModelList } from "./update/apply-list.js";
import { type ModelListFile, readModelList } from "./update/model-list-file.js";

/** The list of models: the one that ships, with what updates have found since. */
export interface ModelList {
	lists: ModelLists;
	/** What the user's updates found. */
	file: ModelListFile;
	/** When the list that ships was made, ms since the epoch. */
	madeAt: number;
	/** The latest update; null if there was none since the list that ships. */
	updatedAt(): number | null;
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
			const times = file.providers.flatMap((provider) => file.of(provider).provider ?? file.of(provider).catalog ?? []);
			const last = Math.max(0, ...times.map(({ updatedAt }) => updatedAt));
			return last > madeAt ? last : null;
		},
	};
}

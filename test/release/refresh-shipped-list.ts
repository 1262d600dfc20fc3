import { libraryModels } from "../../src/models/built-in-models.js";
import { askCatalog } from "../../src/models/update/ask-catalog.js";
import { catalogDifference } from "../../src/models/update/difference.js";
import { type ProviderUpdate, saveModelList } from "../../src/models/update/model-list-file.js";

/** Time limit of the catalog, ms. */
const TIME_LIMIT_MS = 60_000;

/**
 * Writes what the catalog knows and the list of pi-ai does not, in the format of model-list.json.
 * @param path the file, which is replaced
 * @returns a line for each provider that the catalog knows
 * @throws Error that says why there is no catalog; the file is unchanged then
 */
export async function refreshShippedList(url: string, path: string): Promise<string[]> {
	const { lists, madeAt } = libraryModels();
	const catalog = await askCatalog(url, lists.providers, AbortSignal.timeout(TIME_LIMIT_MS));
	const now = Date.now();
	const lines: string[] = [];
	const updates = new Map<string, Partial<ProviderUpdate>>();
	for (const [provider, { models, dropped }] of catalog) {
		const shipped = { models: lists.of(provider), madeAt };
		const part = catalogDifference(models, shipped, null, now);
		updates.set(provider, { catalog: part });
		const added = [...part.models.keys()].filter((id) => !lists.find(provider, id));
		lines.push(
			`${provider}: ${added.length} new, ${part.models.size - added.length} with other facts, ${dropped} ignored`,
		);
	}
	await saveModelList(path, updates);
	return lines;
}

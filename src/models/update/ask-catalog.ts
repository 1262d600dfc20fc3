import type { JsonObject } from "../../config/json-file.js";
import { isRecord } from "../../util/is-record.js";
import {
	known,
	type ListedModel,
	type ListedModels,
	limitModels,
	readCost,
	readCount,
	readDay,
	readId,
	readInput,
	readName,
	readPrice,
} from "./listed-model.js";
import { readAnswer } from "./read-answer.js";

/** Providers that the catalog calls differently. */
const CATALOG_NAMES: Readonly<Record<string, string>> = {
	"azure-openai-responses": "azure",
	fireworks: "fireworks-ai",
	"kimi-coding": "kimi-for-coding",
	together: "togetherai",
	"vercel-ai-gateway": "vercel",
};

/**
 * Asks the catalog for the models of providers.
 * @param url such as https://models.dev/api.json
 * @throws Error with one line that says why there is no catalog
 */
export async function askCatalog(
	url: string,
	providers: readonly string[],
	signal: AbortSignal,
): Promise<ReadonlyMap<string, ListedModels>> {
	const { answer } = await readAnswer({ url, signal });
	return readCatalog(answer, providers);
}

/** Reads an answer of the catalog: providers by name, and their models by id. @throws Error if it knows none of them */
export function readCatalog(answer: JsonObject, providers: readonly string[]): ReadonlyMap<string, ListedModels> {
	const found = providers.flatMap((provider): [string, ListedModels][] => {
		const name = Object.hasOwn(CATALOG_NAMES, provider) ? (CATALOG_NAMES[provider] ?? provider) : provider;
		const entry = Object.hasOwn(answer, name) ? answer[name] : undefined;
		if (!isRecord(entry) || !isRecord(entry.models)) return [];
		const read = Object.entries(entry.models).map(([id, model]) => (isRecord(model) ? readModel(id, model) : null));
		const models = read.filter((model) => model !== null);
		const ids = models.map(({ id }) => id);
		return [[provider, { ...limitModels(models), ids, dropped: read.length - models.length, isComplete: true }]];
	});
	if (found.length === 0) throw new Error("the catalog contains no provider that pi knows");
	return new Map(found);
}

function readModel(key: string, model: JsonObject): ListedModel | null {
	const id = readId(key);
	if (id === undefined) return null;
	const limit = isRecord(model.limit) ? model.limit : {};
	const cost = isRecord(model.cost) ? model.cost : {};
	const modalities = isRecord(model.modalities) ? model.modalities : {};
	const facts = known({
		name: readName(model.name),
		contextWindow: readCount(limit.context),
		maxTokens: readCount(limit.output),
		reasoning: typeof model.reasoning === "boolean" ? model.reasoning : undefined,
		tools: typeof model.tool_call === "boolean" ? model.tool_call : undefined,
		input: readInput(modalities.input),
		cost: readCost({
			input: readPrice(cost.input),
			output: readPrice(cost.output),
			cacheRead: readPrice(cost.cache_read),
			cacheWrite: readPrice(cost.cache_write),
		}),
		released: readDay(model.release_date),
	});
	return { id, facts };
}

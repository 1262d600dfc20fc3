import { type JsonObject, readJsonObject, updateJsonFile } from "../../config/json-file.js";
import { describeError } from "../../errors.js";
import { isRecord } from "../../util/is-record.js";
import {
	type ListedFacts,
	readCost,
	readCount,
	readDay,
	readId,
	readInput,
	readName,
	readPrice,
} from "./listed-model.js";

/** What one source knows about the models of a provider that the list that ships does not. */
export interface UpdatePart {
	/** ms since the epoch. */
	updatedAt: number;
	/** New models, and changed facts of others, by id. */
	models: ReadonlyMap<string, ListedFacts>;
	/** Ids that the provider does not list anymore. */
	retired: readonly string[];
}

/** What is known of the models of a provider besides the list that ships; null: never asked. */
export interface ProviderUpdate {
	provider: UpdatePart | null;
	catalog: UpdatePart | null;
	/** When the latest update could not ask the provider, ms since the epoch; null if it could. */
	failedAt: number | null;
}

/** The content of model-list.json. Providers are checked when they are first read. */
export interface ModelListFile {
	path: string;
	/** The names of the providers in the file. */
	providers: readonly string[];
	of(provider: string): ProviderUpdate;
	/** Why the file is not used, as one line. */
	warning: string | null;
}

const VERSION = 1;
const NOTHING: ProviderUpdate = { provider: null, catalog: null, failedAt: null };

/** Reads model-list.json. Never throws: a missing file is empty, and so is one that cannot be used. */
export function readModelList(path: string): ModelListFile {
	try {
		const file = readJsonObject(path);
		if (file === null) return toModelList(path, {});
		if (file.version !== VERSION || !isRecord(file.providers))
			return { ...toModelList(path, {}), warning: `${path} has an unknown format; ignored · run pi models update` };
		return toModelList(path, file.providers);
	} catch (error) {
		const reason = describeError(error).split(" · ")[0];
		return { ...toModelList(path, {}), warning: `${reason}; ignored · run pi models update to replace it` };
	}
}

function toModelList(path: string, providers: JsonObject): ModelListFile {
	const checked = new Map<string, ProviderUpdate>();
	return {
		path,
		providers: Object.keys(providers),
		of(provider) {
			const entry = Object.hasOwn(providers, provider) ? providers[provider] : undefined;
			const found = checked.get(provider) ?? (isRecord(entry) ? readUpdate(entry) : NOTHING);
			checked.set(provider, found);
			return found;
		},
		warning: null,
	};
}

/** Stores what an update found; the parts of other providers and sources stay. @throws PiError `config_write_failed` */
export async function saveModelList(
	path: string,
	updates: ReadonlyMap<string, Partial<ProviderUpdate>>,
): Promise<void> {
	const change = (current: JsonObject): JsonObject => {
		const old = current.version === VERSION && isRecord(current.providers) ? current.providers : {};
		const providers = new Map(Object.entries(old));
		for (const [provider, { provider: own, catalog, failedAt = null }] of updates) {
			const known = providers.get(provider);
			const { failedAt: _, ...kept } = isRecord(known) ? known : {};
			providers.set(provider, {
				...kept,
				...(own && { provider: writePart(own) }),
				...(catalog && { catalog: writePart(catalog) }),
				...(failedAt !== null && { failedAt: new Date(failedAt).toISOString() }),
			});
		}
		return { version: VERSION, providers: Object.fromEntries(providers) };
	};
	await updateJsonFile(path, change, { replacesUnreadable: true });
}

function writePart({ updatedAt, models, retired }: UpdatePart): JsonObject {
	return {
		updatedAt: new Date(updatedAt).toISOString(),
		models: Object.fromEntries(models),
		...(retired.length > 0 && { retired }),
	};
}

function readUpdate({ provider, catalog, failedAt }: JsonObject): ProviderUpdate {
	return { provider: readPart(provider), catalog: readPart(catalog), failedAt: readTime(failedAt) };
}

function readTime(text: unknown): number | null {
	const time = typeof text === "string" ? Date.parse(text) : Number.NaN;
	return Number.isNaN(time) ? null : time;
}

function readPart(part: unknown): UpdatePart | null {
	const updatedAt = isRecord(part) ? readTime(part.updatedAt) : null;
	if (!isRecord(part) || updatedAt === null) return null;
	const models = Object.entries(isRecord(part.models) ? part.models : {}).flatMap(([key, facts]) => {
		const id = readId(key);
		return id !== undefined && isRecord(facts) ? [[id, readFacts(facts)] as const] : [];
	});
	const retired = Array.isArray(part.retired) ? part.retired.flatMap((id) => readId(id) ?? []) : [];
	return { updatedAt, models: new Map(models), retired };
}

/** Assigns each fact by itself: the usual helpers would take longer than the rest of the start with hundreds of models. */
function readFacts({
	name,
	contextWindow,
	maxTokens,
	reasoning,
	tools,
	input,
	cost,
	released,
	relative,
}: JsonObject): ListedFacts {
	const facts: ListedFacts = {};
	const [readable, window, reply, kinds] = [
		readName(name),
		readCount(contextWindow),
		readCount(maxTokens),
		readInput(input),
	];
	if (readable !== undefined) facts.name = readable;
	if (window !== undefined) facts.contextWindow = window;
	if (reply !== undefined) facts.maxTokens = reply;
	if (typeof reasoning === "boolean") facts.reasoning = reasoning;
	if (typeof tools === "boolean") facts.tools = tools;
	if (kinds !== undefined) facts.input = kinds;
	const prices = isRecord(cost) ? readStoredCost(cost) : undefined;
	if (prices !== undefined) facts.cost = prices;
	const day = readDay(released);
	if (day !== undefined) facts.released = day;
	const near = readId(relative);
	if (near !== undefined) facts.relative = near;
	return facts;
}

function readStoredCost({ input, output, cacheRead, cacheWrite }: JsonObject): ListedFacts["cost"] {
	return readCost({
		input: readPrice(input),
		output: readPrice(output),
		cacheRead: readPrice(cacheRead),
		cacheWrite: readPrice(cacheWrite),
	});
}

import { errorText } from "../../errors.js";
import { withTimeLimit } from "../../util/abort.js";
import type { BuiltInModels } from "../built-in-models.js";
import { defaultModelOf } from "../default-model.js";
import type { KnownModel } from "../model-facts.js";
import type { ModelList } from "../model-list.js";
import { applyUpdate } from "./apply-list.js";
import { askCatalog } from "./ask-catalog.js";
import { askWithKey, type NoAnswer, type ProviderAccess, TIME_LIMIT_MS } from "./ask-provider.js";
import { catalogDifference, providerDifference, type ShippedList } from "./difference.js";
import type { ListedModels } from "./listed-model.js";
import { type ProviderUpdate, saveModelList } from "./model-list-file.js";

export interface UpdateOptions extends ProviderAccess {
	/** The list before the update. */
	list: ModelList;
	/** The list that ships. */
	builtIn: BuiltInModels;
	/** Address of the catalog. */
	catalog: string;
	/** Default: the providers that ship with pi and have a key. */
	only?: readonly string[] | undefined;
	/** Called with each provider when its answer has arrived, with the number of those that are still asked. */
	onProgress?(report: ProviderReport, left: number): void;
}

/** What an update found out about one provider. */
export type ProviderReport = UpdatedProvider | UnaskedProvider;

/** A provider that listed its models. */
export interface UpdatedProvider {
	provider: string;
	state: "updated";
	/** Ids that pi did not know before. */
	added: string[];
	/** Ids that the provider does not list anymore, and pi did not know that. */
	retired: string[];
	/** Number of listed models with other windows or prices. */
	changed: number;
	/** Number of entries that no model can have. */
	dropped: number;
	/** Number of models beyond those that pi reads. */
	omitted: number;
}

/** A provider without an answer. */
export interface UnaskedProvider extends NoAnswer {
	provider: string;
}

/** What the catalog contains about the providers of an update. */
export interface CatalogReport {
	/** Number of models with windows, prices or dates. */
	models: number;
	/** Providers that it does not contain. */
	missing: string[];
}

/** What an update did. */
export interface UpdateReport {
	/** In the order of the providers. */
	providers: ProviderReport[];
	/** Why the catalog gave nothing; null if it answered. */
	catalogFailure: string | null;
	/** What the catalog knows about the providers; null if it failed. */
	catalog: CatalogReport | null;
	/** True if model-list.json was written. */
	isSaved: boolean;
}

type Answer = { listed: ListedModels } | NoAnswer;

/** The providers that an update asks: those that ship with pi and have a key. */
export function updatableProviders({
	registry,
	credentials,
	builtIn,
}: Pick<UpdateOptions, "registry" | "credentials" | "builtIn">): string[] {
	const shipped = new Set(builtIn.lists.providers);
	return registry.providers.filter((provider) => {
		const state = credentials.keyState(provider);
		const isOwn = !shipped.has(provider) || credentials.hookOf(provider) !== undefined;
		return !isOwn && (state === "key" || state === "login");
	});
}

/**
 * Asks the providers and the catalog for their models, all at the same time, and writes what differs from the list that ships
 * to model-list.json. What fails is named and keeps its old part. The lists in memory do not change.
 * @throws PiError `config_write_failed`
 */
export async function updateModels(options: UpdateOptions): Promise<UpdateReport> {
	const { list, builtIn, network, signal, catalog: url, timeLimitMs = TIME_LIMIT_MS } = options;
	const providers = options.only ?? updatableProviders(options);
	let left = providers.length;
	const asked = providers.map(async (provider) => {
		const answer = await ask(provider, options);
		left--;
		options.onProgress?.(reportOf(provider, answer, null, options), left);
		return answer;
	});
	const [catalog, ...answers] = await Promise.all([
		network
			.run(() => withTimeLimit(timeLimitMs, [signal], (limited) => askCatalog(url, providers, limited)))
			.catch((error: unknown) => errorText(error)),
		...asked,
	]);
	const now = Date.now();
	const updates = new Map<string, Partial<ProviderUpdate>>();
	const reports = providers.map((provider, index): ProviderReport => {
		const answer = answers[index] ?? { state: "failed", reason: "no answer" };
		const shipped = shippedList(provider, builtIn);
		const offered = "listed" in answer ? answer.listed.ids : null;
		// Of a provider that cannot be asked, an empty part says when the catalog was.
		const unknown = "listed" in answer ? undefined : [];
		const cataloged = typeof catalog === "string" ? undefined : (catalog.get(provider)?.models ?? unknown);
		const update: Partial<ProviderUpdate> = {
			...("listed" in answer && {
				provider: providerDifference(answer.listed, shipped, list.file.of(provider).provider, now),
			}),
			...(cataloged && { catalog: catalogDifference(cataloged, shipped, offered, now) }),
			...(isFailure(answer, catalog) && { failedAt: now }),
		};
		if (Object.keys(update).length > 0) updates.set(provider, update);
		return reportOf(provider, answer, { ...list.file.of(provider), ...update }, options);
	});
	if (signal?.aborted) signal.throwIfAborted();
	if (updates.size > 0) await saveModelList(list.file.path, updates);
	return {
		providers: reports,
		catalogFailure: typeof catalog === "string" ? catalog : null,
		catalog: typeof catalog === "string" ? null : reportCatalog(catalog, providers),
		isSaved: updates.size > 0,
	};
}

function reportCatalog(catalog: ReadonlyMap<string, ListedModels>, providers: readonly string[]): CatalogReport {
	const lists = [...catalog.values()];
	return {
		models: lists.reduce((sum, { models }) => sum + models.length, 0),
		missing: providers.filter((provider) => !catalog.has(provider)),
	};
}

/** Nothing could be learned about the provider, which is asked again sooner. */
function isFailure(answer: Answer, catalog: unknown): boolean {
	if ("listed" in answer) return false;
	return answer.state === "failed" || typeof catalog === "string";
}

async function ask(provider: string, options: UpdateOptions): Promise<Answer> {
	if (!options.builtIn.lists.providers.includes(provider))
		return { state: "not_asked", reason: "you define its models" };
	return askWithKey(provider, options);
}

function shippedList(provider: string, { lists, madeAt }: BuiltInModels): ShippedList {
	return { models: lists.of(provider), madeAt, usual: defaultModelOf(provider, (name) => lists.of(name)) };
}

/** @param update what is known now; null while the catalog is still asked */
function reportOf(
	provider: string,
	answer: Answer,
	update: ProviderUpdate | null,
	{ list, builtIn }: Pick<UpdateOptions, "list" | "builtIn">,
): ProviderReport {
	if (!("listed" in answer)) return { provider, ...answer };
	const before = new Map<string, KnownModel>(list.lists.of(provider).map((model) => [model.id, model]));
	const shipped = shippedList(provider, builtIn);
	const now = Date.now();
	const known = update ?? {
		provider: providerDifference(answer.listed, shipped, list.file.of(provider).provider, now),
		catalog: null,
		failedAt: null,
	};
	const after = applyUpdate(shipped.models, shipped.madeAt, known);
	const isChanged = (model: KnownModel) => {
		const old = before.get(model.id);
		if (!old) return false;
		return old.contextWindow !== model.contextWindow || JSON.stringify(old.cost) !== JSON.stringify(model.cost);
	};
	const wasRetired = ({ id }: KnownModel) => before.get(id)?.retired === true;
	const isRetired = ({ retired }: KnownModel) => retired === true;
	return {
		provider,
		state: "updated",
		added: after.filter(({ id }) => !before.has(id)).map(({ id }) => id),
		retired: after.filter((model) => isRetired(model) && !wasRetired(model)).map(({ id }) => id),
		changed: after.filter(isChanged).length,
		dropped: answer.listed.dropped,
		omitted: answer.listed.omitted,
	};
}

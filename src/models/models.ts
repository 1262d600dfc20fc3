import type { Api, Model } from "@mariozechner/pi-ai";
import type { Settings } from "../config/settings-schema.js";
import { PiError } from "../errors.js";
import { nearest } from "../util/nearest.js";
import { builtInModels } from "./built-in-models.js";
import type { Credentials } from "./credentials.js";
import { defaultModelOf, recentModels, WELL_KNOWN_PROVIDERS } from "./default-model.js";
import { findByWords, findNamed, type ResolvedModel, type SearchedModels } from "./find-named.js";
import { applyProviders, mergeModels } from "./merge-models.js";
import type { KnownModel } from "./model-facts.js";
import { ModelLists } from "./model-lists.js";
import { findGlob, modelName, readPatterns } from "./model-match.js";
import type { CustomProvider, ModelsFile } from "./models-file.js";
import { assumeModel, nearestRelative } from "./nearest-relative.js";
import { nearestNames, unknownModel, withProblem } from "./unknown-model.js";

export type { ResolvedModel } from "./find-named.js";
export { modelName } from "./model-match.js";

/** The model to start with, and the reason for it. */
export interface DefaultModel {
	model: Model<Api>;
	source: "settings" | "last_used" | "preferred";
	/** Shown to the user: the settings name a model that does not exist. */
	warning?: string;
}

/** Sources of the default model. */
export interface DefaultModelSources {
	settings: Pick<Settings, "defaultProvider" | "defaultModel">;
	/** The model of the latest session. */
	lastUsed?: { provider: string; modelId: string } | null;
}

/**
 * Loads the models that ship with pi, those of updates and of models.json. Problems in the file are added to
 * `ModelRegistry.warnings`.
 * @param lists the models without those of models.json
 */
export async function loadModels(
	file: ModelsFile,
	credentials: Credentials,
	lists: ModelLists = builtInModels().lists,
): Promise<ModelRegistry> {
	const { models, ...facts } = mergeModels(lists, file);
	const registry = new ModelRegistry(models, credentials, facts);
	await registry.refresh();
	return registry;
}

/** What a registry knows besides its models. */
export interface RegistryFacts {
	/** Problems in models.json, one line each. */
	warnings?: readonly string[];
	/** Whether the price of a model is known; the price of others is stored as 0. */
	isPriced?(model: Model<Api>): boolean;
	/** Applies models.json to a model that is registered later. */
	adapt?(model: Model<Api>): Model<Api>;
}

/** All known models, and those with a key. */
export class ModelRegistry {
	#models: ModelLists;
	/** As they were before models.json was applied to them. */
	#registered = new ModelLists();
	readonly #credentials: Credentials;
	readonly #facts: RegistryFacts;

	constructor(models: ModelLists, credentials: Credentials, facts: RegistryFacts = {}) {
		this.#models = models;
		this.#credentials = credentials;
		this.#facts = facts;
	}

	/** Problems in models.json, one line each. */
	get warnings(): readonly string[] {
		return this.#facts.warnings ?? [];
	}

	/** All models, grouped by provider. Prefer other members during the start: this reads the lists of all providers. */
	all(): readonly Model<Api>[] {
		return this.#models.all();
	}

	/** The names of all providers. */
	get providers(): readonly string[] {
		return this.#models.providers;
	}

	/** Whether the price of a model is known; the price of others is stored as 0. */
	isPriced(model: KnownModel): boolean {
		if (model.assumed) return false;
		return this.#facts.isPriced?.(model) ?? true;
	}

	/** Models whose provider has a key or needs none. */
	availableModels(): Model<Api>[] {
		return this.providers
			.filter((provider) => this.#credentials.hasKey(provider))
			.flatMap((provider) => this.#models.of(provider));
	}

	/**
	 * The models of providers with a key between which Ctrl+P switches: the recent ones for general use of each provider that ships
	 * with pi, and all that models.json, hooks and servers on this machine add.
	 */
	recentModels(): Model<Api>[] {
		const shipped = builtInModels().lists;
		const isAdded = ({ provider, id, relative }: KnownModel) =>
			relative === undefined && shipped.find(provider, id) === undefined;
		return this.providers
			.filter((provider) => this.#credentials.hasKey(provider))
			.flatMap((provider) => {
				const recent = new Set(recentModels(provider, (name) => this.#models.of(name)));
				return this.#models.of(provider).filter((model) => recent.has(model) || isAdded(model));
			});
	}

	/** Models that were registered, before models.json was applied to them. */
	get registered(): readonly Model<Api>[] {
		return this.#registered.all();
	}

	/**
	 * Adds models, such as those of local servers; each replaces the model with the same provider and id, as models.json
	 * changes it.
	 */
	registerModels(models: readonly Model<Api>[]): void {
		this.#registered = this.#registered.with(models);
		this.#models = this.#models.with(models.map((model) => this.#facts.adapt?.(model) ?? model));
	}

	/** Adds the models of providers until the files are read again, with which their keys become known. */
	addProviders(providers: readonly CustomProvider[]): void {
		this.#models = applyProviders(this.#models, providers);
	}

	/** Lets logins adapt the models of their provider again, after `/login`. */
	async refresh(): Promise<void> {
		const adapted = await this.#credentials.adaptModels(() => this.all());
		if (adapted) this.#models = new ModelLists().with(adapted);
	}

	findModel(provider: string, id: string): Model<Api> | undefined {
		return this.#models.find(provider, id);
	}

	/**
	 * A model that the settings, a session or a program names: if pi's list lacks it, it is added with the facts of its
	 * nearest relative, so that an id works on the day it appears.
	 * @returns undefined if the provider is unknown, has no key, or says itself which models it has, as local servers do
	 */
	findOrAssume(provider: string, id: string): Model<Api> | undefined {
		return this.findModel(provider, id) ?? this.#assume(provider, id);
	}

	#assume(provider: string, id: string, { needsKey = true } = {}): Model<Api> | undefined {
		const state = this.#credentials.keyState(provider);
		const isAsked = state === "local" || this.#credentials.hookOf(provider) !== undefined;
		if ((needsKey && state === "none") || isAsked || !PLAIN_ID.test(id)) return undefined;
		// The facts of another unlisted model are those of its relative.
		const listed = this.#models.of(provider).filter(({ assumed }: KnownModel) => !assumed);
		const relative = nearestRelative(id, listed, this.bestOf(provider));
		if (!relative) return undefined;
		this.registerModels([assumeModel(id, relative)]);
		return this.findModel(provider, id);
	}

	/**
	 * Finds the model that a user named: `provider/id`, an id, or words of its name. A suffix such as `:high` sets the
	 * thinking level. Models with a key are preferred. Of a named provider with a key, an unknown id is accepted too: see
	 * `findOrAssume`.
	 * @param options `listHint`: tells how to list all models. Default: on the command line
	 * @throws PiError `model_unknown`; the hint lists similar names
	 */
	resolveModelSpec(
		spec: string,
		{ provider, listHint }: { provider?: string; listHint?: string | undefined } = {},
	): ResolvedModel {
		const within = provider === undefined ? undefined : this.ofProvider(provider);
		const found = this.#matchName(spec, within);
		if (found) return found;
		if (provider !== undefined) {
			const other = findNamed(readPatterns(spec), this.#searched)?.model.provider;
			if (other !== undefined) {
				const hint = `it is a model of ${other}: omit --provider, or choose --provider ${other}`;
				throw new PiError("model_unknown", `Provider ${provider} has no model ${JSON.stringify(spec)}`, { hint });
			}
		}
		const assumed = this.#assumeNamed(spec, provider);
		if (assumed) return assumed;
		if (provider === undefined)
			throw this.#unknownModel(`No model ${JSON.stringify(spec)}`, spec, this.all(), listHint);
		const message = `Provider ${provider} has no model ${JSON.stringify(spec)}`;
		throw this.#unknownModel(message, spec, within ?? [], listHint);
	}

	/** The models of a provider. @throws PiError `model_unknown` if it has none; the hint lists similar names */
	ofProvider(provider: string): readonly Model<Api>[] {
		const models = this.#models.of(provider);
		if (models.length > 0) return models;
		throw unknownModel(`No provider ${JSON.stringify(provider)}`, {
			names: nearest(provider, this.providers),
			problem: this.warnings[0],
		});
	}

	/**
	 * Checks patterns as `matchModels` reads them. @returns warnings about patterns without a usable model
	 * @throws PiError `model_unknown` if no pattern matches a known model
	 */
	checkPatterns(patterns: readonly string[]): string[] {
		const { unmatched } = this.matchModels(patterns);
		const unknown = unmatched.filter((pattern) =>
			readPatterns(pattern).every(({ name }) => findGlob(this.all(), name).length === 0),
		);
		if (patterns.length > 0 && unknown.length === patterns.length) {
			const names = unknown.map((pattern) => JSON.stringify(pattern)).join(", ");
			throw unknownModel(`No model matches --models ${names}`, { names: [], problem: this.warnings[0] });
		}
		return unmatched.map((pattern) => {
			const why = unknown.includes(pattern) ? "matches no model" : "matches only models without a key";
			return `--models ${JSON.stringify(pattern)} ${why}`;
		});
	}

	/**
	 * Finds models by patterns, each once and in the order of the patterns. Globs match `provider/id` and id of the usable
	 * models, others are resolved as in `resolveModelSpec`. A suffix such as `:high` sets the thinking level.
	 * @returns `unmatched`: patterns without a match
	 */
	matchModels(patterns: readonly string[]): { models: ResolvedModel[]; unmatched: string[] } {
		const models = new Map<string, ResolvedModel>();
		const unmatched: string[] = [];
		for (const pattern of patterns) {
			const isGlob = /[*?]/.test(pattern);
			const found = isGlob
				? this.#matchGlob(pattern)
				: [this.#matchName(pattern) ?? this.#assumeNamed(pattern) ?? []].flat();
			if (found.length === 0) unmatched.push(pattern);
			for (const resolved of found) {
				const name = modelName(resolved.model);
				if (!models.has(name)) models.set(name, resolved);
			}
		}
		return { models: [...models.values()], unmatched };
	}

	/**
	 * The model to start with: that of the settings, or the last used, or the best of the first provider with a key. If the
	 * settings name only a provider, the last used model of that provider is preferred.
	 * @throws PiError `model_missing`; the hint names the ways to set one up
	 */
	defaultModel({ settings, lastUsed = null }: DefaultModelSources): DefaultModel {
		const last = lastUsed && this.findOrAssume(lastUsed.provider, lastUsed.modelId);
		const isUsable = last && this.#credentials.hasKey(last.provider);
		const isAllowed =
			settings.defaultModel === undefined && (settings.defaultProvider ?? last?.provider) === last?.provider;
		if (isUsable && isAllowed) return { model: last, source: "last_used" };
		const { model: chosen, warning } = this.#fromSettings(settings);
		if (chosen) return { model: chosen, source: "settings" };
		if (isUsable) return { model: last, source: "last_used", ...(warning && { warning }) };
		const model = this.#preferred();
		if (!model) throw this.describeMissingModel(warning);
		const gone = lastUsed && settings.defaultProvider === undefined && this.describeReplaced(lastUsed, model);
		const problem = warning ?? gone;
		return { model, source: "preferred", ...(problem && { warning: problem }) };
	}

	/** Tells the user that a model that was used before is not available. @param by the model used now */
	describeReplaced({ provider, modelId }: { provider: string; modelId: string }, by: Model<Api> | null): string {
		const why = this.findModel(provider, modelId) ? "has no key" : "is gone";
		const now = by ? `; using ${modelName(by)}` : "";
		return withProblem(`${provider}/${modelId} ${why}${now}`, this.warnings[0], "last");
	}

	/** The error for a missing model, with every way to set one up. The start has reported what is wrong with models.json. */
	describeMissingModel(message = "No model is set up"): PiError {
		const [unset] = this.#credentials.missingVariables();
		const name = unset && `set ${unset.variable}, from which ${unset.source} reads the key of ${unset.provider}, or `;
		const fix = this.warnings.length > 0 ? "fix models.json, " : (name ?? "");
		return new PiError("model_missing", message, {
			hint: `${fix}set ANTHROPIC_API_KEY, OPENAI_API_KEY or another provider's key, run /setup in pi, start a local server such as Ollama, or try pi --demo`,
		});
	}

	#fromSettings({ defaultProvider, defaultModel }: DefaultModelSources["settings"]): {
		model?: Model<Api>;
		warning?: string;
	} {
		if (defaultProvider !== undefined && !this.providers.includes(defaultProvider)) {
			const warning = `settings.json names an unknown provider: ${defaultProvider}`;
			return { warning: withProblem(warning, this.warnings[0], "last") };
		}
		if (defaultModel === undefined) {
			const model = defaultProvider === undefined ? undefined : this.bestOf(defaultProvider);
			return model ? { model } : {};
		}
		const named = defaultProvider === undefined ? defaultModel : `${defaultProvider}/${defaultModel}`;
		const found = findNamed([{ name: named }, { name: defaultModel }], this.#searched)?.model;
		const model = found ?? this.#assumeNamed(defaultModel, defaultProvider)?.model;
		return model ? { model } : { warning: `settings.json names an unknown model: ${named}` };
	}

	/** Where names are searched. */
	get #searched(): SearchedModels {
		return {
			providers: this.providers,
			of: (provider) => this.#models.of(provider),
			hasKey: (provider) => this.#credentials.hasKey(provider),
		};
	}

	/**
	 * An id of a named provider that no list has, even without a key: the first request then says which key is missing.
	 * @returns undefined if no provider is named
	 */
	assumeWithoutKey(spec: string, provider?: string): ResolvedModel | undefined {
		return this.#assumeNamed(spec, provider, { needsKey: false });
	}

	/** A model of a provider that is named, as an option or before the id. */
	#assumeNamed(spec: string, provider?: string, { needsKey = true } = {}): ResolvedModel | undefined {
		const { name = spec, thinkingLevel } = readPatterns(spec).at(-1) ?? {};
		const isPrefix = (candidate: string) => name.toLowerCase().startsWith(`${candidate.toLowerCase()}/`);
		const prefix = this.providers.find((candidate) => candidate === (provider ?? candidate) && isPrefix(candidate));
		const named = provider ?? prefix;
		const id = prefix === undefined ? name : name.slice(prefix.length + 1);
		if (named === undefined) return undefined;
		const model = this.findModel(named, id) ?? this.#assume(named, id, { needsKey });
		return model && { model, ...(thinkingLevel && { thinkingLevel }) };
	}

	#preferred(): Model<Api> | undefined {
		const others = this.providers.filter((provider) => !WELL_KNOWN_PROVIDERS.includes(provider));
		for (const provider of [...WELL_KNOWN_PROVIDERS, ...others]) {
			const best = this.#isChosen(provider) ? this.bestOf(provider) : undefined;
			if (best) return best;
		}
		return undefined;
	}

	/** Many machines have a GitHub token for other purposes, so a token alone does not select Copilot. */
	#isChosen(provider: string): boolean {
		const source = this.#credentials.keySource(provider);
		return source !== undefined && source !== "GH_TOKEN" && source !== "GITHUB_TOKEN";
	}

	/** The model that pi chooses when a provider is the only one with a key; undefined if the provider has no model. */
	bestOf(provider: string): Model<Api> | undefined {
		return defaultModelOf(provider, (name) => this.#models.of(name));
	}

	#matchGlob(pattern: string): ResolvedModel[] {
		for (const { name, thinkingLevel } of readPatterns(pattern)) {
			const found = findGlob(this.availableModels(), name);
			if (found.length > 0) return found.map((model) => ({ model, ...(thinkingLevel && { thinkingLevel }) }));
		}
		return [];
	}

	#matchName(spec: string, within?: readonly Model<Api>[]): ResolvedModel | undefined {
		const patterns = readPatterns(spec);
		return findNamed(patterns, this.#searched, { within }) ?? findByWords(patterns, this.#searched, { within });
	}

	#unknownModel(message: string, spec: string, all: readonly Model<Api>[], listHint?: string): PiError {
		const available = this.availableModels();
		const pool = available.length > 0 && all.some((model) => available.includes(model)) ? available : all;
		return unknownModel(message, {
			names: nearestNames(spec, pool, this.#searched),
			listHint,
			problem: this.warnings[0],
		});
	}
}

/** What an id can look like that pi's lists lack: no words of a search, and no control characters. */
const PLAIN_ID = /^[^\s\p{C}*?]{1,200}$/u;

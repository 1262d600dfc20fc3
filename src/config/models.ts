import type { Api, Model, ModelThinkingLevel } from "@mariozechner/pi-ai";
import { PiError } from "../errors.js";
import { nearest } from "../util/nearest.js";
import type { Credentials } from "./credentials.js";
import { provideModels } from "./find-model.js";
import { applyProviders, mergeModels, upsert } from "./merge-models.js";
import {
	byLikelihood,
	findExact,
	findFuzzy,
	findGlob,
	modelName,
	PREFERRED_MODELS,
	readPatterns,
} from "./model-match.js";
import type { CustomProvider, ModelsFile } from "./models-file.js";
import type { Settings } from "./settings-schema.js";

export { modelName } from "./model-match.js";

/** A model and, if the user named one with it, a thinking level. */
export interface ResolvedModel {
	model: Model<Api>;
	thinkingLevel?: ModelThinkingLevel;
}

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

/** Loads the models of pi-ai and models.json. Problems in the file are added to `ModelRegistry.warnings`. */
export async function loadModels(file: ModelsFile, credentials: Credentials): Promise<ModelRegistry> {
	const { getModels, getProviders } = await import("../util/pi-ai.js");
	const builtIn: Model<Api>[] = getProviders().flatMap((provider): Model<Api>[] => getModels(provider));
	provideModels(builtIn);
	const { models, warnings, unpriced, adapt } = mergeModels(builtIn, file);
	return new ModelRegistry(await credentials.adaptModels(models), credentials, warnings, unpriced, adapt);
}

/** All known models, and those with a key. */
export class ModelRegistry {
	#models: readonly Model<Api>[];
	#registered: readonly Model<Api>[] = [];
	readonly #credentials: Credentials;

	/**
	 * @param warnings problems in models.json, one line each
	 * @param unpriced names of the models whose price is unknown
	 * @param adapt applies models.json to a model that is registered later
	 */
	constructor(
		models: readonly Model<Api>[],
		credentials: Credentials,
		readonly warnings: readonly string[] = [],
		private readonly unpriced: ReadonlySet<string> = new Set(),
		private readonly adapt: (model: Model<Api>) => Model<Api> = (model) => model,
	) {
		this.#models = models;
		this.#credentials = credentials;
	}

	/** All models, grouped by provider. */
	all(): readonly Model<Api>[] {
		return this.#models;
	}

	/** Whether the price of a model is known; the price of others is stored as 0. */
	isPriced(model: Model<Api>): boolean {
		return !this.unpriced.has(modelName(model));
	}

	/** Models whose provider has a key or needs none. */
	availableModels(): Model<Api>[] {
		const usable = new Map<string, boolean>();
		return this.#models.filter(({ provider }) => {
			const known = usable.get(provider) ?? this.#credentials.hasKey(provider);
			usable.set(provider, known);
			return known;
		});
	}

	/** Models that were registered, before models.json was applied to them. */
	get registered(): readonly Model<Api>[] {
		return this.#registered;
	}

	/**
	 * Adds models, such as those of local servers; each replaces the model with the same provider and id, as models.json
	 * changes it.
	 */
	registerModels(models: readonly Model<Api>[]): void {
		this.#registered = upsert(this.#registered, models);
		this.#models = upsert(this.#models, models.map(this.adapt));
	}

	/** Adds the models of providers until the files are read again, with which their keys become known. */
	addProviders(providers: readonly CustomProvider[]): void {
		this.#models = applyProviders(this.#models, providers);
	}

	/** Lets logins adapt the models of their provider again, after `/login`. */
	async refresh(): Promise<void> {
		this.#models = await this.#credentials.adaptModels(this.#models);
	}

	findModel(provider: string, id: string): Model<Api> | undefined {
		return this.#models.find((model) => model.provider === provider && model.id === id);
	}

	/**
	 * Finds the model that a user named: `provider/id`, an id, or words of its name. A suffix such as `:high` sets the
	 * thinking level. Models with a key are preferred.
	 * @throws PiError `model_unknown`; the hint lists similar names
	 */
	resolveModelSpec(spec: string, { provider }: { provider?: string } = {}): ResolvedModel {
		const all = provider === undefined ? this.#models : this.ofProvider(provider);
		const [found] = this.#matchName(spec, all);
		if (found) return found;
		throw this.#unknownModel(spec, all);
	}

	/** The models of a provider. @throws PiError `model_unknown` if it has none; the hint lists similar names */
	ofProvider(provider: string): readonly Model<Api>[] {
		const models = this.#models.filter((model) => model.provider === provider);
		if (models.length > 0) return models;
		const providers = [...new Set(this.#models.map((model) => model.provider))];
		throw new PiError("model_unknown", `No provider ${JSON.stringify(provider)}`, {
			hint: this.#withProblem(nearHint(nearest(provider, providers))),
		});
	}

	/**
	 * Checks patterns as `matchModels` reads them. @returns warnings about patterns without a usable model
	 * @throws PiError `model_unknown` if no pattern matches a known model
	 */
	checkPatterns(patterns: readonly string[]): string[] {
		const { unmatched } = this.matchModels(patterns);
		const unknown = unmatched.filter((pattern) =>
			readPatterns(pattern).every(({ name }) => findGlob(this.#models, name).length === 0),
		);
		if (patterns.length > 0 && unknown.length === patterns.length) {
			const names = unknown.map((pattern) => JSON.stringify(pattern)).join(", ");
			throw new PiError("model_unknown", `No model matches --models ${names}`, {
				hint: this.#withProblem(nearHint([])),
			});
		}
		return unmatched.map((pattern) => {
			const why = unknown.includes(pattern) ? "matches no model" : "matches only models without a key";
			return `--models ${JSON.stringify(pattern)} ${why}`;
		});
	}

	/**
	 * Finds models by patterns, each once and in the order of the patterns. Globs match `provider/id` and id of the usable
	 * models, other patterns are resolved as in `resolveModelSpec`. A suffix such as `:high` sets the thinking level.
	 * @returns `unmatched`: patterns without a match
	 */
	matchModels(patterns: readonly string[]): { models: ResolvedModel[]; unmatched: string[] } {
		const models = new Map<string, ResolvedModel>();
		const unmatched: string[] = [];
		for (const pattern of patterns) {
			const found = /[*?]/.test(pattern) ? this.#matchGlob(pattern) : this.#matchName(pattern, this.#models);
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
		const last = lastUsed && this.findModel(lastUsed.provider, lastUsed.modelId);
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
		return this.#withProblem(`${provider}/${modelId} ${why}${now}`, "last");
	}

	/** The error for a missing model, with every way to set one up. The start has reported what is wrong with models.json. */
	describeMissingModel(message = "No model is set up"): PiError {
		const fix = this.warnings.length > 0 ? "fix models.json, " : "";
		return new PiError("model_missing", message, {
			hint: `${fix}set ANTHROPIC_API_KEY, OPENAI_API_KEY or another provider's key, run /setup in pi, start a local server such as Ollama, or try pi --demo`,
		});
	}

	#fromSettings({ defaultProvider, defaultModel }: DefaultModelSources["settings"]): {
		model?: Model<Api>;
		warning?: string;
	} {
		if (defaultModel === undefined) {
			const model = defaultProvider === undefined ? undefined : this.bestOf(defaultProvider);
			return model ? { model } : {};
		}
		const named = defaultProvider === undefined ? defaultModel : `${defaultProvider}/${defaultModel}`;
		const model = [named, defaultModel].flatMap((name) => this.#exact(name))[0];
		return model ? { model } : { warning: `settings.json names an unknown model: ${named}` };
	}

	#exact(name: string): Model<Api>[] {
		return findExact(this.#models, name).sort(
			(a, b) => Number(this.#credentials.hasKey(b.provider)) - Number(this.#credentials.hasKey(a.provider)),
		);
	}

	#preferred(): Model<Api> | undefined {
		const known = new Set(PREFERRED_MODELS.map(({ provider }) => provider));
		const others = new Set(this.#models.map(({ provider }) => provider).filter((provider) => !known.has(provider)));
		for (const provider of [...known, ...others]) {
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
		const ids = PREFERRED_MODELS.find((preferred) => preferred.provider === provider)?.ids ?? [];
		const preferred = ids.map((id) => this.findModel(provider, id)).find((model) => model !== undefined);
		return preferred ?? this.#models.find((model) => model.provider === provider);
	}

	#matchGlob(pattern: string): ResolvedModel[] {
		for (const { name, thinkingLevel } of readPatterns(pattern)) {
			const found = findGlob(this.availableModels(), name);
			if (found.length > 0) return found.map((model) => ({ model, ...(thinkingLevel && { thinkingLevel }) }));
		}
		return [];
	}

	/** @returns the best match, or an empty list */
	#matchName(spec: string, models: readonly Model<Api>[]): ResolvedModel[] {
		const usable = new Set(this.availableModels());
		const byUse = (a: Model<Api>, b: Model<Api>) => Number(usable.has(b)) - Number(usable.has(a)) || byLikelihood(a, b);
		for (const find of [findExact, findFuzzy]) {
			for (const { name, thinkingLevel } of readPatterns(spec)) {
				const [model] = find(models, name).sort(byUse);
				if (model) return [{ model, ...(thinkingLevel && { thinkingLevel }) }];
			}
		}
		return [];
	}

	#unknownModel(spec: string, all: readonly Model<Api>[]): PiError {
		const available = this.availableModels();
		const pool = available.length > 0 && all.some((model) => available.includes(model)) ? available : all;
		const name = readPatterns(spec).at(-1)?.name ?? spec;
		// In `gpt-5.5:hihg`, the part before the colon may be correct.
		const candidateNames = [name, name.slice(name.indexOf("/") + 1), name.replace(/:[^:]*$/, "")];
		const candidates = new Map(
			pool.flatMap((model) => [
				[modelName(model), modelName(model)],
				[model.id, modelName(model)],
			]),
		);
		const near = candidateNames
			.flatMap((word) => nearest(word, candidates.keys()))
			.flatMap((word) => candidates.get(word) ?? []);
		return new PiError("model_unknown", `No model ${JSON.stringify(spec)}`, {
			hint: this.#withProblem(nearHint([...new Set(near)].slice(0, 3))),
		});
	}

	/** Adds the first problem of models.json to a text about something that the file could have defined. */
	#withProblem(text: string, position: "first" | "last" = "first"): string {
		const [problem] = this.warnings;
		if (problem === undefined) return text;
		const broken = `models.json has a problem: ${problem.split(" · ")[0]}`;
		return position === "first" ? `${broken} · ${text}` : `${text} · ${broken}`;
	}
}

function nearHint(names: readonly string[]): string {
	return names.length === 0 ? "run pi --list-models to list all" : `did you mean ${names.join(", ")}?`;
}

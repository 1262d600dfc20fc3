import type { Api, Model, ModelThinkingLevel } from "@mariozechner/pi-ai";
import { PiError } from "../errors.js";
import { nearest } from "../util/nearest.js";
import type { Credentials } from "./credentials.js";
import { byLikelihood, findExact, findFuzzy, findGlob, modelName, readPatterns } from "./model-match.js";
import type { CustomModel, CustomProvider, ModelsFile } from "./models-file.js";
import { PREFERRED_MODELS } from "./preferred-models.js";
import type { Settings } from "./settings-schema.js";

export { modelName } from "./model-match.js";

/** A model and, when it was asked for with it, a thinking level. */
export interface ResolvedModel {
	model: Model<Api>;
	thinkingLevel?: ModelThinkingLevel;
}

/** The model to start with and who chose it. */
export interface DefaultModel {
	model: Model<Api>;
	source: "settings" | "last_used" | "preferred";
	/** A line for the user: the settings name a model that does not exist. */
	warning?: string;
}

/** What `loadModels` puts together. */
export interface ModelSources {
	file: ModelsFile;
	credentials: Credentials;
}

/** Where a default model may come from. */
export interface DefaultModelSources {
	settings: Pick<Settings, "defaultProvider" | "defaultModel">;
	/** The model of the latest session. */
	lastUsed?: { provider: string; modelId: string } | null;
}

/** Loads pi-ai's models and those of models.json. Problems of the file are in `warnings`. */
export async function loadModels({ file, credentials }: ModelSources): Promise<ModelRegistry> {
	const { getModels, getProviders } = await import("@mariozechner/pi-ai");
	const builtIn: Model<Api>[] = getProviders().flatMap((provider): Model<Api>[] => getModels(provider));
	const warnings = [...file.warnings];
	const models = file.providers.reduce((all, provider) => applyProvider(all, provider, file.path, warnings), builtIn);
	return new ModelRegistry(await credentials.adaptModels(models), credentials, warnings);
}

/** Every model that can be named, and which of them can be used. */
export class ModelRegistry {
	#models: readonly Model<Api>[];
	readonly #credentials: Credentials;
	/** What was wrong with models.json, a line each. */
	readonly warnings: readonly string[];

	constructor(models: readonly Model<Api>[], credentials: Credentials, warnings: readonly string[] = []) {
		this.#models = models;
		this.#credentials = credentials;
		this.warnings = warnings;
	}

	/** All models, by provider. */
	all(): readonly Model<Api>[] {
		return this.#models;
	}

	/** Models whose provider has a key, or needs none. */
	availableModels(): Model<Api>[] {
		const usable = new Map<string, boolean>();
		return this.#models.filter(({ provider }) => {
			const known = usable.get(provider) ?? this.#credentials.hasKey(provider);
			usable.set(provider, known);
			return known;
		});
	}

	/** Adds models (of the demo, of local servers); one with the same provider and id is replaced. */
	registerModels(models: readonly Model<Api>[]): void {
		this.#models = upsert(this.#models, models);
	}

	/** Lets logins adapt their models again, after `/login`. */
	async refresh(): Promise<void> {
		this.#models = await this.#credentials.adaptModels(this.#models);
	}

	findModel(provider: string, id: string): Model<Api> | undefined {
		return this.#models.find((model) => model.provider === provider && model.id === id);
	}

	/**
	 * The model that a user means: `provider/id`, an id, or words that occur in its name; `:high` behind it sets the
	 * thinking level. Among several, those with a key come first.
	 * @throws PiError `model_unknown` with the nearest names
	 */
	resolveModelSpec(spec: string, { provider }: { provider?: string } = {}): ResolvedModel {
		const all = provider === undefined ? this.#models : this.#models.filter((model) => model.provider === provider);
		if (provider !== undefined && all.length === 0) throw this.#unknownProvider(provider);
		const available = this.availableModels();
		const usable = new Set(available);
		for (const find of [findExact, findFuzzy]) {
			for (const { name, thinkingLevel } of readPatterns(spec)) {
				const found = find(all, name).sort(
					(a, b) => Number(usable.has(b)) - Number(usable.has(a)) || byLikelihood(a, b),
				);
				if (found[0]) return { model: found[0], ...(thinkingLevel && { thinkingLevel }) };
			}
		}
		throw unknownModel(spec, all, available);
	}

	/**
	 * The models that patterns name, in the order of the patterns, each once: globs over `provider/id` and id among the
	 * usable models, anything else as in `resolveModelSpec`. `:high` behind a pattern sets the level of its models.
	 * @returns also the patterns that match nothing
	 */
	matchModels(patterns: readonly string[]): { models: ResolvedModel[]; unmatched: string[] } {
		const models = new Map<string, ResolvedModel>();
		const unmatched: string[] = [];
		for (const pattern of patterns) {
			const found = /[*?]/.test(pattern) ? this.#matchGlob(pattern) : this.#matchName(pattern);
			if (found.length === 0) unmatched.push(pattern);
			for (const resolved of found) {
				const name = modelName(resolved.model);
				if (!models.has(name)) models.set(name, resolved);
			}
		}
		return { models: [...models.values()], unmatched };
	}

	/**
	 * The model to start with: the one of the settings, else the last used, else the best of the first provider that
	 * has a key.
	 * @throws PiError `model_missing` that says how to set one up
	 */
	defaultModel({ settings, lastUsed }: DefaultModelSources): DefaultModel {
		const { model: chosen, warning } = this.#fromSettings(settings);
		if (chosen) return { model: chosen, source: "settings" };
		const last = lastUsed ? this.findModel(lastUsed.provider, lastUsed.modelId) : undefined;
		const model = last && this.#credentials.hasKey(last.provider) ? last : undefined;
		if (model) return { model, source: "last_used", ...(warning && { warning }) };
		const preferred = this.#preferred();
		if (preferred) return { model: preferred, source: "preferred", ...(warning && { warning }) };
		throw this.describeMissingModel(warning);
	}

	/** Says that there is no model to use and every way to set one up. */
	describeMissingModel(message = "No model is set up"): PiError {
		return new PiError("model_missing", message, {
			hint: "set ANTHROPIC_API_KEY, OPENAI_API_KEY or another provider's key, run /setup in pi, start a local server such as Ollama, or try pi --demo",
		});
	}

	#fromSettings({ defaultProvider, defaultModel }: DefaultModelSources["settings"]): {
		model?: Model<Api>;
		warning?: string;
	} {
		if (defaultModel === undefined) {
			const model = defaultProvider === undefined ? undefined : this.#bestOf(defaultProvider);
			return model ? { model } : {};
		}
		const named = defaultProvider === undefined ? defaultModel : `${defaultProvider}/${defaultModel}`;
		const model = [named, defaultModel].flatMap((name) => this.#exact(name))[0];
		return model ? { model } : { warning: `settings.json names the model ${named}, which is not known` };
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
			if (!this.#isMeant(provider)) continue;
			const best = this.#bestOf(provider);
			if (best) return best;
		}
		return undefined;
	}

	/** A GitHub token is found on many machines and says nothing of Copilot: it never chooses the model. */
	#isMeant(provider: string): boolean {
		const source = this.#credentials.keySource(provider);
		return source !== undefined && source !== "GH_TOKEN" && source !== "GITHUB_TOKEN";
	}

	#bestOf(provider: string): Model<Api> | undefined {
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

	#matchName(pattern: string): ResolvedModel[] {
		try {
			return [this.resolveModelSpec(pattern)];
		} catch (error) {
			if (error instanceof PiError && error.code === "model_unknown") return [];
			throw error;
		}
	}

	#unknownProvider(provider: string): PiError {
		const providers = [...new Set(this.#models.map((model) => model.provider))];
		return new PiError("model_unknown", `No provider ${JSON.stringify(provider)}`, {
			hint: nearHint(nearest(provider, providers)) ?? "pi --list-models shows all",
		});
	}
}

function unknownModel(spec: string, all: readonly Model<Api>[], available: readonly Model<Api>[]): PiError {
	const pool = available.length > 0 && all.some((model) => available.includes(model)) ? available : all;
	const name = readPatterns(spec).at(-1)?.name ?? spec;
	// `gpt-5.5:hihg`: the part before the colon may be right.
	const tries = [name, name.slice(name.indexOf("/") + 1), name.replace(/:[^:]*$/, "")];
	const candidates = new Map(
		pool.flatMap((model) => [
			[modelName(model), modelName(model)],
			[model.id, modelName(model)],
		]),
	);
	const near = tries.flatMap((word) => nearest(word, candidates.keys())).flatMap((word) => candidates.get(word) ?? []);
	return new PiError("model_unknown", `No model ${JSON.stringify(spec)}`, {
		hint: nearHint([...new Set(near)].slice(0, 3)) ?? "pi --list-models shows all",
	});
}

function nearHint(names: readonly string[]): string | undefined {
	return names.length === 0 ? undefined : `near: ${names.join(", ")}`;
}

function applyProvider(
	models: readonly Model<Api>[],
	provider: CustomProvider,
	path: string,
	warnings: string[],
): Model<Api>[] {
	const builtIn = models.filter((model) => model.provider === provider.name);
	if (provider.models === null) {
		if (builtIn.length === 0) warnings.push(`${path}: providers.${provider.name} has no models`);
		return models.map((model) => (model.provider === provider.name ? reachThrough(model, provider) : model));
	}
	const own = provider.models.flatMap((model) => buildModel(model, provider, builtIn[0], path, warnings) ?? []);
	return upsert(models, own);
}

function reachThrough(model: Model<Api>, { baseUrl, compat }: CustomProvider): Model<Api> {
	return {
		...model,
		...(baseUrl !== undefined && { baseUrl }),
		...(compat && { compat: { ...model.compat, ...compat } }),
	};
}

/** Headers are not on the model: they may be secrets, and are resolved with the key (`Credentials.requestAuth`). */
function buildModel(
	model: CustomModel,
	provider: CustomProvider,
	sibling: Model<Api> | undefined,
	path: string,
	warnings: string[],
): Model<Api> | null {
	const api = model.api ?? provider.api ?? sibling?.api;
	const baseUrl = model.baseUrl ?? provider.baseUrl ?? sibling?.baseUrl;
	if (api === undefined || baseUrl === undefined) {
		const missing = api === undefined ? "api" : "baseUrl";
		warnings.push(`${path}: ${provider.name}/${model.id} has no ${missing}; it is left out`);
		return null;
	}
	const compat = provider.compat || model.compat ? { ...provider.compat, ...model.compat } : undefined;
	const { id, name, reasoning, thinkingLevelMap, cost } = model;
	const [input, contextWindow, maxTokens] = [
		[...model.input],
		Math.floor(model.contextWindow),
		Math.floor(model.maxTokens),
	];
	const base = { id, name, api, provider: provider.name, baseUrl, reasoning, input, cost, contextWindow, maxTokens };
	return { ...base, ...(thinkingLevelMap && { thinkingLevelMap }), ...(compat && { compat }) };
}

function upsert(models: readonly Model<Api>[], added: readonly Model<Api>[]): Model<Api>[] {
	const byName = new Map(models.map((model) => [modelName(model), model]));
	for (const model of added) byName.set(modelName(model), model);
	return [...byName.values()];
}

import type { Api, Model } from "@mariozechner/pi-ai";
import type { Settings } from "../../config/settings-schema.js";
import type { SettingsStore } from "../../config/settings-store.js";
import { PiError } from "../../errors.js";
import type { ThinkingLevel } from "../../log/entry.js";
import { readLastModel } from "../../models/last-models.js";
import type { FindLocalOptions } from "../../models/local-servers.js";
import type { ModelRegistry, ResolvedModel } from "../../models/models.js";
import {
	type FindOffering,
	type ResolveOptions,
	registerLocalModels,
	resolveModel,
	searchServer,
} from "./session-models.js";

/** The model options of a command line or an SDK user. */
export interface ModelChoice {
	model?: string | Model<Api>;
	provider?: string;
	/** Patterns of `--models`. */
	models?: readonly string[];
	thinkingLevel?: ThinkingLevel;
}

/** Where `chooseModel` looks. */
export interface ModelChoiceSources {
	registry: ModelRegistry;
	settings: SettingsStore;
	/** Path of last-models.json. */
	lastModels: string;
	cwd: string;
	local?: FindLocalOptions | undefined;
	/** Absent: no provider is asked. */
	findOffering?: FindOffering | undefined;
	/** Receives a line that says which providers pi waits for. */
	onWait?: ResolveOptions["onWait"];
}

/** The model and level to start with. */
export interface ChosenModel {
	/** null: no model is set up. */
	model: Model<Api> | null;
	thinkingLevel: ThinkingLevel;
	/** The values that the options name: they override those of a continued session. */
	chosen: { model: boolean; thinkingLevel: boolean };
	warnings: string[];
}

/**
 * Chooses the model and thinking level of a session without entries: those of the options, of the settings, last used in this
 * directory, or pi's own defaults, in this order.
 * @throws PiError `model_unknown` if the options name a model, provider or only patterns that do not exist
 */
export async function chooseModel(choice: ModelChoice, sources: ModelChoiceSources): Promise<ChosenModel> {
	const { registry, settings, lastModels, cwd } = sources;
	const { rememberModel, defaultThinkingLevel } = settings.current;
	const lastUsed = rememberModel ? readLastModel(lastModels, cwd) : null;
	const warnings = await checkPatterns(choice, sources);
	const named = await namedModel(choice, sources);
	const level = choice.thinkingLevel ?? named?.thinkingLevel;
	const hasSetting = settings.state("defaultThinkingLevel").source !== "default";
	const found = {
		thinkingLevel: level ?? (hasSetting ? defaultThinkingLevel : (lastUsed?.thinkingLevel ?? defaultThinkingLevel)),
		chosen: { model: choice.model !== undefined || choice.provider !== undefined, thinkingLevel: level !== undefined },
		warnings,
	};
	if (named) return { ...found, model: named.model };
	const { provider } = choice;
	if (provider !== undefined) await findProvider(provider, sources);
	const preferences =
		provider === undefined ? settings.current : { defaultProvider: provider, defaultModel: undefined };
	await searchDefaultServer(preferences, sources);
	if (lastUsed) await searchServer(registry, { provider: lastUsed.provider, id: lastUsed.modelId }, sources.local);
	const byDefault = () => {
		const { model, warning } = registry.defaultModel({ settings: preferences, lastUsed });
		if (warning) warnings.push(warning);
		return { ...found, model };
	};
	try {
		return byDefault();
	} catch (error) {
		if (!(error instanceof PiError) || error.code !== "model_missing") throw error;
		return (await registerLocalModels(registry, sources.local)) ? byDefault() : { ...found, model: null };
	}
}

/**
 * The provider to which a key of the command line belongs before the model is known: an id that the list lacks needs a key.
 * @returns undefined if the model is listed, or its name does not begin with a provider
 */
export function providerOfKey({ model, provider }: ModelChoice, registry: ModelRegistry): string | undefined {
	if (provider !== undefined || typeof model !== "string") return provider;
	if (registry.matchModels([model]).models.length > 0) return undefined;
	return registry.providers.find((name) => model.startsWith(`${name}/`));
}

/**
 * Checks the names of a command line before anything else starts.
 * @returns the named model; null if none is named
 * @throws PiError as `chooseModel`
 */
export async function checkModelNames(choice: ModelChoice, sources: Sources): Promise<ResolvedModel | null> {
	await checkPatterns(choice, sources);
	const named = await namedModel(choice, sources);
	if (!named && choice.provider !== undefined) await findProvider(choice.provider, sources);
	return named;
}

type Sources = Pick<ModelChoiceSources, "registry" | "local" | "findOffering" | "onWait">;

async function namedModel({ model, provider }: ModelChoice, { registry, ...sources }: Sources) {
	if (model === undefined) return null;
	return typeof model === "string" ? resolveModel(registry, model, { ...sources, provider }) : { model };
}

/** @returns warnings about patterns without a match */
async function checkPatterns({ models }: ModelChoice, { registry, local }: Sources): Promise<string[]> {
	if (!models) return [];
	if (registry.matchModels(models).unmatched.length > 0) await registerLocalModels(registry, local);
	return registry.checkPatterns(models);
}

/** Searches this machine if the settings name a local server that is not known yet. */
async function searchDefaultServer(
	{ defaultProvider, defaultModel = "" }: Pick<Settings, "defaultProvider" | "defaultModel">,
	{ registry, local }: Sources,
): Promise<void> {
	if (defaultProvider === undefined || registry.providers.includes(defaultProvider)) return;
	await searchServer(registry, { provider: defaultProvider, id: defaultModel }, local);
}

async function findProvider(provider: string, { registry, local }: Sources): Promise<void> {
	if (registry.providers.includes(provider)) return;
	await registerLocalModels(registry, local);
	registry.ofProvider(provider);
}

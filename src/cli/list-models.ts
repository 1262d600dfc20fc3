import type { Api, Model } from "@mariozechner/pi-ai";
import type { Credentials } from "../config/credentials.js";
import { variablesHint } from "../config/env-keys.js";
import { findLocalModels } from "../config/local-servers.js";
import { modelFacts } from "../config/model-facts.js";
import { loadModelSources, type ModelSources } from "../config/model-sources.js";
import { type ModelRegistry, modelName } from "../config/models.js";
import { paths as findPaths, processEnvironment } from "../config/paths.js";
import { SettingsStore } from "../config/settings-store.js";
import { PiError } from "../errors.js";
import type { ModeIO } from "../modes/mode.js";
import type { CreateAgentSessionOptions } from "../session/create-session.js";
import { didYouMean } from "../util/nearest.js";
import { printLines, printNotices, tableLines } from "./standard-io.js";

/** Session options that determine the available models. */
export type ModelSourceOptions = Pick<
	CreateAgentSessionOptions,
	"cwd" | "env" | "home" | "settings" | "provider" | "apiKey" | "localServers"
>;

/** @throws PiError `bad_arguments` for a key without a provider */
async function findModels(options: ModelSourceOptions, warnings: string[]): Promise<ModelSources> {
	const paths = findPaths(options.env, options.cwd, options.home);
	const { current: settings } = options.settings ?? new SettingsStore(paths);
	const [sources, local] = await Promise.all([
		loadModelSources({
			paths,
			env: options.env ?? processEnvironment(),
			settings,
			onWarning: (line) => warnings.push(line),
		}),
		findLocalModels(options.localServers),
	]);
	if (options.apiKey !== undefined) {
		if (options.provider === undefined) {
			throw new PiError("bad_arguments", "--api-key requires --provider", { hint: "add --provider <name>" });
		}
		sources.credentials.overrideKey(options.provider, options.apiKey);
	}
	sources.registry.registerModels(local);
	return sources;
}

/**
 * Prints a table of the available models or, with a search, of all models whose provider, id or name contains each word.
 * @returns the exit code: 1 when nothing matches
 */
export async function listModels(search: string, options: ModelSourceOptions, io: ModeIO): Promise<number> {
	const warnings: string[] = [];
	const { registry, credentials } = await findModels(options, warnings);
	printNotices(io, warnings);
	const all = registry.all().filter(({ provider }) => options.provider === undefined || provider === options.provider);
	const words = search.toLowerCase().split(/\s+/).filter(Boolean);
	const usable = all.filter(({ provider }) => credentials.hasKey(provider));
	const searched = words.length > 0 || options.provider !== undefined;
	const shown = searched ? all.filter((model) => matches(model, words)) : usable;
	if (shown.length === 0) {
		printNotices(io, [searched ? nothingFound(search, all) : noKeys(registry)]);
		return 1;
	}
	const rows = shown
		.toSorted((a, b) => compare(a.provider, b.provider) || compare(a.id, b.id))
		.map((model) => describeModel(model, registry, credentials));
	await printLines(io, tableLines([HEADINGS, ...rows]));
	const without = all.length - usable.length;
	if (!searched && without > 0)
		printNotices(io, [`${without} more models have no API key · list them with pi --list-models <text>`]);
	return 0;
}

const HEADINGS = ["provider", "model", "context", "thinking", "images", "in/out per M tokens", "key"];

function describeModel(model: Model<Api>, registry: ModelRegistry, credentials: Credentials): string[] {
	const { provider, id } = model;
	const { context, price, thinks, seesImages } = modelFacts(model, registry.isPriced(model));
	return [
		provider,
		id,
		context,
		thinks ? "yes" : "no",
		seesImages ? "yes" : "no",
		price,
		credentials.keySource(provider) ?? `none: ${variablesHint(provider) ?? `/login ${provider}`}`,
	];
}

function matches(model: Model<Api>, words: readonly string[]): boolean {
	const text = `${modelName(model)} ${model.name}`.toLowerCase();
	return words.every((word) => text.includes(word));
}

function nothingFound(search: string, models: readonly Model<Api>[]): string {
	const names = models.flatMap(({ provider, id }) => [provider, id]);
	const hint = didYouMean(search, names) ?? "pi --list-models lists the available models";
	return `No model matches ${JSON.stringify(search)} · ${hint}`;
}

function noKeys(registry: ModelRegistry): string {
	const { message, hint } = registry.describeMissingModel();
	return `${message} · ${hint}`;
}

function compare(a: string, b: string): number {
	return a < b ? -1 : a > b ? 1 : 0;
}

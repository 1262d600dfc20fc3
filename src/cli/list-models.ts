import type { Api, Model } from "@mariozechner/pi-ai";
import { Credentials } from "../config/credentials.js";
import { variablesHint } from "../config/env-keys.js";
import { findLocalModels } from "../config/local-servers.js";
import { loadModels, type ModelRegistry, modelName } from "../config/models.js";
import { loadModelsFile } from "../config/models-file.js";
import { paths as findPaths, type Paths, processEnvironment } from "../config/paths.js";
import { type LoadedSettings, loadSettings } from "../config/settings.js";
import { PiError } from "../errors.js";
import type { ModeIO } from "../modes/mode.js";
import type { CreateAgentSessionOptions } from "../session/create-session.js";
import { didYouMean } from "../util/nearest.js";
import { printLines, printNotices, tableLines } from "./lines.js";

/** The models that can be named here, and the keys to them. */
export interface ModelSources {
	registry: ModelRegistry;
	credentials: Credentials;
	/** What was wrong with files of keys and models, a line each. */
	warnings: string[];
}

/** What finding models needs of the options of a session. */
export type ModelSourceOptions = Pick<
	CreateAgentSessionOptions,
	"cwd" | "env" | "home" | "settings" | "provider" | "apiKey" | "offline"
>;

/**
 * Loads every model of pi-ai, models.json and, unless offline, of servers on this machine.
 * @throws PiError `bad_arguments` for a key without a provider
 */
export async function loadModelSources(options: ModelSourceOptions): Promise<ModelSources> {
	const paths = findPaths(options.env, options.cwd, options.home);
	const { settings } = options.settings ?? readSettings(paths);
	const warnings: string[] = [];
	const file = loadModelsFile(paths.models);
	const credentials = new Credentials({
		authFile: paths.auth,
		env: options.env ?? processEnvironment(),
		home: paths.home,
		settingsKeys: settings.apiKeys,
		providers: file.providers,
		onNotice: (line) => warnings.push(line),
	});
	if (options.apiKey !== undefined) {
		if (options.provider === undefined) {
			throw new PiError("bad_arguments", "--api-key does not say whose key it is", { hint: "add --provider" });
		}
		credentials.overrideKey(options.provider, options.apiKey);
	}
	const [registry, local] = await Promise.all([
		loadModels({ file, credentials }),
		options.offline ? [] : findLocalModels(),
	]);
	registry.registerModels(local);
	return { registry, credentials, warnings: [...warnings, ...registry.warnings] };
}

/**
 * Prints models as a table: those that can be used, or, with a search, all whose provider, id or name holds each of its
 * words.
 * @returns the exit code: 1 when nothing matches
 */
export async function listModels(search: string, options: ModelSourceOptions, io: ModeIO): Promise<number> {
	const { registry, credentials, warnings } = await loadModelSources(options);
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
		.map((model) => describeModel(model, credentials));
	await printLines(io, tableLines([HEADINGS, ...rows]));
	const without = all.length - usable.length;
	if (!searched && without > 0) printNotices(io, [`${without} more models have no key · pi --list-models <search>`]);
	return 0;
}

const HEADINGS = ["provider", "model", "context", "thinking", "images", "$ in/out per M", "key"];

function describeModel(model: Model<Api>, credentials: Credentials): string[] {
	const { provider, id, contextWindow, reasoning, input, cost } = model;
	return [
		provider,
		id,
		formatTokens(contextWindow),
		reasoning ? "yes" : "no",
		input.includes("image") ? "yes" : "no",
		cost.input === 0 && cost.output === 0 ? "free" : `${formatPrice(cost.input)} / ${formatPrice(cost.output)}`,
		credentials.keySource(provider) ?? `none: ${variablesHint(provider) ?? `/login ${provider}`}`,
	];
}

function matches(model: Model<Api>, words: readonly string[]): boolean {
	const text = `${modelName(model)} ${model.name}`.toLowerCase();
	return words.every((word) => text.includes(word));
}

function nothingFound(search: string, models: readonly Model<Api>[]): string {
	const names = models.flatMap(({ provider, id }) => [provider, id]);
	const hint = didYouMean(search, names) ?? "pi --list-models shows those that can be used";
	return `No model matches ${JSON.stringify(search)} · ${hint}`;
}

function noKeys(registry: ModelRegistry): string {
	const { message, hint } = registry.describeMissingModel();
	return `${message} · ${hint}`;
}

/** 200000 → 200k, 1048576 → 1M. */
function formatTokens(tokens: number): string {
	if (tokens >= 1_000_000) return `${Math.round(tokens / 100_000) / 10}M`;
	return tokens >= 1000 ? `${Math.round(tokens / 1000)}k` : String(tokens);
}

function formatPrice(dollars: number): string {
	return String(Number(dollars.toFixed(3)));
}

function compare(a: string, b: string): number {
	return a < b ? -1 : a > b ? 1 : 0;
}

function readSettings(paths: Paths): LoadedSettings {
	return loadSettings({ agentDir: paths.agentDir, cwd: paths.cwd });
}

import type { Api, Model } from "@mariozechner/pi-ai";
import { paths as findPaths, processEnvironment } from "../config/paths.js";
import { SettingsStore } from "../config/settings-store.js";
import { PiError } from "../errors.js";
import { type HookProvider, listProviders } from "../hooks/providers.js";
import type { Credentials } from "../models/credentials.js";
import { variablesHint } from "../models/env-keys.js";
import { findLocalModels } from "../models/local-servers.js";
import { type KnownModel, modelFacts, modelRecord } from "../models/model-facts.js";
import { readModelSearch } from "../models/model-search.js";
import { loadModelSources, type ModelSources } from "../models/model-sources.js";
import { type ModelRegistry, modelName } from "../models/models.js";
import type { ModeIO } from "../modes/mode.js";
import { clipMiddle } from "../util/clip-middle.js";
import { didYouMean } from "../util/nearest.js";
import type { HookWatch } from "./hook-watch.js";
import type { CliSessionOptions } from "./session-options.js";
import { printJson, printLines, printNotices, tableLines } from "./standard-io.js";
import { loadChosenHooks } from "./subcommands/find-hooks.js";
import { findLocation } from "./subcommands/location.js";

/** Session options that determine the available models. */
export type ModelSourceOptions = Partial<Pick<CliSessionOptions, "settings" | "hooks">> &
	Pick<
		CliSessionOptions,
		"cwd" | "env" | "home" | "provider" | "apiKey" | "localServers" | "discoverHooks" | "trust"
	> & {
		/** Watches the hooks that are loaded. */
		watch?: HookWatch;
	};

/** The providers of the hooks that may run here. */
async function findHookProviders(options: ModelSourceOptions, warnings: string[]): Promise<HookProvider[]> {
	const location = findLocation({ trust: options.trust === true }, options);
	const choice = { hooks: [...(options.hooks ?? [])], findHooks: options.discoverHooks !== false };
	const { hooks, notices } = await loadChosenHooks(location, choice);
	const { providers, warnings: clashes } = listProviders(hooks);
	for (const hook of hooks) hook.active = false;
	warnings.push(...notices, ...clashes);
	return providers;
}

/**
 * All models of a command line, with those of hooks and local servers. @param warnings receives each problem
 * @throws PiError `bad_arguments` for a key without a provider
 */
export async function findModels(options: ModelSourceOptions, warnings: string[]): Promise<ModelSources> {
	const paths = findPaths(options.env, options.cwd, options.home);
	const env = options.env ?? processEnvironment();
	const { current: settings } = options.settings ?? new SettingsStore(paths);
	const hookProviders = await findHookProviders(options, warnings);
	const [sources, local] = await Promise.all([
		loadModelSources({
			paths,
			env,
			settings,
			hookProviders,
			onWarning: (line) => warnings.push(line),
		}),
		findLocalModels({ env, ...options.localServers }),
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
 * Prints the available models as a table or JSON or, with a search, of all models that `readModelSearch` accepts and whose provider,
 * id or name contains each other word.
 * @returns the exit code: 1 when nothing matches
 * @throws PiError `model_unknown` for an unknown provider
 */
export async function listModels(
	search: string,
	options: ModelSourceOptions,
	io: ModeIO,
	{ asJson = false } = {},
): Promise<number> {
	const warnings: string[] = [];
	const { registry, credentials } = await findModels(options, warnings);
	printNotices(io, warnings);
	const all = options.provider === undefined ? registry.all() : registry.ofProvider(options.provider);
	const wanted = readModelSearch(search);
	const matches = (model: Model<Api>) =>
		wanted.accepts({
			model,
			isPriced: registry.isPriced(model),
			isLocal: credentials.keyState(model.provider) === "local",
		}) && hasWords(model, wanted.text);
	const usable = all.filter(({ provider }) => credentials.hasKey(provider));
	const searched = search.trim() !== "" || options.provider !== undefined;
	const shown = searched ? all.filter(matches) : usable;
	if (shown.length === 0) {
		printNotices(io, [searched ? nothingFound(search, all) : noKeys(registry)]);
		return 1;
	}
	const sorted = shown.toSorted((a, b) => compare(a.provider, b.provider) || compare(a.id, b.id));
	if (asJson) {
		await printJson(
			io,
			sorted.map((model) => ({
				...modelRecord(model, registry.isPriced(model)),
				key: credentials.keySource(model.provider) ?? null,
			})),
		);
		return 0;
	}
	const rows = sorted.map((model) => describeModel(model, registry, credentials));
	const isUsed = (column: number) => !OPTIONAL.includes(HEADINGS[column] ?? "") || rows.some((row) => row[column]);
	const used = [HEADINGS, ...rows].map((row) => row.filter((_, column) => isUsed(column)));
	const { table, left } = fitTable(used, { columns: io.columns, omitted: OMITTED, cut: "model" });
	await printLines(io, tableLines(table));
	if (left.length > 0) printNotices(io, [`No room for ${left.join(", ")} · a wider terminal or --json shows all`]);
	const without = all.length - usable.length;
	if (!searched && without > 0)
		printNotices(io, [`${without} more models have no API key · list them with pi models list <text>`]);
	return 0;
}

const HEADINGS = [
	...["provider", "model", "context", "tools", "thinking", "images", "in/out per M tokens", "key"],
	...["offered", "from"],
];
/** Columns that are printed only if one of the models needs them. */
const OPTIONAL = ["offered", "from"];

/** Columns that a narrow terminal does not show, the least important one first. */
const OMITTED = ["images", "thinking", "tools", "from", "key", "context", "in/out per M tokens"];

function describeModel(model: KnownModel, registry: ModelRegistry, credentials: Credentials): string[] {
	const { provider, id, retired } = model;
	const { context, price, thinks, seesImages, callsTools } = modelFacts(model, registry.isPriced(model));
	return [
		provider,
		id,
		context,
		callsTools ? "yes" : "no",
		thinks ? "yes" : "no",
		seesImages ? "yes" : "no",
		price,
		credentials.keySource(provider) ?? `none: ${variablesHint(provider) ?? `/login ${provider}`}`,
		retired ? "no longer" : "",
		credentials.hookOf(provider) ?? "",
	];
}

function hasWords(model: Model<Api>, words: string): boolean {
	const text = `${modelName(model)} ${model.name}`.toLowerCase();
	return words.split(" ").every((word) => text.includes(word));
}

function nothingFound(search: string, models: readonly Model<Api>[]): string {
	const names = models.flatMap(({ provider, id }) => [provider, id]);
	const hint = didYouMean(search, names) ?? "list them with pi models list";
	return `No model matches ${JSON.stringify(search)} · ${hint}`;
}

function noKeys(registry: ModelRegistry): string {
	const { message, hint } = registry.describeMissingModel();
	return `${message} · ${hint}`;
}

function compare(a: string, b: string): number {
	return a < b ? -1 : a > b ? 1 : 0;
}

/** Columns between two cells. */
const GAP = 2;

interface FitOptions {
	/** Columns of the terminal; undefined: any number fits. */
	columns: number | undefined;
	/** Headings of columns that may be omitted, the least important one first. */
	omitted: readonly string[];
	/** Heading of the column whose cells are then cut in the middle. */
	cut: string;
}

/**
 * Fits a table into a terminal. A column is omitted completely, and which ones does not depend on what is in the others.
 * @param table rows of equal length, the headings first
 * @returns `left`: the headings of the omitted columns
 */
export function fitTable(
	table: readonly (readonly string[])[],
	{ columns = Number.MAX_SAFE_INTEGER, omitted, cut }: FitOptions,
): { table: string[][]; left: string[] } {
	const [headings = []] = table;
	const widths = headings.map((_, column) => Math.max(0, ...table.map((row) => row[column]?.length ?? 0)));
	const left: string[] = [];
	const isKept = (column: number) => !left.includes(headings[column] ?? "");
	const excess = () => widths.reduce((sum, width, column) => sum + (isKept(column) ? width + GAP : 0), -GAP) - columns;
	for (const heading of omitted) if (excess() > 0 && headings.includes(heading)) left.push(heading);
	const cutColumn = headings.indexOf(cut);
	const room = (widths[cutColumn] ?? 0) - Math.max(0, excess());
	const cells = (row: readonly string[]) =>
		row.map((cell, column) => (column === cutColumn ? clipMiddle(cell, Math.max(cut.length, room)) : cell));
	return { table: table.map((row) => cells(row).filter((_, column) => isKept(column))), left };
}

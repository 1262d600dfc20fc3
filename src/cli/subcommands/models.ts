import { builtInModels } from "../../models/built-in-models.js";
import { modelRecord } from "../../models/model-facts.js";
import { modelOrigins } from "../../models/model-origins.js";
import { resolveModel } from "../../services/models/session-models.js";
import { findModels, listModels, type ModelSourceOptions } from "../list-models.js";
import type { ModelsSubcommand } from "../options.js";
import { printJson, printLines, printNotices, tableLines } from "../standard-io.js";
import type { SubcommandContext } from "./location.js";

/** `pi models list [<text>]`: what `pi --list-models` prints. @returns 1 when nothing matches */
export async function printModels(
	{ search }: Extract<ModelsSubcommand, { action: "list" }>,
	context: SubcommandContext,
): Promise<number> {
	return listModels(search, sourceOptions(context), context.io, { asJson: context.options.json });
}

/**
 * `pi models show <model>`: prints what pi knows about a model, and where each fact comes from.
 * @throws PiError `model_unknown`
 */
export async function showModel(
	{ model: spec }: Extract<ModelsSubcommand, { action: "show" }>,
	context: SubcommandContext,
): Promise<number> {
	const { io, options } = context;
	const warnings: string[] = [];
	const sources = await findModels(sourceOptions(context), warnings);
	const { model } = await resolveModel(sources.registry, spec);
	printNotices(io, warnings);
	const isPriced = sources.registry.isPriced(model);
	const origins = modelOrigins(model, { ...sources, isPriced, shipped: builtInModels(), now: Date.now() });
	if (options.json) {
		const from = Object.fromEntries(origins.map(({ fact, from }) => [fact, from]));
		await printJson(io, {
			...modelRecord(model, isPriced),
			key: sources.credentials.keySource(model.provider) ?? null,
			from,
		});
	} else {
		await printLines(io, tableLines(origins.map(({ fact, value, from }) => [fact, value, from])));
	}
	return 0;
}

/** The options of `findModels` for a subcommand. */
export function sourceOptions({ location, options }: SubcommandContext): ModelSourceOptions {
	const { env, paths, localServers, watch } = location;
	return {
		env,
		cwd: paths.cwd,
		home: paths.home,
		hooks: options.hooks,
		discoverHooks: options.findHooks,
		trust: location.trust,
		...(localServers && { localServers }),
		...(watch && { watch }),
	};
}

import { type FlagValues, listFlags } from "../../hooks/flags.js";
import type { LoadedHook } from "../../hooks/hook-registry.js";
import type { Credentials } from "../../models/credentials.js";
import type { ModelRegistry } from "../../models/models.js";
import type { SessionViewOptions } from "../../replay/session-view.js";
import type { SubcommandOptions } from "../options.js";
import type { Location } from "./location.js";

/** What recorded requests are computed with where their session does not say: models, settings and flags of today. */
export type PastFacts = Pick<SessionViewOptions, "findModel" | "retention"> & {
	flags: FlagValues;
	registry: ModelRegistry;
	credentials: Credentials;
};

/**
 * @param notices receives problems with the lists of models
 * @throws PiError `bad_arguments` for a flag that no hook declares, or without its value
 */
export async function pastFacts(
	{ paths, env, settings }: Location,
	{ readFlags }: SubcommandOptions,
	hooks: readonly LoadedHook[],
	notices: string[],
): Promise<PastFacts> {
	const { values = {}, problem = null } = readFlags?.(listFlags(hooks).flags) ?? {};
	if (problem) throw problem;
	const { loadModelSources } = await import("../../models/model-sources.js");
	const { registry, credentials } = await loadModelSources({
		paths,
		env,
		settings,
		onWarning: (line) => notices.push(line),
	});
	return {
		registry,
		credentials,
		findModel: (provider, id) => registry.findModel(provider, id) ?? null,
		retention: settings.cacheRetention,
		flags: values,
	};
}

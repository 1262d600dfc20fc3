import { paths as findPaths, runEnvironment } from "../config/paths.js";
import { isChosen } from "../hooks/discover.js";
import type { KnownModel } from "../models/model-facts.js";
import { loadModelSources } from "../models/model-sources.js";
import { modelName, type ResolvedModel } from "../models/models.js";
import { networkOf } from "../network/network.js";
import { checkModelNames, providerOfKey } from "../services/models/choose-model.js";
import { offeringFinder } from "../services/models/offering-finder.js";
import { AcceptedNames } from "./accepted-names.js";
import type { CliContext, CliOptions } from "./options.js";
import { printNotices } from "./standard-io.js";

/**
 * Checks `--model`, `--provider` and `--models` before a screen is drawn.
 * @returns the options; a model that only a provider knows is named with its provider, so that the session need not ask again
 * @throws PiError `model_unknown` if one of them names nothing
 */
export async function checkModelOptions(
	options: CliOptions,
	{ env, cwd, home, settings }: CliContext,
): Promise<CliOptions> {
	const { registry, credentials } = await loadModelSources({
		paths: findPaths(env, cwd, home),
		env,
		settings: settings.current,
		onWarning: () => {}, // the session reports them
	});
	try {
		const keyed = options.apiKey === undefined ? undefined : providerOfKey(options, registry);
		if (keyed !== undefined && options.apiKey !== undefined) credentials.overrideKey(keyed, options.apiKey);
		const isOffline = options.offline || runEnvironment(env, home).offline;
		const findOffering = offeringFinder({ registry, credentials, network: await networkOf(env), isOffline });
		// Standard output belongs to the screen.
		const onWait = (line: string) => printNotices({ err: (text) => void process.stderr.write(text) }, [line]);
		const named = await checkModelNames(options, { registry, local: { env }, findOffering, onWait });
		new AcceptedNames(findPaths(env, cwd, home)).add(options);
		return named && options.provider === undefined ? withFullName(options, named) : options;
	} catch (error) {
		const { discover } = await import("./subcommands/find-hooks.js");
		const { files } = discover({ paths: findPaths(env, cwd, home), settings: settings.current }, options);
		// A hook may add the model: the session checks the names again once the hooks have loaded.
		if (!files.some(isChosen)) throw error;
		return options;
	}
}

function withFullName(options: CliOptions, { model, thinkingLevel }: ResolvedModel): CliOptions {
	const { assumed }: KnownModel = model;
	return assumed ? { ...options, model: `${modelName(model)}${thinkingLevel ? `:${thinkingLevel}` : ""}` } : options;
}

import { paths as findPaths, runEnvironment } from "../config/paths.js";
import { isChosen } from "../hooks/discover.js";
import { loadModelSources } from "../models/model-sources.js";
import { networkOf } from "../network/network.js";
import { checkModelNames, providerOfKey } from "../session/choose-model.js";
import { offeringFinder } from "../session/offering-finder.js";
import { AcceptedNames } from "./accepted-names.js";
import type { CliContext, CliOptions } from "./options.js";

/**
 * Checks `--model`, `--provider` and `--models` before a screen is drawn.
 * @throws PiError `model_unknown` if one of them names nothing
 */
export async function checkModelOptions(options: CliOptions, { env, cwd, home, settings }: CliContext): Promise<void> {
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
		await checkModelNames(options, { registry, local: { env }, findOffering });
		new AcceptedNames(findPaths(env, cwd, home)).add(options);
	} catch (error) {
		const { discover } = await import("./subcommands/find-hooks.js");
		const { files } = discover({ paths: findPaths(env, cwd, home), settings: settings.current }, options);
		// A hook may add the model: the session checks the names again once the hooks have loaded.
		if (!files.some(isChosen)) throw error;
	}
}

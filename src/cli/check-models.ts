import { paths as findPaths } from "../config/paths.js";
import { isChosen } from "../hooks/discover.js";
import { loadModelSources } from "../models/model-sources.js";
import { checkModelNames } from "../session/choose-model.js";
import { AcceptedNames } from "./accepted-names.js";
import type { CliContext, CliOptions } from "./options.js";

/**
 * Checks `--model`, `--provider` and `--models` before a screen is drawn.
 * @throws PiError `model_unknown` if one of them names nothing
 */
export async function checkModelOptions(options: CliOptions, { env, cwd, home, settings }: CliContext): Promise<void> {
	const { registry } = await loadModelSources({
		paths: findPaths(env, cwd, home),
		env,
		settings: settings.current,
		onWarning: () => {}, // the session reports them
	});
	try {
		await checkModelNames(options, { registry, local: { env } });
		new AcceptedNames(findPaths(env, cwd, home)).add(options);
	} catch (error) {
		const { discover } = await import("./subcommands/find-hooks.js");
		const { files } = discover({ paths: findPaths(env, cwd, home), settings: settings.current }, options);
		// A hook may add the model: the session checks the names again once the hooks have loaded.
		if (!files.some(isChosen)) throw error;
	}
}

import { Credentials } from "./credentials.js";
import { loadModels, type ModelRegistry } from "./models.js";
import { loadModelsFile } from "./models-file.js";
import type { Environment, Paths } from "./paths.js";
import type { Settings } from "./settings-schema.js";

/** The models that can be named here, and the keys to them. */
export interface ModelSources {
	registry: ModelRegistry;
	credentials: Credentials;
}

/** Where models and keys are looked for. */
export interface ModelSourcesOptions {
	paths: Pick<Paths, "models" | "auth" | "home">;
	env: Environment;
	settings: Pick<Settings, "apiKeys">;
	/** Hears what is wrong with files of keys and models, a line each. */
	onWarning(line: string): void;
}

/** Loads every model of pi-ai and models.json. Servers on this machine are not looked for: see `findLocalModels`. */
export async function loadModelSources({
	paths,
	env,
	settings,
	onWarning,
}: ModelSourcesOptions): Promise<ModelSources> {
	const file = loadModelsFile(paths.models);
	const credentials = new Credentials({
		authFile: paths.auth,
		env,
		home: paths.home,
		settingsKeys: settings.apiKeys,
		providers: file.providers,
		onNotice: onWarning,
	});
	const registry = await loadModels({ file, credentials });
	for (const line of registry.warnings) onWarning(line);
	return { registry, credentials };
}

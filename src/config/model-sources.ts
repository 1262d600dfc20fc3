import { Credentials } from "./credentials.js";
import { loadModels, type ModelRegistry } from "./models.js";
import { loadModelsFile } from "./models-file.js";
import type { Environment, Paths } from "./paths.js";
import type { Settings } from "./settings-schema.js";

/** All known models, and the keys of their providers. */
export interface ModelSources {
	registry: ModelRegistry;
	credentials: Credentials;
}

/** Options of `loadModelSources`. */
export interface ModelSourcesOptions {
	paths: Pick<Paths, "models" | "auth" | "home">;
	env: Environment;
	settings: Pick<Settings, "apiKeys">;
	/** Receives each problem in models.json and auth.json, as one line. */
	onWarning(line: string): void;
}

/** Loads the models of pi-ai and models.json, but not those of local servers: see `findLocalModels`. */
export async function loadModelSources(options: ModelSourcesOptions): Promise<ModelSources> {
	const { paths, env, settings, onWarning } = options;
	const file = loadModelsFile(paths.models);
	const credentials = new Credentials({
		authFile: paths.auth,
		env,
		home: paths.home,
		settingsKeys: settings.apiKeys,
		providers: file.providers,
		onNotice: onWarning,
	});
	const registry = await loadModels(file, credentials);
	for (const line of registry.warnings) onWarning(line);
	return { registry, credentials };
}

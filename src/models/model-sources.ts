import type { Environment, Paths } from "../config/paths.js";
import type { Settings } from "../config/settings-schema.js";
import { Credentials } from "./credentials.js";
import { loadModelList, type ModelList } from "./model-list.js";
import { loadModels, type ModelRegistry } from "./models.js";
import { type CustomProvider, loadModelsFile } from "./models-file.js";

/** All known models, and the keys of their providers. */
export interface ModelSources {
	registry: ModelRegistry;
	credentials: Credentials;
	/** The providers of models.json and of hooks. */
	providers: readonly CustomProvider[];
	/** The models without those of models.json and hooks, and their age. */
	list: ModelList;
	/** True for a name in models.json: a hook's provider with this name is not used. */
	isOwn(provider: { readonly name: string }): boolean;
}

/** Options of `loadModelSources`. */
export interface ModelSourcesOptions {
	paths: Pick<Paths, "models" | "modelList" | "auth" | "home">;
	env: Environment;
	settings: Pick<Settings, "apiKeys">;
	/** Providers of hooks. A provider of models.json replaces the one with the same name. */
	hookProviders?: readonly CustomProvider[];
	/** Receives each problem in models.json and auth.json, as one line. */
	onWarning(line: string): void;
}

/** Loads the models of pi, of updates and of models.json, but not those of local servers: see `findLocalModels`. */
export async function loadModelSources(options: ModelSourcesOptions): Promise<ModelSources> {
	const { paths, env, settings, onWarning, hookProviders = [] } = options;
	const own = loadModelsFile(paths.models);
	const isOwn: ModelSources["isOwn"] = ({ name }) => own.providers.some((provider) => provider.name === name);
	const providers = [...own.providers, ...hookProviders.filter((provider) => !isOwn(provider))];
	const file = { ...own, providers };
	for (const { name, source } of hookProviders.filter(isOwn)) {
		onWarning(`The provider ${name} of ${source} is not used: ${paths.models} defines ${name}`);
	}
	const credentials = new Credentials({
		authFile: paths.auth,
		env,
		home: paths.home,
		settingsKeys: settings.apiKeys,
		providers: file.providers,
		onNotice: onWarning,
	});
	const list = loadModelList(paths.modelList);
	if (list.file.warning !== null) onWarning(list.file.warning);
	const registry = await loadModels(file, credentials, list.lists);
	for (const line of registry.warnings) onWarning(line);
	return { registry, credentials, providers, list, isOwn };
}

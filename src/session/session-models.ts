import type { Credentials } from "../config/credentials.js";
import { findLocalModels } from "../config/local-servers.js";
import type { ModelRegistry } from "../config/models.js";
import type { SessionModels } from "./session-parts.js";

/** What the models of a session come from. */
export interface SessionModelsOptions {
	registry: ModelRegistry;
	credentials: Credentials;
	/** `--models`: what Ctrl+P goes through. */
	patterns?: readonly string[];
	/** True: no look for servers on this machine. */
	offline: boolean;
}

/** The registry and the keys as a session uses them. */
export function createSessionModels({ registry, credentials, patterns, offline }: SessionModelsOptions): SessionModels {
	const available = async () => {
		if (!offline) await registerLocalModels(registry);
		return registry.availableModels();
	};
	return {
		find: (provider, id) => registry.findModel(provider, id) ?? null,
		all: async () => [...registry.all()],
		available,
		cycle: async () =>
			patterns ? registry.matchModels(patterns).models.map(({ model }) => model) : registry.availableModels(),
		resolveApiKey: (model) => credentials.resolveApiKey(model),
		requestAuth: (model) => credentials.requestAuth(model),
		describeMissingModel: () => registry.describeMissingModel("No model is chosen"),
	};
}

/** Finds servers on this machine and registers their models. @returns true when there are any */
export async function registerLocalModels(registry: ModelRegistry): Promise<boolean> {
	const models = await findLocalModels();
	registry.registerModels(models);
	return models.length > 0;
}

import { join } from "node:path";
import { Credentials } from "../../src/models/credentials.js";
import { loadModels, modelName } from "../../src/models/models.js";
import { loadModelsFile } from "../../src/models/models-file.js";
import { tempAgentDir } from "../helpers/temp.js";

/** Loads the models of a new agent directory with this models.json. */
export async function loadTestModels(options: { models?: unknown; env?: Record<string, string> } = {}) {
	const dir = tempAgentDir({ models: options.models });
	const file = loadModelsFile(join(dir, "models.json"));
	const credentials = new Credentials({
		authFile: join(dir, "auth.json"),
		env: options.env ?? {},
		home: dir,
		providers: file.providers,
	});
	return { registry: await loadModels(file, credentials), credentials, path: file.path };
}

/** The models as `provider/id`. */
export const names = (models: readonly { provider: string; id: string }[]) => models.map(modelName);

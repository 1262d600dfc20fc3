import type { Api, Model } from "@mariozechner/pi-ai";
import { type Environment, paths, processEnvironment } from "../config/paths.js";
import { mergeModels } from "./merge-models.js";
import { ModelLists } from "./model-lists.js";
import { modelName } from "./model-match.js";
import { loadModelsFile } from "./models-file.js";

/** The models of pi-ai once a session has loaded them. `findModel` returns at once, so it cannot load them itself. */
let builtIn: ModelLists | null = null;

/** Passes the models of pi-ai to `findModel`. */
export function provideModels(models: ModelLists): void {
	builtIn = models;
}

/**
 * Finds a model of pi-ai or of the user's models.json, which is read at each call. Knows the models of pi-ai as soon as a
 * session exists, so always in hooks. Does not search local servers; in a handler, prefer `ctx.findModel`. Never throws.
 * @param env names the agent directory; default: that of the process
 * @returns `model`: null if no model has this name; `error`: why, on one line, else null
 */
export function findModel(
	provider: string,
	id: string,
	env: Environment = processEnvironment(),
): { model: Model<Api> | null; error: string | null } {
	const { models, warnings } = mergeModels(builtIn ?? new ModelLists(), loadModelsFile(paths(env).models));
	const model = models.find(provider, id);
	if (model) return { model, error: null };
	const early = builtIn === null ? " · create a session first: it loads the models" : "";
	const problem = warnings[0] ? ` · models.json has a problem: ${warnings[0]}` : "";
	return { model: null, error: `No model ${JSON.stringify(modelName({ provider, id }))}${early}${problem}` };
}

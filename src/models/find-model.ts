import type { Api, Model } from "@mariozechner/pi-ai";
import { type Environment, paths, processEnvironment } from "../config/paths.js";
import { mergeModels } from "./merge-models.js";
import { loadModelList } from "./model-list.js";
import { modelName } from "./model-match.js";
import { loadModelsFile } from "./models-file.js";

/**
 * Finds a model of pi-ai or of the user's models.json, which is read at each call. Does not search local servers; in
 * a handler, prefer `ctx.findModel`. Never throws.
 * @param env names the agent directory; default: that of the process
 * @returns `model`: null if no model has this name; `error`: why, on one line, else null
 */
export function findModel(
	provider: string,
	id: string,
	env: Environment = processEnvironment(),
): { model: Model<Api> | null; error: string | null } {
	const { models: own, modelList } = paths(env);
	const { models, warnings } = mergeModels(loadModelList(modelList).lists, loadModelsFile(own));
	const model = models.find(provider, id);
	if (model) return { model, error: null };
	const problem = warnings[0] ? ` · models.json has a problem: ${warnings[0]}` : "";
	return { model: null, error: `No model ${JSON.stringify(modelName({ provider, id }))}${problem}` };
}

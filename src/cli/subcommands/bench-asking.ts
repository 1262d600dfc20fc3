import { join } from "node:path";
import type { Api, Model } from "@mariozechner/pi-ai";
import { AnswerFile } from "../../context-bench/answer-file.js";
import { AskedModels, type AskedRequests } from "../../context-bench/remembered-answers.js";
import { PiError } from "../../errors.js";
import { networkOf } from "../../network/network.js";
import { loadModelClient } from "../../services/models/model-client.js";
import type { Location } from "./location.js";
import type { PastFacts } from "./past-facts.js";

export interface BenchModelsOptions extends Pick<PastFacts, "registry" | "credentials"> {
	/** Of `--model`: writes summaries unless the settings name another one. */
	model: Model<Api> | undefined;
	/** Called before and after each request. */
	onAsk(asked: AskedRequests): void;
	onWarning(line: string): void;
}

/**
 * The models that `pi context bench --ask` asks, with the keys and settings of sessions.
 * @throws PiError `model_unknown` if the setting `compaction.model` names no model
 */
export async function benchModels(
	{ env, paths, settings }: Location,
	options: BenchModelsOptions,
): Promise<AskedModels> {
	const { registry, credentials, model, onAsk, onWarning } = options;
	const network = await networkOf(env);
	return new AskedModels({
		client: await loadModelClient(network),
		requestAuth: (asked) => network.run(() => credentials.requestAuth(asked)),
		isPriced: (asked) => registry.isPriced(asked),
		answers: new AnswerFile(join(paths.agentDir, "cache", "bench-answers.json")),
		summarizer: configured(settings.compaction.model, registry) ?? model ?? null,
		retry: settings.retry,
		idleTimeoutMs: settings.streamIdleTimeoutMs,
		redact: (text) => credentials.redactSecrets(text),
		onAsk,
		onWarning,
	});
}

function configured(name: string | undefined, registry: PastFacts["registry"]): Model<Api> | undefined {
	if (!name) return undefined;
	const [provider = "", ...id] = name.split("/");
	const found = registry.findOrAssume(provider, id.join("/"));
	if (found) return found;
	throw new PiError("model_unknown", `The setting compaction.model names ${name}, which is not known`, {
		hint: "pi models list shows all models",
	});
}

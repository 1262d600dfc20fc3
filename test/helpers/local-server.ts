import { isObject } from "./json.js";
import type { LoopbackProvider } from "./loopback-provider.js";

/** A model of an Ollama server. */
export interface OllamaModel {
	id: string;
	/** As trained, in tokens. */
	trained?: number;
	/** The window with which the server loads the model. */
	loadsWith?: number;
	/** Whether it is loaded from the start; else it is by the first request. */
	isLoaded?: boolean;
	/** Default: completion and tools; null: as servers that report none. */
	capabilities?: string[] | null;
	/** Lines of a Modelfile, such as `num_ctx 8192`. */
	parameters?: string;
	family?: string;
	template?: string;
	/** The model that a cloud model stands for. */
	remote?: string;
}

/** The port of a provider, for `localServers`. */
export function portOf({ origin }: LoopbackProvider): number {
	return Number(new URL(origin).port);
}

/**
 * Makes a provider answer like an Ollama server that has these models.
 * @param canLoad whether it loads a model without a prompt, as the real one does
 */
export function serveOllama(
	provider: LoopbackProvider,
	models: readonly OllamaModel[],
	{ canLoad = false } = {},
): LoopbackProvider {
	const loaded = new Set<unknown>();
	const isLoaded = ({ id, isLoaded }: OllamaModel) =>
		isLoaded === true || loaded.has(id) || provider.requests.some(({ body }) => body.model === id);
	if (canLoad) {
		provider.route("/api/generate", (body) => {
			if (isObject(body)) loaded.add(body.model);
			return { response: "", done: true, done_reason: "load" };
		});
	}
	provider.route("/v1/models", () => list(models.map(({ id }) => ({ id, object: "model", owned_by: "library" }))));
	provider.route("/api/ps", () => ({
		models: models
			.filter(isLoaded)
			.map(({ id, loadsWith = 4096 }) => ({ name: id, model: id, size: 1, context_length: loadsWith })),
	}));
	provider.route("/api/show", (body) => {
		const model = models.find(({ id }) => isObject(body) && body.model === id);
		if (!model) return undefined;
		const { parameters = "", family = "qwen3", template = "", trained = 40_960, remote } = model;
		const { capabilities = ["completion", "tools"] } = model;
		return {
			parameters,
			template,
			details: { family },
			model_info: { "general.architecture": family, [`${family}.context_length`]: trained },
			...(capabilities && { capabilities }),
			...(remote !== undefined && { remote_model: remote, remote_host: "https://ollama.example" }),
		};
	});
	return provider;
}

/** Makes a provider answer like LM Studio. @param models entries of `/api/v0/models` */
export function serveLmStudio(
	provider: LoopbackProvider,
	models: readonly ({ id: string } & Record<string, unknown>)[],
): LoopbackProvider {
	provider.route("/v1/models", () => list(models.map(({ id }) => ({ id, object: "model" }))));
	return provider.route("/api/v0/models", () => list(models));
}

/** Makes a provider answer like llama-server with one model. @param props the answer of `/props` */
export function serveLlama(provider: LoopbackProvider, id: string, props: Record<string, unknown>): LoopbackProvider {
	provider.route("/v1/models", () => list([{ id, object: "model", meta: { n_ctx_train: 131_072 } }]));
	return provider.route(`/props?model=${encodeURIComponent(id)}&autoload=false`, () => props);
}

function list(data: readonly unknown[]) {
	return { object: "list", data };
}

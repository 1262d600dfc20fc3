import type { JsonObject } from "../config/json-file.js";
import { isRecord } from "../util/is-record.js";
import type { LocalServer } from "./local-addresses.js";

/** A model as a server lists it. */
export type ListedModel = JsonObject & { id: string };

/** What a server reports about one of its models; omitted fields are unknown. */
export interface LocalFacts {
	/** Tokens, as the model is loaded, or as the server would load it. */
	contextWindow?: number | undefined;
	/** False: requests with tools fail. */
	tools?: boolean | undefined;
	vision?: boolean;
	/** `effort`: with a level per request, `switch`: on or off per request, `fixed`: the server decides. */
	thinking?: "effort" | "switch" | "fixed" | undefined;
	/** True for models that create no text, such as embedding models. */
	isSilent?: boolean;
}

/** Asks a server; resolves with an empty object if it does not answer. */
export type AskServer = (path: string, body?: JsonObject) => Promise<JsonObject>;

type FactReader = (models: readonly ListedModel[], ask: AskServer) => Promise<LocalFacts[]>;

/** The context window with which Ollama and LM Studio load a model for which none is configured. */
const DEFAULT_WINDOW = 4096;

/** Reads the facts of a server's models, in their order. */
export const FACT_READERS: Readonly<Record<LocalServer, FactReader>> = {
	async ollama(models, ask) {
		const [running, ...shown] = await Promise.all([
			ask("/api/ps"),
			...models.map(({ id }) => ask("/api/show", { model: id })),
		]);
		const loaded = objects(running?.models);
		return models.map(({ id }, index) => {
			const process = loaded.find(({ name, model }) => [name, model].some((known) => known === id));
			return ollamaFacts(shown[index] ?? {}, count(process?.context_length));
		});
	},

	async lmstudio(models, ask) {
		const known = objects((await ask("/api/v0/models")).data);
		const reportsCapabilities = known.some(({ capabilities }) => Array.isArray(capabilities));
		return models.map(({ id }) => {
			const model = known.find((candidate) => candidate.id === id);
			if (!model) return { contextWindow: DEFAULT_WINDOW };
			return {
				contextWindow: count(model.loaded_context_length) ?? smaller(DEFAULT_WINDOW, count(model.max_context_length)),
				tools: reportsCapabilities ? list(model.capabilities).includes("tool_use") : undefined,
				vision: model.type === "vlm",
				isSilent: model.type === "embeddings",
			};
		});
	},

	async llamacpp(models, ask) {
		return Promise.all(
			models.map(async ({ id, status, meta }) => {
				// A router would load the model to answer.
				const isLoaded = !isRecord(status) || status.value === "loaded";
				const query = `model=${encodeURIComponent(id)}&autoload=false`;
				return llamaFacts(isLoaded ? await ask(`/props?${query}`) : {}, isRecord(meta) ? meta : {});
			}),
		);
	},

	async vllm(models) {
		return models.map(({ max_model_len }) => ({ contextWindow: count(max_model_len) }));
	},
};

/** @param loaded the context window of the running model */
function ollamaFacts(shown: JsonObject, loaded: number | undefined): LocalFacts {
	const info = isRecord(shown.model_info) ? shown.model_info : {};
	const details = isRecord(shown.details) ? shown.details : {};
	const trained = count(info[`${String(info["general.architecture"])}.context_length`]);
	const configured = Number(/^num_ctx\s+(\d+)/m.exec(text(shown.parameters))?.[1]);
	const window = smaller(count(configured) ?? DEFAULT_WINDOW, trained);
	// Models in Ollama's cloud have their complete window.
	const isRemote = text(shown.remote_model) !== "";
	const contextWindow = loaded ?? (isRemote ? (trained ?? window) : window);
	const { capabilities, template } = shown;
	if (!Array.isArray(capabilities)) {
		// Versions before 0.6.4 report no capabilities, and reject tools if the template does not mention them.
		return { contextWindow, tools: typeof template === "string" ? template.includes(".Tools") : undefined };
	}
	// Ollama rejects requests with an effort, except for this family.
	const thinking = details.family === "gptoss" ? "effort" : "fixed";
	return {
		contextWindow,
		tools: capabilities.includes("tools"),
		vision: capabilities.includes("vision"),
		thinking: capabilities.includes("thinking") ? thinking : undefined,
		isSilent: !capabilities.includes("completion"),
	};
}

function llamaFacts(props: JsonObject, meta: JsonObject): LocalFacts {
	const { default_generation_settings: settings, modalities, chat_template_caps: caps } = props;
	const template = text(props.chat_template);
	return {
		contextWindow: (isRecord(settings) ? count(settings.n_ctx) : undefined) ?? count(meta.n_ctx),
		tools: isRecord(caps) && caps.supports_tools === false ? false : undefined,
		vision: isRecord(modalities) && modalities.vision === true,
		thinking: template.includes("enable_thinking") ? "switch" : /<\|?think/.test(template) ? "fixed" : undefined,
	};
}

function objects(value: unknown): JsonObject[] {
	return list(value).filter(isRecord);
}

function list(value: unknown): unknown[] {
	return Array.isArray(value) ? value : [];
}

function text(value: unknown): string {
	return typeof value === "string" ? value : "";
}

/** @returns the value if it is a number of tokens */
function count(value: unknown): number | undefined {
	return typeof value === "number" && Number.isInteger(value) && value > 0 ? value : undefined;
}

function smaller(a: number, b: number | undefined): number {
	return Math.min(a, b ?? a);
}

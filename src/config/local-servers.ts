import type { IncomingMessage } from "node:http";
import type { Api, Model } from "@mariozechner/pi-ai";
import { isJsonObject, type JsonObject } from "./json-file.js";

/** Local model servers and their default ports. */
export const LOCAL_SERVER_PORTS = { ollama: 11434, lmstudio: 1234, llamacpp: 8080, vllm: 8000 } as const;

/** Provider name of a local server. */
export type LocalServer = keyof typeof LOCAL_SERVER_PORTS;

/** Options of `findLocalModels`. */
export interface FindLocalOptions {
	signal?: AbortSignal;
	/** Ports to query instead of the default ones; omitted servers are not queried. */
	ports?: Partial<Record<LocalServer, number>>;
	/** Maximum time for each server in ms. Default 300. */
	timeoutMs?: number;
}

const NAMES: Readonly<Record<LocalServer, string>> = {
	ollama: "Ollama",
	lmstudio: "LM Studio",
	llamacpp: "llama.cpp",
	vllm: "vLLM",
};
const MAX_ANSWER_BYTES = 2 * 1024 * 1024;
const EMBEDDING =
	/(?:^|[-_/.])(?:embed|embedding|embeddings|rerank|reranker|whisper|tts)(?:$|[-_/.:\d])|^nomic-embed|bge-/i;

/**
 * Lists the models of the servers on this machine, which are queried in parallel over loopback. Never throws: a server
 * that does not respond in time, or not like a model server, is omitted.
 */
export async function findLocalModels(options: FindLocalOptions = {}): Promise<Model<Api>[]> {
	const { signal, ports = LOCAL_SERVER_PORTS, timeoutMs = 300 } = options;
	const found = await Promise.all(
		LOCAL_SERVERS.map(async (server) => {
			const port = ports[server];
			if (port === undefined) return [];
			const limit = AbortSignal.timeout(timeoutMs);
			try {
				const list = await listModels(port, signal ? AbortSignal.any([signal, limit]) : limit);
				return list.flatMap((entry) => buildModel(server, port, entry) ?? []);
			} catch {
				return []; // no server, or not a model server
			}
		}),
	);
	return found.flat();
}

export const LOCAL_SERVERS: readonly LocalServer[] = ["ollama", "lmstudio", "llamacpp", "vllm"];

async function listModels(port: number, signal: AbortSignal): Promise<JsonObject[]> {
	// Not fetch: its first use costs more than the complete search.
	const { get } = await import("node:http");
	const body = await new Promise<string>((resolve, reject) => {
		const request = get({ host: "127.0.0.1", port, path: "/v1/models", agent: false, signal }, (response) => {
			readBody(response).then(resolve, reject);
		});
		request.on("error", reject);
	});
	const answer: unknown = JSON.parse(body);
	const list = isJsonObject(answer) && Array.isArray(answer.data) ? answer.data : [];
	return list.filter(isJsonObject);
}

async function readBody(response: IncomingMessage): Promise<string> {
	if (response.statusCode !== 200) {
		response.destroy();
		throw new Error(`status ${response.statusCode}`);
	}
	const chunks: Buffer[] = [];
	let size = 0;
	for await (const chunk of response) {
		const bytes = Buffer.from(chunk);
		size += bytes.length;
		if (size > MAX_ANSWER_BYTES) throw new Error("the response is too long");
		chunks.push(bytes);
	}
	return Buffer.concat(chunks).toString("utf8");
}

function buildModel(server: LocalServer, port: number, entry: JsonObject): Model<"openai-completions"> | null {
	const { id } = entry;
	if (typeof id !== "string" || id === "" || EMBEDDING.test(id)) return null;
	const contextWindow = contextSize(entry) ?? 32_768;
	return {
		id,
		name: `${id.replace(/^.*[\\/]/, "")} (${NAMES[server]})`,
		api: "openai-completions",
		provider: server,
		baseUrl: `http://127.0.0.1:${port}/v1`,
		reasoning: false,
		input: ["text"],
		cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
		contextWindow,
		maxTokens: Math.min(8192, Math.floor(contextWindow / 2)),
		compat: {
			supportsDeveloperRole: false,
			supportsStore: false,
			supportsReasoningEffort: false,
			supportsStrictMode: false,
			maxTokensField: "max_tokens",
		},
	};
}

/** vLLM reports `max_model_len` and llama.cpp `meta.n_ctx_train`; other servers report nothing. */
function contextSize(entry: JsonObject): number | undefined {
	const meta = isJsonObject(entry.meta) ? entry.meta : {};
	return [entry.max_model_len, meta.n_ctx, meta.n_ctx_train].find(
		(size): size is number => typeof size === "number" && Number.isInteger(size) && size > 0,
	);
}

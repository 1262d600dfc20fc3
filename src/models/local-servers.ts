import { setMaxListeners } from "node:events";
import type { IncomingMessage } from "node:http";
import type { Api, Model } from "@mariozechner/pi-ai";
import type { JsonObject } from "../config/json-file.js";
import { type Environment, processEnvironment } from "../config/paths.js";
import { withTimeLimit } from "../util/abort.js";
import { isRecord } from "../util/is-record.js";
import { isLoopback, LOCAL_SERVERS, type LocalServer, localAddress } from "./local-addresses.js";
import { FACT_READERS, type ListedModel, type LocalFacts } from "./local-facts.js";
import type { KnownModel } from "./model-facts.js";

export { isLocalServer, LOCAL_SERVERS } from "./local-addresses.js";

/** Options of `findLocalModels`. */
export interface FindLocalOptions {
	signal?: AbortSignal;
	/** Names the addresses of servers, such as `OLLAMA_HOST`. Default: that of the process. */
	env?: Environment;
	/** Ports on loopback to query instead of the addresses of `env`; omitted servers are not queried. */
	ports?: Partial<Record<LocalServer, number>>;
	/** Maximum time of a server for its list, and for all details, in ms. Default 300, or 1500 on another machine. */
	timeoutMs?: number;
	/** Queries only the server of this model, about this model. */
	only?: { provider: string; id: string };
}

const NAMES: Readonly<Record<LocalServer, string>> = {
	ollama: "Ollama",
	lmstudio: "LM Studio",
	llamacpp: "llama.cpp",
	vllm: "vLLM",
};
const UNKNOWN_WINDOW = 32_768;
const EMBEDDING =
	/(?:^|[-_/.])(?:embed|embedding|embeddings|rerank|reranker|whisper|tts)(?:$|[-_/.:\d])|^nomic-embed|bge-/i;

/**
 * Lists the models of the local servers, which are queried in parallel. Never throws: a server that does not respond in
 * time, or not like a model server, is omitted, and so is what it does not tell about a model.
 */
export async function findLocalModels(options: FindLocalOptions = {}): Promise<KnownModel[]> {
	const servers = LOCAL_SERVERS.filter((server) => (options.only?.provider ?? server) === server);
	const found = await Promise.all(
		servers.map(async (server) => {
			const address = addressOf(server, options);
			// A failure: no server, or not a model server.
			return address === null ? [] : modelsOf(server, address, options).catch(() => []);
		}),
	);
	return found.flat();
}

/**
 * Loads a model of Ollama, as the next request would, so that the server knows its context window. Resolves when it is
 * loaded, was loaded before, or cannot be; never throws.
 */
export async function loadLocalModel(
	{ provider, baseUrl, id }: Pick<Model<Api>, "provider" | "baseUrl" | "id">,
	signal: AbortSignal,
): Promise<void> {
	// Models in Ollama's cloud are never loaded.
	if (provider !== "ollama" || /[:-]cloud$/.test(id)) return;
	const address = baseUrl.replace(/\/v1\/?$/, "");
	try {
		const { models } = await withTimeLimit(1500, [signal], (limited) => requestJson(`${address}/api/ps`, limited));
		const isLoaded = Array.isArray(models) && models.some((model) => isRecord(model) && model.name === id);
		if (!isLoaded) await requestJson(`${address}/api/generate`, signal, { model: id });
	} catch {
		// The request itself reports what is wrong.
	}
}

function addressOf(server: LocalServer, { ports, env = processEnvironment() }: FindLocalOptions): string | null {
	if (!ports) return localAddress(server, env);
	return ports[server] === undefined ? null : `http://127.0.0.1:${ports[server]}`;
}

async function modelsOf(
	server: LocalServer,
	address: string,
	{ signal, only, timeoutMs = isLoopback(address) ? 300 : 1500 }: FindLocalOptions,
): Promise<KnownModel[]> {
	const { data } = await withTimeLimit(timeoutMs, [signal], (limited) => requestJson(`${address}/v1/models`, limited));
	const models = (Array.isArray(data) ? data : []).filter(isChatModel).filter(({ id }) => (only?.id ?? id) === id);
	if (models.length === 0) return [];
	const facts = await withTimeLimit(timeoutMs, [signal], (limited) => {
		// Every request of a server with many models listens to it.
		setMaxListeners(0, limited);
		return FACT_READERS[server](models, (path, body) =>
			requestJson(`${address}${path}`, limited, body).catch(() => ({})),
		);
	});
	return models.flatMap(({ id }, index) => {
		const known = facts[index] ?? {};
		return known.isSilent ? [] : [buildModel(server, address, id, known)];
	});
}

function isChatModel(entry: unknown): entry is ListedModel {
	return isRecord(entry) && typeof entry.id === "string" && entry.id !== "" && !EMBEDDING.test(entry.id);
}

function buildModel(server: LocalServer, address: string, id: string, facts: LocalFacts): KnownModel {
	const { contextWindow = UNKNOWN_WINDOW, tools, vision, thinking } = facts;
	const model: Model<"openai-completions"> = {
		id,
		name: `${id.replace(/^.*[\\/]/, "")} (${NAMES[server]})`,
		api: "openai-completions",
		provider: server,
		baseUrl: `${address}/v1`,
		reasoning: thinking !== undefined,
		input: vision ? ["text", "image"] : ["text"],
		cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
		contextWindow,
		maxTokens: Math.min(8192, Math.floor(contextWindow / 2)),
		compat: {
			supportsDeveloperRole: false,
			supportsStore: false,
			supportsReasoningEffort: thinking === "effort",
			supportsStrictMode: false,
			maxTokensField: "max_tokens",
			...(thinking === "switch" && { thinkingFormat: "qwen-chat-template" }),
		},
		...(thinking === "effort" && { thinkingLevelMap: { off: null, minimal: null } }),
	};
	return { ...model, ...(tools === false && { tools }) };
}

const MAX_ANSWER_BYTES = 2 * 1024 * 1024;

/**
 * Requests a JSON object: with GET, or with POST if there is a body.
 * @throws if the server does not answer with a JSON object and status 200
 */
async function requestJson(url: string, signal: AbortSignal, body?: JsonObject): Promise<JsonObject> {
	// Not fetch: its first use costs more than the complete search.
	const { request } = url.startsWith("https:") ? await import("node:https") : await import("node:http");
	const text = await new Promise<string>((resolve, reject) => {
		const headers = body ? { "content-type": "application/json" } : {};
		const sent = request(url, { method: body ? "POST" : "GET", agent: false, headers, signal }, (response) => {
			readBody(response).then(resolve, reject);
		});
		sent.on("error", reject);
		sent.end(body && JSON.stringify(body));
	});
	const answer: unknown = JSON.parse(text);
	if (!isRecord(answer)) throw new Error("the response is not a JSON object");
	return answer;
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

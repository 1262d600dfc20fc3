import {
	createServer,
	type IncomingHttpHeaders,
	type IncomingMessage,
	type Server,
	type ServerResponse,
} from "node:http";
import type { Model } from "@mariozechner/pi-ai";
import { onTestFinished } from "vitest";
import { isObject, type JsonObject, parseJson, stringOr } from "./json.js";
import { judgeFormat } from "./judge-format.js";
import { judgeThinking, knownModel } from "./judge-thinking.js";
import { type Reply, type ReplyStep, toStep } from "./provider-step.js";
import { judgeSigned, readAnthropicRequest, type SignedBlock } from "./read-anthropic.js";
import { readGoogleRequest } from "./read-google.js";
import { readOpenaiRequest } from "./read-openai.js";
import { readResponsesRequest } from "./read-responses.js";
import { sendReply } from "./send-reply.js";
import { judgeConversation, type ReadRequest, type WireMessage } from "./wire-message.js";

export { httpError, providerSearch, type Reply, type ReplyStep, text, thinking, toolCall } from "./provider-step.js";

/** The wire formats that the provider speaks. */
export type LoopbackApi = "openai-completions" | "openai-responses" | "anthropic-messages" | "google-generative-ai";

/** A request that the provider received. */
export interface ProviderRequest {
	/** 0-based, in order of arrival. */
	index: number;
	api: LoopbackApi;
	headers: IncomingHttpHeaders;
	body: JsonObject;
	/** The conversation in a common format for all APIs; the system prompt is the first message. */
	messages: WireMessage[];
	/** Resolves when the response ends: true when it was sent completely, false when the client disconnected first. */
	closed: Promise<boolean>;
}

/** Fields of a model that a test may set. */
export interface LoopbackModelOptions {
	id?: string;
	reasoning?: boolean;
	input?: ("text" | "image")[];
	contextWindow?: number;
	maxTokens?: number;
	thinkingLevelMap?: Model<LoopbackApi>["thinkingLevelMap"];
	/** Only of `model`: models.json does not contain them. */
	inputLimits?: Model<LoopbackApi>["inputLimits"];
	/** US dollars per million tokens. Default: all 0. */
	cost?: Model<LoopbackApi>["cost"];
	/** Of models.json: what the models accept. */
	compat?: JsonObject;
	/** Headers that models.json adds to each request. */
	headers?: Record<string, string>;
}

/** Names of the loopback provider in models.json, by API. */
export const LOOPBACK_PROVIDERS: Record<LoopbackApi, string> = {
	"openai-completions": "loopback",
	"openai-responses": "loopback-responses",
	"anthropic-messages": "loopback-anthropic",
	"google-generative-ai": "loopback-google",
};

const LOCAL_COMPAT = {
	supportsDeveloperRole: false,
	supportsStore: false,
	supportsReasoningEffort: false,
	maxTokensField: "max_tokens",
} as const;

/**
 * A model server on 127.0.0.1 that serves chat completions, responses, Anthropic messages and Google content from a script.
 * It checks each request as strictly as real servers: an invalid request gets a 400 and is recorded in `violations`.
 */
export class LoopbackProvider {
	/** Every request so far, in order of arrival. */
	readonly requests: ProviderRequest[] = [];
	/** One sentence per broken rule and per request without a script. */
	readonly violations: string[] = [];
	readonly #server: Server;
	readonly #queue: (Reply | ((request: ProviderRequest) => Reply | Promise<Reply>))[] = [];
	readonly #waiting: { count: number; resolve: () => void }[] = [];
	readonly #routes = new Map<string, (body: unknown) => unknown>();
	readonly #signed: SignedBlock[] = [];
	#handler: ((request: ProviderRequest) => Reply | Promise<Reply>) | null = null;
	#ids = 0;

	constructor() {
		this.#server = createServer((request, response) => {
			this.#serve(request, response).catch((error: unknown) => {
				this.violations.push(`the provider failed: ${String(error)}`);
				response.destroy();
			});
		});
	}

	/** Listens on a free port. */
	async start(): Promise<void> {
		await new Promise<void>((resolve) => this.#server.listen(0, "127.0.0.1", resolve));
	}

	/** Such as `http://127.0.0.1:4711`. */
	get origin(): string {
		const address = this.#server.address();
		if (address === null || typeof address === "string") throw new Error("The provider is not listening");
		return `http://127.0.0.1:${address.port}`;
	}

	/** Queues replies: each answers one request, in order, before the handler of `on`. */
	reply(...replies: (Reply | ((request: ProviderRequest) => Reply | Promise<Reply>))[]): this {
		this.#queue.push(...replies);
		return this;
	}

	/** Answers every request that finds the queue empty. */
	on(handler: (request: ProviderRequest) => Reply | Promise<Reply>): this {
		this.#handler = handler;
		return this;
	}

	/** Answers requests to a path, which may include a query, with JSON; undefined is a 404. */
	route(path: string, answer: (body: unknown) => unknown): this {
		this.#routes.set(path, answer);
		return this;
	}

	/** Resolves with request number `count` (1-based) when it has arrived. */
	async request(count: number): Promise<ProviderRequest> {
		if (this.requests.length < count) {
			await new Promise<void>((resolve) => this.#waiting.push({ count, resolve }));
		}
		const found = this.requests[count - 1];
		if (!found) throw new Error(`Request ${count} did not arrive`);
		return found;
	}

	/** Returns and clears the violations so far, for tests that expect some. */
	takeViolations(): string[] {
		return this.violations.splice(0);
	}

	/** Adds a signed block that the provider is to recognize, such as one of a recorded session. Those that it sends are added. */
	signed(text: string, signature: string): this {
		this.#signed.push({ text, signature });
		return this;
	}

	/** A model of pi-ai that points here; use any API key. */
	model<TApi extends LoopbackApi>(options: LoopbackModelOptions & { api: TApi }): Model<TApi>;
	model(options?: LoopbackModelOptions): Model<"openai-completions">;
	model(options: LoopbackModelOptions & { api?: LoopbackApi } = {}): Model<LoopbackApi> {
		const api = options.api ?? "openai-completions";
		const model: Model<LoopbackApi> = {
			...this.#modelFields(options),
			cost: options.cost ?? { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
			api,
			provider: LOOPBACK_PROVIDERS[api],
			baseUrl: this.baseUrl(api),
			...(options.inputLimits && { inputLimits: options.inputLimits }),
		};
		if (api === "openai-completions") model.compat = { ...LOCAL_COMPAT };
		return model;
	}

	/** The base URL for models: only Anthropic's client adds the version to it. */
	baseUrl(api: LoopbackApi): string {
		if (api === "anthropic-messages") return this.origin;
		return `${this.origin}/${api === "google-generative-ai" ? "v1beta" : "v1"}`;
	}

	/**
	 * The content of a models.json with a provider for each API.
	 * @param options `apis`: default: `loopback/scripted` and `loopback-anthropic/scripted`
	 */
	modelsJson(options: LoopbackModelOptions & { apis?: readonly LoopbackApi[] } = {}): JsonObject {
		const { apis = ["openai-completions", "anthropic-messages"] } = options;
		const face = (api: LoopbackApi) => ({
			baseUrl: this.baseUrl(api),
			api,
			apiKey: "loopback-key",
			...(options.headers ? { headers: options.headers } : {}),
			...(api === "openai-completions" ? { compat: LOCAL_COMPAT } : {}),
			models: [
				{
					...this.#modelFields(options),
					cost: options.cost ?? { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
					...(options.compat && { compat: options.compat }),
				},
			],
		});
		return { providers: Object.fromEntries(apis.map((api) => [LOOPBACK_PROVIDERS[api], face(api)])) };
	}

	/** Ends every connection and stops listening. */
	async close(): Promise<void> {
		await new Promise<void>((resolve) => {
			this.#server.close(() => resolve());
			this.#server.closeAllConnections();
		});
	}

	#modelFields(options: LoopbackModelOptions) {
		return {
			id: options.id ?? "scripted",
			name: options.id ?? "Scripted",
			reasoning: options.reasoning ?? false,
			input: options.input ?? ["text", "image"],
			contextWindow: options.contextWindow ?? 200_000,
			maxTokens: options.maxTokens ?? 16_384,
			...(options.thinkingLevelMap && { thinkingLevelMap: options.thinkingLevelMap }),
		};
	}

	async #serve(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
		const path = (incoming.url ?? "").split("?")[0];
		const route = this.#routes.get(incoming.url ?? "");
		if (route) {
			const answer = await route(parseJson(await readBody(incoming)));
			response.writeHead(answer === undefined ? 404 : 200, { "content-type": "application/json" });
			response.end(JSON.stringify(answer ?? { error: "not found" }));
			return;
		}
		if (incoming.method === "GET" && path === "/v1/models") {
			response.setHeader("content-type", "application/json");
			response.end(
				JSON.stringify({ object: "list", data: [{ id: "scripted", object: "model", owned_by: "loopback" }] }),
			);
			return;
		}
		const api = apiOf(path);
		if (incoming.method !== "POST" || api === null) {
			response.writeHead(404).end();
			return;
		}
		const body = parseJson(await readBody(incoming));
		const request = this.#record(api, incoming.headers, isObject(body) ? body : {}, response);
		const issues = isObject(body) ? this.#judge(request, modelOf(body, path)) : ["the body is no JSON object"];
		this.violations.push(...issues.map((issue) => `request ${request.index}: ${issue}`));
		const step = issues.length > 0 ? refusal(`Illegal request: ${issues.join("; ")}`) : await this.#next(request);
		await sendReply(response, api, step, request.body, () => `call_${++this.#ids}`);
	}

	#record(api: LoopbackApi, headers: IncomingHttpHeaders, body: JsonObject, response: ServerResponse): ProviderRequest {
		const closed = new Promise<boolean>((resolve) => {
			response.once("close", () => resolve(response.writableFinished));
		});
		const request: ProviderRequest = { index: this.requests.length, api, headers, body, messages: [], closed };
		this.requests.push(request);
		for (const waiting of this.#waiting) if (this.requests.length >= waiting.count) waiting.resolve();
		return request;
	}

	#judge({ api, body, headers, messages: read }: ProviderRequest, modelId: string): string[] {
		const { messages, issues } = READERS[api](body, headers);
		read.push(...messages);
		const model = knownModel(api, modelId);
		// The reader judges the thinking of all models of this API.
		const thinking = model && api !== "anthropic-messages" ? judgeThinking(api, body, headers, model) : [];
		const signed = api === "anthropic-messages" ? judgeSigned(body, this.#signed) : [];
		return [...issues, ...thinking, ...signed, ...judgeFormat(api, body), ...judgeConversation(messages)];
	}

	async #next(request: ProviderRequest): Promise<ReplyStep> {
		const next = this.#queue.shift() ?? this.#handler;
		if (next === null) {
			this.violations.push(`request ${request.index}: no reply is scripted for it`);
			return refusal("No reply is scripted for this request");
		}
		const step = toStep(typeof next === "function" ? await next(request) : next);
		for (const block of step.content ?? []) {
			if (block.type === "thinking" && block.signature) this.signed(block.thinking, block.signature);
		}
		return step;
	}
}

/** The model that a request names: Google's has it in its path. */
function modelOf(body: JsonObject, path = ""): string {
	return /\/models\/([^/:]+):/.exec(path)?.[1] ?? stringOr(body.model, "");
}

const READERS: Record<LoopbackApi, (body: JsonObject, headers: IncomingHttpHeaders) => ReadRequest> = {
	"openai-completions": readOpenaiRequest,
	"openai-responses": readResponsesRequest,
	"anthropic-messages": readAnthropicRequest,
	"google-generative-ai": readGoogleRequest,
};

function apiOf(path: string | undefined): LoopbackApi | null {
	if (path === "/v1/chat/completions") return "openai-completions";
	if (path === "/v1/responses") return "openai-responses";
	if (path === "/v1/messages") return "anthropic-messages";
	return /^\/v1beta\/models\/[^/]+:streamGenerateContent$/.test(path ?? "") ? "google-generative-ai" : null;
}

async function readBody(incoming: IncomingMessage): Promise<string> {
	const chunks: Buffer[] = [];
	for await (const chunk of incoming) chunks.push(Buffer.from(chunk));
	return Buffer.concat(chunks).toString("utf8");
}

/** 400: clients do not retry. */
function refusal(message: string): ReplyStep {
	return { fault: { kind: "http", status: 400, message } };
}

/**
 * Starts a provider for the running test. At its end the provider is closed, and violations that the test did not
 * clear fail it.
 */
export async function startProvider(): Promise<LoopbackProvider> {
	const provider = new LoopbackProvider();
	await provider.start();
	onTestFinished(async () => {
		await provider.close();
		if (provider.violations.length > 0) throw new Error(provider.violations.join("\n"));
	});
	return provider;
}

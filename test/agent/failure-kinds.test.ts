import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { Api, Model } from "@mariozechner/pi-ai";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { FAILURE_KINDS, kindOfFailure } from "../../src/agent/failure-kinds.js";
import { sendWithRetries } from "../../src/agent/send.js";
import { networkOf, setUpNetwork } from "../../src/network/network.js";
import { loadModelClient } from "../../src/services/models/model-client.js";
import { listen } from "../helpers/proxy.js";

const part = (claims: unknown) => Buffer.from(JSON.stringify(claims)).toString("base64url");
/** A key that all clients accept: Codex reads the account from it. */
const KEY = `e30.${part({ "https://api.openai.com/auth": { chatgpt_account_id: "a" } })}.c2ln`;

const { fetch } = globalThis;
const ENV = {};
beforeAll(() => setUpNetwork(ENV));
afterAll(() => {
	globalThis.fetch = fetch;
});

/** Sends a request with the client of an API to a server that answers with an error. */
async function failWith(api: Api, status: number, body: unknown, headers: Record<string, string> = {}) {
	for (const [name, value] of [
		["AWS_BEDROCK_FORCE_HTTP1", "1"],
		["AWS_BEDROCK_SKIP_AUTH", "1"],
	] as const)
		vi.stubEnv(name, value);
	let requests = 0;
	const server = createServer((request, response) => {
		// Codex tries a WebSocket first where Node has them, which is since version 22.
		if (!request.headers.upgrade) requests += 1;
		const send = () => response.writeHead(status, { "content-type": "application/json", ...headers });
		request.resume().on("end", () => send().end(JSON.stringify(body)));
	});
	const model: Model<Api> = {
		id: "one",
		name: "one",
		api,
		provider: "lab",
		baseUrl: `http://127.0.0.1:${await listen(server)}`,
		reasoning: false,
		input: ["text"],
		cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
		contextWindow: 1000,
		maxTokens: 100,
	};
	const client = await loadModelClient(await networkOf(ENV));
	await client.prepare(model);
	const request = {
		model,
		context: { messages: [{ role: "user" as const, content: "hi", timestamp: 0 }] },
		options: { apiKey: KEY, maxRetries: 0 },
	};
	const sent = await sendWithRetries(client.stream, async () => request, {
		signal: new AbortController().signal,
		retry: () => ({ enabled: true, maxRetries: 1, baseDelayMs: 1 }),
		idleTimeoutMs: () => 5000,
		refusalOf: () => null,
		redact: (text) => text,
		onEvent: () => {},
		onRetry: () => {},
	});
	vi.unstubAllEnvs();
	const text = sent?.reply.errorMessage ?? "";
	return { kind: kindOfFailure(text).name, isRetried: requests > 1, text };
}

const openai = (message: string, code: string | null, type = "invalid_request_error") => ({
	error: { message, type, param: null, code },
});
const anthropic = (type: string, message: string) => ({ type: "error", error: { type, message } });
const google = (code: number, status: string, message: string) => ({ error: { code, message, status } });

const QUOTA = "You exceeded your current quota, please check your plan and billing details.";
const COMPLETIONS = "openai-completions";
const RESPONSES = "openai-responses";
const CODEX = "openai-codex-responses";
const ANTHROPIC = "anthropic-messages";
const GOOGLE = "google-generative-ai";
const VERTEX = "google-vertex";
const MISTRAL = "mistral-conversations";
const BEDROCK = "bedrock-converse-stream";
const aws = (name: string) => ({ "x-amzn-errortype": name });

test.each<[api: Api, kind: string, status: number, body: unknown, headers?: Record<string, string>]>([
	[COMPLETIONS, "quota", 429, openai(QUOTA, "insufficient_quota", "insufficient_quota")],
	[RESPONSES, "quota", 429, openai(QUOTA, "insufficient_quota", "insufficient_quota")],
	[
		COMPLETIONS,
		"rate limit",
		429,
		openai("Rate limit reached for gpt-5 on tokens per min (TPM).", "rate_limit_exceeded"),
	],
	[
		COMPLETIONS,
		"region",
		403,
		openai("Country, region, or territory not supported", "unsupported_country_region_territory"),
	],
	[
		COMPLETIONS,
		"account disabled",
		401,
		openai("The OpenAI account associated with this API key has been deactivated.", "account_deactivated"),
	],
	[
		COMPLETIONS,
		"account disabled",
		429,
		openai("Your account is not active, please check your billing details on our website.", "billing_not_active"),
	],
	[COMPLETIONS, "unauthorized", 401, openai("Incorrect API key provided: sk-x.", "invalid_api_key")],
	[
		COMPLETIONS,
		"model",
		404,
		openai("The model `gpt-9` does not exist or you do not have access to it.", "model_not_found"),
	],
	[COMPLETIONS, "model", 403, openai("Project `p` does not have access to model `gpt-9`", "model_not_found")],
	[
		COMPLETIONS,
		"context",
		400,
		openai("This model's maximum context length is 8192 tokens.", "context_length_exceeded"),
	],
	[
		RESPONSES,
		"context",
		400,
		openai("Your input exceeds the context window of this model.", "context_length_exceeded"),
	],
	[
		COMPLETIONS,
		"image",
		400,
		openai("The image data you provided does not represent a valid image. Invalid image.", "image_parse_error"),
	],
	[
		COMPLETIONS,
		"overloaded",
		503,
		openai("The engine is currently overloaded, please try again later", null, "server_error"),
	],
	// Clients omit the code, and the complete body if it is not an object with `error`.
	[COMPLETIONS, "quota", 429, { error: { message: "Request failed", code: "insufficient_quota" } }],
	[RESPONSES, "quota", 429, { error: { message: "Request failed", type: "insufficient_quota" } }],
	[COMPLETIONS, "context", 400, { error: { message: "Request failed", code: "context_length_exceeded" } }],
	[COMPLETIONS, "model", 404, { error: { message: "Request failed", code: "model_not_found" } }],
	[COMPLETIONS, "context", 400, { object: "error", message: "This model's maximum context length is 4096 tokens." }],
	[COMPLETIONS, "model", 404, { object: "error", message: "The model `nope` does not exist.", code: 404 }],
	[COMPLETIONS, "model", 404, { detail: "Model not found: nope" }],
	[COMPLETIONS, "refused request", 422, { detail: [{ loc: ["body"], msg: "field required", type: "missing" }] }],
	[COMPLETIONS, "key", 400, [google(400, "INVALID_ARGUMENT", "API key not valid. Please pass a valid API key.")]],
	[COMPLETIONS, "quota", 429, [google(429, "RESOURCE_EXHAUSTED", QUOTA)]],
	[RESPONSES, "model", 404, [google(404, "NOT_FOUND", "models/nope is not found for API version v1beta.")]],
	[COMPLETIONS, "payment", 402, { error: { message: "Insufficient Balance", type: "unknown_error" } }],
	[COMPLETIONS, "payment", 402, { error: { message: "This request requires more credits", code: 402 } }],
	[COMPLETIONS, "quota", 403, { error: "Your newly created team doesn't have any credits yet.", code: "denied" }],
	[COMPLETIONS, "model", 400, { error: { message: "foo/bar is not a valid model ID", code: 400 } }],
	[COMPLETIONS, "model", 400, { error: { message: "Model Not Exist", type: "invalid_request_error" } }],
	[COMPLETIONS, "model", 404, { error: { message: 'model "nope" not found, try pulling it first' } }],
	[COMPLETIONS, "context", 400, { error: { code: 400, message: "the request exceeds the available context size" } }],
	[
		CODEX,
		"usage limit",
		429,
		{ error: { type: "usage_limit_reached", message: "The usage limit has been reached", plan_type: "plus" } },
	],
	[
		ANTHROPIC,
		"quota",
		400,
		anthropic("invalid_request_error", "Your credit balance is too low to access the Anthropic API."),
	],
	[ANTHROPIC, "account disabled", 400, anthropic("invalid_request_error", "This organization has been disabled.")],
	[ANTHROPIC, "overloaded", 529, anthropic("overloaded_error", "Overloaded")],
	[ANTHROPIC, "overloaded", 500, anthropic("api_error", "Internal server error")],
	[ANTHROPIC, "rate limit", 429, anthropic("rate_limit_error", "This request would exceed your account's rate limit.")],
	[ANTHROPIC, "unauthorized", 401, anthropic("authentication_error", "invalid x-api-key")],
	[ANTHROPIC, "access", 403, anthropic("permission_error", "Your API key does not have permission")],
	[ANTHROPIC, "model", 404, anthropic("not_found_error", "model: claude-9")],
	[ANTHROPIC, "not found", 404, { detail: "Not Found" }],
	[ANTHROPIC, "context", 400, anthropic("invalid_request_error", "prompt is too long: 213462 tokens > 200000 maximum")],
	[ANTHROPIC, "request size", 413, anthropic("request_too_large", "Request exceeds the maximum size")],
	[
		ANTHROPIC,
		"image",
		400,
		anthropic(
			"invalid_request_error",
			"messages.0.content.1.image.source.base64: image exceeds 5 MB maximum: 6 bytes > 5 bytes",
		),
	],
	[
		ANTHROPIC,
		"image",
		400,
		anthropic("invalid_request_error", "At least one of the image dimensions exceed max allowed size: 8000 pixels"),
	],
	[GOOGLE, "quota", 429, google(429, "RESOURCE_EXHAUSTED", QUOTA)],
	[GOOGLE, "rate limit", 429, google(429, "RESOURCE_EXHAUSTED", `${QUOTA} Please retry in 0.01s.`)],
	[GOOGLE, "region", 400, google(400, "FAILED_PRECONDITION", "User location is not supported for the API use.")],
	[GOOGLE, "key", 400, google(400, "INVALID_ARGUMENT", "API key not valid. Please pass a valid API key.")],
	[
		GOOGLE,
		"account disabled",
		403,
		google(403, "PERMISSION_DENIED", "Permission denied: Consumer 'api_key:x' has been suspended."),
	],
	[
		GOOGLE,
		"context",
		400,
		google(
			400,
			"INVALID_ARGUMENT",
			"The input token count (1196265) exceeds the maximum number of tokens allowed (1048575).",
		),
	],
	[
		GOOGLE,
		"model",
		404,
		google(
			404,
			"NOT_FOUND",
			"models/nope is not found for API version v1beta, or is not supported for generateContent.",
		),
	],
	[GOOGLE, "overloaded", 503, google(503, "UNAVAILABLE", "The model is overloaded. Please try again later.")],
	[GOOGLE, "image", 400, google(400, "INVALID_ARGUMENT", "Unable to process input image.")],
	[VERTEX, "quota", 429, google(429, "RESOURCE_EXHAUSTED", QUOTA)],
	[VERTEX, "overloaded", 503, google(503, "UNAVAILABLE", "The model is overloaded. Please try again later.")],
	[MISTRAL, "model", 400, { object: "error", message: "Invalid model: nope", type: "invalid_model", code: "1500" }],
	[
		MISTRAL,
		"context",
		400,
		{ message: "Prompt contains 40000 tokens, too large for model with 32768 maximum context length" },
	],
	[MISTRAL, "rate limit", 429, { message: "Requests rate limit exceeded" }],
	[
		BEDROCK,
		"rate limit in a stream",
		429,
		{ message: "Too many tokens, please wait before trying again." },
		aws("ThrottlingException"),
	],
	[
		BEDROCK,
		"overloaded in a stream",
		503,
		{ message: "Bedrock is unable to process your request." },
		aws("ServiceUnavailableException"),
	],
	[BEDROCK, "model", 400, { message: "The provided model identifier is invalid." }, aws("ValidationException")],
	[BEDROCK, "context", 400, { message: "Input is too long for requested model." }, aws("ValidationException")],
	[
		BEDROCK,
		"key",
		403,
		{ message: "The security token included in the request is invalid." },
		aws("UnrecognizedClientException"),
	],
])("%s: a failure of the kind “%s” (%i)", async (api, kind, status, body, headers) => {
	const failed = await failWith(api, status, body, headers);
	const isRetried = FAILURE_KINDS.find(({ name }) => name === kind)?.isRetried;
	expect({ ...failed, text: null }, failed.text).toEqual({ kind, isRetried, text: null });
});

test.each([GOOGLE, VERTEX])("%s: the message of an error is shown without its JSON", async (api) => {
	const body = google(400, "INVALID_ARGUMENT", "API key not valid. Please pass a valid API key.");
	expect((await failWith(api, 400, body)).text).toBe("400 API key not valid. Please pass a valid API key.");
	expect((await failWith(api, 400, [body])).text).toBe("400 API key not valid. Please pass a valid API key.");
});

test.each([
	["cannot connect to lab at box:443: DNS knows no such host (ENOTFOUND)", "unknown host", false],
	["cannot connect to lab at box:443: DNS did not answer (EAI_AGAIN)", "DNS", true],
	["cannot connect to lab at box:443: connection refused (ECONNREFUSED)", "closed port", true],
	["cannot connect to lab at box:443: connecting timed out", "connection", true],
	["cannot connect to lab at box:443: TLS failed (expired certificate)", "certificate", false],
	["cannot connect to lab at box:443: TLS failed (the server closed the connection)", "connection", true],
	["cannot connect to lab at box:443: TLS failed (the server does not speak TLS)", "no TLS", false],
	["cannot connect to lab at box:443 through proxy p:1: TLS failed (self-signed certificate)", "certificate", false],
	["cannot connect to proxy p:1 for lab at box:443: DNS knows no such host (ENOTFOUND)", "proxy address", false],
	["cannot connect to proxy p:1 for lab at box:443: connection refused (ECONNREFUSED)", "proxy down", true],
	["proxy p:1 requires a user name and password for lab at box:443 (407)", "proxy account", false],
	["proxy p:1 refused to connect to lab at box:443 (403)", "proxy refusal", false],
	["proxy p:1 cannot connect to lab at box:443 (502)", "proxy down", true],
	["lab at box:443 closed the connection without an answer", "connection", true],
	["the connection to lab at box:443 was lost during the reply", "connection", true],
	["lab at box:443 sent no content for 180 s", "silence", true],
])("%s", (text, name, isRetried) => expect(kindOfFailure(text)).toMatchObject({ name, isRetried }));

test("docs/providers.md lists all kinds of failures", () => {
	const rows = FAILURE_KINDS.map(
		({ name, from, isRetried, maxRetries, inside }) =>
			`| ${name} | ${from} | ${isRetried ? (maxRetries === undefined ? "yes" : `${maxRetries} times`) : "no"} | ${inside} |`,
	);
	expect(readFileSync(new URL("../../docs/providers.md", import.meta.url), "utf8")).toContain(rows.join("\n"));
});

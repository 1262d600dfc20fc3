import { createServer, type RequestListener } from "node:http";
import { expect, onTestFinished, test } from "vitest";
import { type LocalServer, localAddress } from "../../src/models/local-addresses.js";
import { findLocalModels } from "../../src/models/local-servers.js";
import type { KnownModel } from "../../src/models/model-facts.js";
import { portOf, serveLlama, serveLmStudio, serveOllama } from "../helpers/local-server.js";
import { type LoopbackProvider, startProvider } from "../helpers/loopback-provider.js";

async function serve(listener: RequestListener): Promise<number> {
	const server = createServer(listener);
	await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
	onTestFinished(() => {
		server.closeAllConnections();
		server.close();
	});
	const address = server.address();
	if (address === null || typeof address === "string") throw new Error("no port");
	return address.port;
}

const answers =
	(body: unknown, status = 200): RequestListener =>
	(request, response) => {
		response.writeHead(request.url === "/v1/models" ? status : 404, { "content-type": "application/json" });
		response.end(typeof body === "string" ? body : JSON.stringify(body));
	};

test("the models of local servers are found, without embedding models", async () => {
	const ollama = serveOllama(await startProvider(), [{ id: "qwen3:8b" }, { id: "nomic-embed-text:latest" }]);
	const vllm = await serve(answers({ data: [{ id: "org/Big-Model", max_model_len: 4096 }, { id: 7 }, null] }));
	const common = {
		api: "openai-completions",
		reasoning: false,
		input: ["text"],
		cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
		compat: {
			supportsDeveloperRole: false,
			supportsStore: false,
			supportsReasoningEffort: false,
			supportsStrictMode: false,
			maxTokensField: "max_tokens",
		},
		contextWindow: 4096,
		maxTokens: 2048,
	};
	expect(await findLocalModels({ ports: { ollama: portOf(ollama), vllm }, timeoutMs: 5000 })).toEqual([
		{
			...common,
			id: "qwen3:8b",
			name: "qwen3:8b (Ollama)",
			provider: "ollama",
			baseUrl: `${ollama.origin}/v1`,
		},
		{
			...common,
			id: "org/Big-Model",
			name: "Big-Model (vLLM)",
			provider: "vllm",
			baseUrl: `http://127.0.0.1:${vllm}/v1`,
		},
	]);
});

/** The facts that servers differ in. */
const factsOf = (models: readonly KnownModel[]) =>
	models.map(({ id, contextWindow, tools = true, input, reasoning }) =>
		[id, contextWindow, tools && "tools", input.includes("image") && "vision", reasoning && "thinking"].filter(Boolean),
	);

test("Ollama reports the window as loaded, else num_ctx, else 4,096, and what the model can do", async () => {
	const server = serveOllama(await startProvider(), [
		{ id: "loaded", isLoaded: true, loadsWith: 16_384, trained: 131_072 },
		{ id: "configured", parameters: 'stop "<|im_end|>"\nnum_ctx                        8192', trained: 131_072 },
		{ id: "default", trained: 131_072 },
		{ id: "tiny", trained: 2048 },
		{ id: "cloud", trained: 131_072, remote: "big" },
		{ id: "chat", capabilities: ["completion"] },
		{ id: "sees", capabilities: ["completion", "tools", "vision"] },
		{ id: "thinks", capabilities: ["completion", "tools", "thinking"] },
		{ id: "old", capabilities: null, template: "{{ if .Tools }}{{ .Tools }}{{ end }}" },
		{ id: "old-chat", capabilities: null, template: "{{ .Prompt }}" },
		{ id: "vectors", capabilities: ["embedding"] },
	]);
	const warnings: Error[] = [];
	const onWarning = (warning: Error) => void warnings.push(warning);
	process.on("warning", onWarning);
	onTestFinished(() => void process.off("warning", onWarning));
	expect(factsOf(await findLocalModels({ ports: { ollama: portOf(server) }, timeoutMs: 5000 }))).toEqual([
		["loaded", 16_384, "tools"],
		["configured", 8192, "tools"],
		["default", 4096, "tools"],
		["tiny", 2048, "tools"],
		["cloud", 131_072, "tools"],
		["chat", 4096],
		["sees", 4096, "tools", "vision"],
		["thinks", 4096, "tools", "thinking"],
		["old", 4096, "tools"],
		["old-chat", 4096],
	]);
	expect(warnings).toEqual([]);
});

test("only models of Ollama that accept an effort are asked for one", async () => {
	const capabilities = ["completion", "tools", "thinking"];
	const server = serveOllama(await startProvider(), [
		{ id: "gpt-oss:20b", family: "gptoss", capabilities },
		{ id: "qwen3", capabilities },
	]);
	const models = await findLocalModels({ ports: { ollama: portOf(server) }, timeoutMs: 5000 });
	expect(models.map(({ compat }) => compat)).toEqual([
		expect.objectContaining({ supportsReasoningEffort: true }),
		expect.objectContaining({ supportsReasoningEffort: false }),
	]);
});

test("LM Studio reports the window as loaded, else at most 4,096, and what the model can do", async () => {
	const server = serveLmStudio(await startProvider(), [
		{ id: "loaded", type: "llm", state: "loaded", loaded_context_length: 20_000, max_context_length: 131_072 },
		{ id: "waiting", type: "llm", state: "not-loaded", max_context_length: 131_072, capabilities: ["tool_use"] },
		{ id: "tiny", type: "llm", state: "not-loaded", max_context_length: 2048, capabilities: ["tool_use"] },
		{ id: "sees", type: "vlm", state: "not-loaded", max_context_length: 4096, capabilities: ["tool_use"] },
		{ id: "vectors", type: "embeddings", state: "not-loaded", max_context_length: 2048 },
	]);
	const find = async (provider: LoopbackProvider) =>
		factsOf(await findLocalModels({ ports: { lmstudio: portOf(provider) }, timeoutMs: 5000 }));
	expect(await find(server)).toEqual([
		["loaded", 20_000],
		["waiting", 4096, "tools"],
		["tiny", 2048, "tools"],
		["sees", 4096, "tools", "vision"],
	]);
	// Older versions report no capabilities.
	const older = serveLmStudio(await startProvider(), [{ id: "m", type: "llm", max_context_length: 8192 }]);
	expect(await find(older)).toEqual([["m", 4096, "tools"]]);
});

test.each<[string, Record<string, unknown>, unknown[]]>([
	["a window for each slot", { default_generation_settings: { n_ctx: 16_384 }, total_slots: 4 }, [16_384, "tools"]],
	["vision", { default_generation_settings: { n_ctx: 8192 }, modalities: { vision: true } }, [8192, "tools", "vision"]],
	["thinking", { chat_template: "{% if enable_thinking %}<think>{% endif %}" }, [32_768, "tools", "thinking"]],
	["no tools", { chat_template_caps: { supports_tools: false } }, [32_768]],
])("llama.cpp reports %s", async (_name, props, expected) => {
	const server = serveLlama(await startProvider(), "org/model.gguf", props);
	const found = await findLocalModels({ ports: { llamacpp: portOf(server) }, timeoutMs: 5000 });
	expect(factsOf(found)).toEqual([["org/model.gguf", ...expected]]);
});

test("a llama.cpp router is not asked about a model that it would have to load", async () => {
	const asked: (string | undefined)[] = [];
	const port = await serve((request, response) => {
		asked.push(request.url);
		response.end(JSON.stringify({ data: [{ id: "m", status: { value: "unloaded" } }] }));
	});
	expect(await findLocalModels({ ports: { llamacpp: port }, timeoutMs: 5000 })).toHaveLength(1);
	expect(asked).toEqual(["/v1/models"]);
});

test("a server that lists its models but answers no other question in time keeps them", async () => {
	const port = await serve((request, response) => {
		if (request.url === "/v1/models") response.end(JSON.stringify({ data: [{ id: "slow" }] }));
	});
	expect(factsOf(await findLocalModels({ ports: { ollama: port }, timeoutMs: 2000 }))).toEqual([
		["slow", 4096, "tools"],
	]);
});

test("the addresses of the environment are queried", async () => {
	const ollama = serveOllama(await startProvider(), [{ id: "a" }]);
	const vllm = serveLlama(await startProvider(), "b", {});
	const env = {
		OLLAMA_HOST: `0.0.0.0:${portOf(ollama)}`,
		LMSTUDIO_HOST: ":1",
		LLAMA_ARG_PORT: "1",
		VLLM_BASE_URL: `${vllm.origin}/v1/`,
	};
	const models = await findLocalModels({ env, timeoutMs: 5000 });
	expect(models.map(({ provider, id, baseUrl }) => [provider, id, baseUrl])).toEqual([
		["ollama", "a", `${ollama.origin}/v1`],
		["vllm", "b", `${vllm.origin}/v1`],
	]);
});

test.each<[LocalServer, Record<string, string>, string | null]>([
	["ollama", {}, "http://127.0.0.1:11434"],
	["ollama", { OLLAMA_HOST: "  " }, "http://127.0.0.1:11434"],
	["ollama", { OLLAMA_HOST: "box" }, "http://box:11434"],
	["ollama", { OLLAMA_HOST: "box:1" }, "http://box:1"],
	["ollama", { OLLAMA_HOST: "box:80" }, "http://box"],
	["ollama", { OLLAMA_HOST: ":1" }, "http://127.0.0.1:1"],
	["ollama", { OLLAMA_HOST: "0.0.0.0" }, "http://127.0.0.1:11434"],
	["ollama", { OLLAMA_HOST: "::1" }, "http://[::1]:11434"],
	["ollama", { OLLAMA_HOST: "[::]:1" }, "http://127.0.0.1:1"],
	["ollama", { OLLAMA_HOST: "http://box" }, "http://box"],
	["ollama", { OLLAMA_HOST: "https://box.example/api/" }, "https://box.example/api"],
	["ollama", { OLLAMA_BASE_URL: "http://box:1/v1" }, "http://box:1"],
	["ollama", { OLLAMA_HOST: "a b" }, null],
	["lmstudio", { LMSTUDIO_HOST: "box" }, "http://box:1234"],
	["llamacpp", { LLAMACPP_BASE_URL: "https://box:1" }, "https://box:1"],
	["llamacpp", { LLAMA_ARG_HOST: "0.0.0.0", LLAMA_ARG_PORT: "9090" }, "http://127.0.0.1:9090"],
	["vllm", { VLLM_HOST: "box" }, "http://box:8000"],
])("%s with %j is at %s", (server, env, expected) => {
	expect(localAddress(server, env)).toBe(expected);
});

test.each<[string, RequestListener]>([
	["says no", answers({}, 404)],
	["is another kind of server", answers("<html>")],
	["answers with another shape", answers({ data: "x" })],
	["answers null", answers("null")],
	["hangs up", (request) => request.socket.destroy()],
	["never ends", (_request, response) => response.write('{"data": [')],
	["floods", (_request, response) => response.end("x".repeat(3 * 1024 * 1024))],
])("a server that %s is ignored", async (_name, listener) => {
	const port = await serve(listener);
	expect(await findLocalModels({ ports: { llamacpp: port }, timeoutMs: 200 })).toEqual([]);
});

test("a port without a server is ignored", async () => {
	expect(await findLocalModels({ ports: { lmstudio: 1 } })).toEqual([]);
});

test("an abort signal stops the search", async () => {
	const port = await serve(() => {});
	expect(
		await findLocalModels({ ports: { ollama: port }, timeoutMs: 60_000, signal: AbortSignal.timeout(50) }),
	).toEqual([]);
});

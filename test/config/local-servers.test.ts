import { createServer, type RequestListener } from "node:http";
import { expect, onTestFinished, test } from "vitest";
import { findLocalModels } from "../../src/config/local-servers.js";

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
	const ollama = await serve(
		answers({ object: "list", data: [{ id: "qwen3:8b" }, { id: "nomic-embed-text:latest" }] }),
	);
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
	};
	expect(await findLocalModels({ ports: { ollama, vllm }, timeoutMs: 5000 })).toEqual([
		{
			...common,
			id: "qwen3:8b",
			name: "qwen3:8b (Ollama)",
			provider: "ollama",
			baseUrl: `http://127.0.0.1:${ollama}/v1`,
			contextWindow: 32768,
			maxTokens: 8192,
		},
		{
			...common,
			id: "org/Big-Model",
			name: "Big-Model (vLLM)",
			provider: "vllm",
			baseUrl: `http://127.0.0.1:${vllm}/v1`,
			contextWindow: 4096,
			maxTokens: 2048,
		},
	]);
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

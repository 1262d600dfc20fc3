import { describe, expect, test } from "vitest";
import { type OllamaModel, portOf, serveLmStudio, serveOllama } from "../../helpers/local-server.js";
import { startProvider, toolCall } from "../../helpers/loopback-provider.js";
import { startSession, type TestSessionOptions } from "../../helpers/session.js";
import { tempAgentDir, writeFiles } from "../../helpers/temp.js";

/** The windows are small, and compaction is not the subject. */
const WITHOUT_COMPACTION = { compaction: { enabled: false } };

async function startOllama(models: OllamaModel[], options: Partial<TestSessionOptions> = {}) {
	const provider = options.provider ?? serveOllama(await startProvider(), models);
	return startSession({
		provider,
		model: `ollama/${models[0]?.id}`,
		localServers: { ports: { ollama: portOf(provider) }, timeoutMs: 5000 },
		userSettings: WITHOUT_COMPACTION,
		...options,
	});
}

describe("a model that its server has not loaded", () => {
	test("has the window with which the first request loaded it, without another entry or notice", async () => {
		const { session, provider, notices } = await startOllama([{ id: "qwen3", loadsWith: 32_768 }]);
		expect(session.contextUsage().contextWindow).toBe(4096);
		provider.reply("hello");
		await session.prompt("hi");
		expect(session.contextUsage().contextWindow).toBe(32_768);
		expect(session.entries.filter(({ type }) => type === "model_change")).toEqual([]);
		expect(notices()).toEqual([]);
	});

	test("is loaded before the first request, so that its window is known", async () => {
		const provider = serveOllama(await startProvider(), [{ id: "qwen3", loadsWith: 32_768 }], { canLoad: true });
		const { session } = await startOllama([{ id: "qwen3" }], { provider });
		const windows: number[] = [];
		provider.on(() => {
			windows.push(session.contextUsage().contextWindow);
			return "done";
		});
		await session.prompt("hi");
		expect(windows).toEqual([32_768]);
	});

	test("stops loading with the run", async () => {
		const { session, provider } = await startOllama([{ id: "qwen3" }]);
		let abort = () => {};
		provider.route("/api/generate", () => {
			abort();
			return new Promise(() => {});
		});
		const aborted = new Promise<void>((resolve) => {
			abort = () => resolve(session.abort().then(() => {}));
		});
		await Promise.all([session.prompt("hi"), aborted]);
		expect(provider.requests).toEqual([]);
	});

	test("has that window from the second request of a run", async () => {
		const { session, provider } = await startOllama([{ id: "qwen3", loadsWith: 32_768 }]);
		const windows: number[] = [];
		provider.on(({ index }) => {
			windows.push(session.contextUsage().contextWindow);
			return index === 0 ? [toolCall("ls", { path: "." })] : "done";
		});
		await session.prompt("hi");
		expect(windows).toEqual([4096, 32_768]);
	});

	test("keeps the window that models.json names", async () => {
		const agentDir = tempAgentDir();
		const provider = serveOllama(await startProvider(), [{ id: "qwen3", loadsWith: 32_768 }]);
		const { session } = await startSession({
			provider,
			agentDir,
			model: "ollama/qwen3",
			localServers: { ports: { ollama: portOf(provider) }, timeoutMs: 5000 },
			userSettings: WITHOUT_COMPACTION,
		});
		const override = (contextWindow: number) => {
			const ollama = { modelOverrides: { qwen3: { contextWindow } } };
			writeFiles(agentDir, { "models.json": { providers: { ollama } } });
			return session.prompt("/reload");
		};
		await override(16_000);
		expect(session.contextUsage().contextWindow).toBe(16_000);
		provider.reply("hello");
		await session.prompt("hi");
		expect(session.contextUsage().contextWindow).toBe(16_000);
		writeFiles(agentDir, { "models.json": {} });
		await session.prompt("/reload");
		expect(session.contextUsage().contextWindow).toBe(32_768);
	});

	test("is asked about by LM Studio's own interface", async () => {
		const provider = await startProvider();
		const entry = { id: "m", type: "llm", max_context_length: 131_072, capabilities: ["tool_use"] };
		const models: ({ id: string } & Record<string, unknown>)[] = [{ ...entry, state: "not-loaded" }];
		serveLmStudio(provider, models);
		const { session } = await startSession({
			provider,
			model: "lmstudio/m",
			localServers: { ports: { lmstudio: portOf(provider) }, timeoutMs: 5000 },
			userSettings: WITHOUT_COMPACTION,
		});
		expect(session.contextUsage().contextWindow).toBe(4096);
		provider.reply(() => {
			models[0] = { ...entry, state: "loaded", loaded_context_length: 20_000 };
			return "hello";
		});
		await session.prompt("hi");
		expect(session.contextUsage().contextWindow).toBe(20_000);
	});
});

describe("a model that cannot call tools", () => {
	const CHAT: OllamaModel = { id: "gemma2", capabilities: ["completion"] };
	const LIMITS = "ollama/gemma2 cannot call tools · pi sends requests without them, so it cannot read or change files";

	test("gets requests without tools, and a system prompt that says so", async () => {
		const { session, provider } = await startOllama([CHAT]);
		provider.reply("hello");
		await session.prompt("hi");
		const [request] = provider.requests;
		expect(request?.body.tools).toBeUndefined();
		expect(request?.messages[0]?.text).toContain("You have no tools");
		expect(session.loaded.warnings).toEqual([LIMITS]);
	});

	test("is named when it is chosen, and tools are sent again to the next model", async () => {
		const { session, provider, notices } = await startOllama([{ id: "qwen3" }, CHAT]);
		const names = () => (Array.isArray(provider.requests.at(-1)?.body.tools) ? "tools" : "none");
		const said: unknown[] = [];
		const warnings = () => notices().filter((text) => text === LIMITS).length;
		for (const name of ["qwen3", "gemma2", "qwen3"]) {
			await session.prompt(`/model ollama/${name}`);
			provider.reply("hello");
			await session.prompt("hi");
			said.push([name, names(), warnings()]);
		}
		expect(said).toEqual([
			["qwen3", "tools", 0],
			["gemma2", "none", 1],
			["qwen3", "tools", 1],
		]);
	});

	test("counts the tools neither in the context nor in /context", async () => {
		const { session } = await startOllama([CHAT, { id: "qwen3" }]);
		const preamble = async () => (await session.inspector.inspectContext({ at: null })).context.preamble;
		expect((await preamble()).tools).toEqual([]);
		const without = (await preamble()).tokens;
		await session.prompt("/model ollama/qwen3");
		expect((await preamble()).tokens).toBeGreaterThan(without + 500);
	});

	test("is configured with `tools` in models.json", async () => {
		const agentDir = tempAgentDir();
		const { session, provider } = await startSession({ agentDir });
		const models = { loopback: { modelOverrides: { scripted: { tools: false } } } };
		const own = provider.modelsJson() as { providers: Record<string, object> };
		writeFiles(agentDir, {
			"models.json": { providers: { ...own.providers, loopback: { ...own.providers.loopback, ...models.loopback } } },
		});
		await session.prompt("/reload");
		provider.reply("hello");
		await session.prompt("hi");
		expect(provider.requests[0]?.body.tools).toBeUndefined();
	});
});

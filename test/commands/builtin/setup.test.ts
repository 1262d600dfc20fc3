import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Api, Model } from "@mariozechner/pi-ai";
import { expect, onTestFinished, test } from "vitest";
import { setupCommand } from "../../../src/commands/builtin/setup.js";
import type { CommandSession, CommandShell, CommandUI } from "../../../src/commands/command.js";
import type { SessionUI } from "../../../src/hooks/session-ui.js";
import { createAgentSession } from "../../../src/sdk/create-session.js";
import { startListServer } from "../../helpers/list-server.js";
import { startSession } from "../../helpers/session.js";
import { tempAgentDir, tempDir } from "../../helpers/temp.js";

function localModel(id: string): Model<Api> {
	return {
		id,
		name: `${id} (Ollama)`,
		api: "openai-completions",
		provider: "ollama",
		baseUrl: "http://127.0.0.1:11434/v1",
		reasoning: false,
		input: ["text"],
		cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
		contextWindow: 32_768,
		maxTokens: 8192,
	};
}

/** Runs /setup with available models; answers dialogs with the options of these labels. */
async function setUp(models: Model<Api>[], ...labels: string[]) {
	const chosen: Model<Api>[] = [];
	const asked: string[] = [];
	const select = async (title: string, options: readonly { label: string; value: unknown }[]) => {
		asked.push(title);
		const label = labels.shift();
		return options.find((option) => option.label === label)?.value ?? null;
	};
	const result = await setupCommand.run({
		session: {
			model: null,
			settings: { list: () => [{ path: "theme", source: "user" }] },
			availableModels: async () => models,
			setModel: async (model: Model<Api>) => void chosen.push(model),
		} as unknown as CommandSession,
		ui: { select, notify: () => {} } as unknown as CommandUI,
		shell: {} as CommandShell,
		args: [],
		rest: "",
		signal: new AbortController().signal,
	});
	return { result, chosen: chosen.map(({ id }) => id), asked };
}

test("/setup selects the only local model without asking", async () => {
	const { result, chosen, asked } = await setUp([localModel("qwen3")], "Local server");
	expect(result).toEqual({ status: "Model: ollama/qwen3" });
	expect(chosen).toEqual(["qwen3"]);
	expect(asked).toHaveLength(1);
});

test("/setup offers only the local models when there are several", async () => {
	const models = [{ ...localModel("gpt"), provider: "openai" }, localModel("qwen3"), localModel("glm")];
	const { chosen, asked } = await setUp(models, "Local server", "glm (Ollama)");
	expect(chosen).toEqual(["glm"]);
	expect(asked.at(-1)).toBe("Which model?");
});

test("/setup fails with a hint without a terminal", async () => {
	const { session } = await startSession();
	await expect(session.prompt("/setup")).rejects.toMatchObject({
		code: "not_a_terminal",
		hint: "set an API key variable such as ANTHROPIC_API_KEY instead",
	});
});

/** Runs /setup in a session of this directory, which adds the server at this address. */
async function addServer(dir: string, url: string, key: string, { offline = false, model = "" } = {}) {
	const session = await createAgentSession({
		cwd: tempDir(),
		home: tempDir(),
		env: { PI_CODING_AGENT_DIR: dir },
		session: { kind: "memory" },
		localServers: { ports: {} },
		offline,
	});
	onTestFinished(() => session.dispose());
	const notices: string[] = [];
	let ways = 0;
	const select = async (_: string, options: readonly { label: string; value: unknown }[]) => {
		const labels = options.map(({ label }) => label);
		if (labels.includes("Another address")) return ways++ === 0 ? "server" : null;
		return options[0]?.value ?? null;
	};
	session.attachUI(
		{
			select: select as SessionUI["select"],
			confirm: async () => true,
			input: async (title) => (title.startsWith("Model") ? model : url),
			notify: (text) => void notices.push(text.replaceAll(/:\d+/g, "")),
		},
		{
			copy: async () => {},
			setEditorText: () => {},
			secret: async () => key,
			quit: () => {},
			hotkeys: () => [],
			show: () => () => {},
		},
	);
	const result = await session.prompt("/setup");
	return { session, notices, result };
}

const LIST = { data: [{ id: "big", max_model_len: 65_536 }, { id: "small" }] };

test("/setup adds another server with its models, and its next request has the key", async () => {
	const server = await startListServer({ "/v1/models": LIST });
	const dir = tempAgentDir({ models: { providers: { lab: { baseUrl: "https://lab.example/v1", apiKey: "LAB" } } } });
	const { session } = await addServer(dir, `${server.origin}/`, " sk-lab-0123456789 ");
	const name = new URL(server.origin).host.replaceAll(/[.:]/g, "-");
	expect(session.model).toMatchObject({
		provider: name,
		id: "big",
		baseUrl: `${server.origin}/v1`,
		contextWindow: 65_536,
	});
	expect(server.requests.map(({ headers }) => headers.authorization)).toEqual(["Bearer sk-lab-0123456789"]);
	const file = readFileSync(join(dir, "models.json"), "utf8");
	expect(Object.keys(JSON.parse(file).providers)).toEqual(["lab", name]);
	expect(file).not.toContain("sk-lab");
	expect(JSON.parse(readFileSync(join(dir, "auth.json"), "utf8"))).toEqual({
		[name]: { type: "api_key", key: "sk-lab-0123456789" },
	});
	// A second time, its entry is replaced.
	await addServer(dir, `${server.origin}/v1`, "");
	expect(Object.keys(JSON.parse(readFileSync(join(dir, "models.json"), "utf8")).providers)).toEqual(["lab", name]);
});

test.each([
	[
		"refuses the key",
		401,
		"No models found: 127.0.0.1 answered 401: the key is not accepted · check the address and the key",
	],
	["has no list", 404, "No models found: 127.0.0.1 answered 404 · check the address and the key"],
])("/setup writes nothing for a server that %s, and returns to the list", async (_, status, notice) => {
	const { origin } = await startListServer({ "/v1/models": status, "/models": status });
	const dir = tempAgentDir();
	const { notices, result } = await addServer(dir, origin, "sk-lab-0123456789");
	expect(notices).toEqual([notice]);
	expect(result).toMatchObject({ status: "No model yet · run /setup to connect one" });
	expect(existsSync(join(dir, "models.json"))).toBe(false);
	expect(existsSync(join(dir, "auth.json"))).toBe(false);
});

test.each([
	["has no list", false],
	["is not asked offline", true],
])("/setup takes the name of a model for a server that %s, at exactly this address", async (_, offline) => {
	const { origin } = await startListServer({});
	const dir = tempAgentDir();
	const { session, result } = await addServer(dir, `${origin}/llm/`, "sk-lab-0123456789", { offline, model: " big " });
	expect(session.model).toMatchObject({ id: "big", baseUrl: `${origin}/llm`, api: "openai-completions" });
	expect(result).toMatchObject({ status: expect.stringMatching(/^Model: .*\/big$/) });
	expect(readFileSync(join(dir, "auth.json"), "utf8")).toContain("sk-lab-0123456789");
});

test.each(["models.example", "ftp://models.example", "https://me:secret@models.example"])(
	"/setup accepts no address like %s",
	async (url) => {
		const { notices } = await addServer(tempAgentDir(), url, "");
		expect(notices).toEqual(["This is not the address of a server · it looks like https://models.example/v1"]);
	},
);

test("/setup keeps a models.json that it cannot read", async () => {
	const server = await startListServer({ "/v1/models": LIST });
	const dir = tempAgentDir();
	writeFileSync(join(dir, "models.json"), "{ broken");
	const { notices } = await addServer(dir, server.origin, "");
	expect(notices.some((line) => line.includes("models.json"))).toBe(true);
	expect(readFileSync(join(dir, "models.json"), "utf8")).toBe("{ broken");
	expect(server.requests).toEqual([]);
});

test("/setup asks no server offline", async () => {
	const server = await startListServer({ "/v1/models": LIST });
	const { notices } = await addServer(tempAgentDir(), server.origin, "", { offline: true });
	expect(notices).toEqual(["Offline: the server cannot be asked for its models"]);
	expect(server.requests).toEqual([]);
});

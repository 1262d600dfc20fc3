import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, onTestFinished, test } from "vitest";
import { listModels } from "../../src/cli/list-models.js";
import { recordIO } from "../helpers/record-io.js";
import { tempAgentDir, tempDir, writeHook } from "../helpers/temp.js";

const MODELS = {
	providers: {
		box: {
			baseUrl: "http://127.0.0.1:9/v1",
			api: "openai-completions",
			models: [
				{ id: "small", contextWindow: 32_768 },
				{ id: "gift", cost: { input: 0, output: 0 }, tools: false },
				{
					id: "big",
					reasoning: true,
					input: ["text", "image"],
					contextWindow: 1_000_000,
					cost: { input: 0.25, output: 2 },
				},
			],
		},
	},
};

async function list(
	search: string,
	options: {
		models?: unknown;
		files?: Record<string, unknown>;
		env?: Record<string, string>;
		provider?: string;
		ports?: { ollama?: number };
		columns?: number;
	} = {},
) {
	const io = recordIO(options.columns !== undefined, options.columns);
	const env = {
		PI_CODING_AGENT_DIR: tempAgentDir({ models: options.models, ...(options.files && { files: options.files }) }),
		...options.env,
	};
	const home = tempDir();
	const localServers = { ports: options.ports ?? {}, timeoutMs: 5000 };
	const code = await listModels(search, { env, home, cwd: home, localServers, provider: options.provider }, io);
	return { code, lines: io.stdout().split("\n").slice(0, -1), stderr: io.stderr() };
}

describe("pi --list-models", () => {
	test("refuses an unknown provider and names the nearest", async () => {
		await expect(list("", { models: MODELS, provider: "bxo" })).rejects.toMatchObject({
			code: "model_unknown",
			message: 'No provider "bxo"',
			hint: expect.stringContaining("box"),
		});
	});

	test("prints the available models and the number of models without a key", async () => {
		const { code, lines, stderr } = await list("", { models: MODELS });
		expect(code).toBe(0);
		expect(lines).toEqual([
			"provider  model  context  tools  thinking  images  in/out per M tokens  key",
			"box       big    1M       yes    yes       yes     $0.25 / $2           no key needed",
			"box       gift   128k     no     no        no      free                 no key needed",
			"box       small  33k      yes    no        no      –                    no key needed",
		]);
		expect(stderr).toMatch(/^\d+ more models have no API key · list them with pi models list <text>\n$/);
	});

	test("finds models without a key by words, and names the variable to set", async () => {
		const { code, lines } = await list("anthropic SONNET 4-5");
		expect(code).toBe(0);
		expect(lines.length).toBeGreaterThan(1);
		const first = lines.find((line) => line.startsWith("anthropic "));
		expect(first).toContain("none: set ANTHROPIC_API_KEY");
	});

	test.each([
		["vision", ["big"]],
		["<$1 tools", ["big"]],
		["free", ["gift"]],
		["local 33k", ["big", "gift", "small"]],
		["tools small", ["small"]],
		["thinking 2m", []],
	])("finds models by %j", async (search, expected) => {
		const { lines } = await list(search, { models: MODELS, provider: "box" });
		expect(lines.slice(1).map((line) => line.split(/ +/)[1])).toEqual(expected);
	});

	test("prints the source of a key but never the key", async () => {
		const { lines } = await list("", { env: { ANTHROPIC_API_KEY: "sk-very-secret" }, provider: "anthropic" });
		expect(lines.slice(1).every((line) => line.startsWith("anthropic ") && line.endsWith("ANTHROPIC_API_KEY"))).toBe(
			true,
		);
		expect(lines.join("\n")).not.toContain("sk-very-secret");
	});

	test("prints a hint when nothing matches and when no key is set", async () => {
		expect(await list("smal", { models: MODELS, provider: "box" })).toMatchObject({ code: 0 });
		const missing = await list("sonet");
		expect(missing).toMatchObject({ code: 1, lines: [] });
		expect(missing.stderr).toContain('No model matches "sonet" · ');
		const empty = await list("");
		expect(empty.code).toBe(1);
		expect(empty.stderr).toContain("No model is set up · set ANTHROPIC_API_KEY");
	});

	test.each([120, 80, 40])(
		"fits into a terminal with %d columns, and names what there is no room for",
		async (columns) => {
			const { lines, stderr } = await list("openrouter", { env: { OPENROUTER_API_KEY: "k" }, columns });
			expect(lines.filter((line) => line.length > columns)).toEqual([]);
			const ids = lines.map((line) => line.split(/ {2,}/)[1]);
			expect(new Set(ids).size).toBeGreaterThan(ids.length * 0.95);
			expect(stderr.includes("No room for images")).toBe(columns < 160);
		},
	);

	test("marks retired models", async () => {
		const part = { updatedAt: "2099-01-01T00:00:00.000Z", models: {}, retired: ["claude-opus-4-8"] };
		const { lines } = await list("anthropic/claude-opus-4", {
			env: { ANTHROPIC_API_KEY: "k" },
			files: { "model-list.json": { version: 1, providers: { anthropic: { provider: part } } } },
		});
		expect(lines[0]).toMatch(/key +offered$/);
		expect(lines.filter((line) => line.endsWith("no longer")).map((line) => line.split(/ +/)[1])).toEqual([
			"claude-opus-4-8",
		]);
	});

	test("lists the models of servers on this machine", async () => {
		const server = createServer((_, response) => response.end(JSON.stringify({ data: [{ id: "qwen" }] })));
		await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
		onTestFinished(() => void server.close());
		const { port } = server.address() as AddressInfo;
		const { lines } = await list("ollama qwen", { ports: { ollama: port } });
		expect(lines[1]).toMatch(/^ollama +qwen .* no key needed$/);
	});
});

test("the models of hooks are listed, each with its hook", async () => {
	const agentDir = tempAgentDir({ models: MODELS });
	const provider = (name: string, fields: string) =>
		`export default (pi) => pi.provider("${name}", { baseUrl: "http://127.0.0.1:9", api: "openai-completions", ${fields} models: [{ id: "m" }] });`;
	writeHook(`${agentDir}/hooks`, "corp.ts", provider("corp", 'apiKey: "secret",'));
	writeHook(`${agentDir}/hooks`, "lab.ts", provider("corpus", "async *stream() {},"));
	writeHook(`${agentDir}/hooks`, "zed.ts", "export default () => { throw new Error('no'); };");
	const io = recordIO();
	const home = tempDir();
	const env = { PI_CODING_AGENT_DIR: agentDir };
	const code = await listModels("128k", { env, home, cwd: home, localServers: { ports: {} } }, io);
	const lines = io.stdout().split("\n");
	const isShown = /^(provider|corp|corpus|box) /;
	expect([code, lines.filter((line) => isShown.test(line)).map((line) => line.replace(/ {2,}/g, " | "))]).toEqual([
		0,
		[
			"provider | model | context | tools | thinking | images | in/out per M tokens | key | from",
			"box | big | 1M | yes | yes | yes | $0.25 / $2 | no key needed",
			"box | gift | 128k | no | no | no | free | no key needed",
			"corp | m | 128k | yes | no | no | – | hook corp | hook corp",
			"corpus | m | 128k | yes | no | no | – | no key needed | hook lab",
		],
	]);
	expect(io.stderr()).toContain("zed.ts");
});

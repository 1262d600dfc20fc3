import { expect, test } from "vitest";
import { type LoopbackApi, startProvider, text, thinking, toolCall } from "../helpers/loopback-provider.js";
import { runPi } from "../helpers/run-pi.js";
import { tempAgentDir, tempDir, writeFiles } from "../helpers/temp.js";

/** Today's models by provider, what each gets at level high, and the path of its requests. The server refuses anything illegal. */
const MODELS: [provider: string, id: string, api: LoopbackApi, fields: Record<string, unknown>][] = [
	[
		"anthropic",
		"claude-opus-5-5",
		"anthropic-messages",
		{ thinking: expect.objectContaining({ type: "adaptive" }), output_config: { effort: "high" } },
	],
	[
		"openai",
		"gpt-6-sol",
		"openai-responses",
		{ reasoning: { effort: "high", summary: "auto" }, include: ["reasoning.encrypted_content"], store: false },
	],
	[
		"google",
		"gemini-3.8-flash",
		"google-generative-ai",
		{ generationConfig: expect.objectContaining({ thinkingConfig: { includeThoughts: true, thinkingLevel: "HIGH" } }) },
	],
	["openrouter", "openai/gpt-6-sol", "openai-completions", { reasoning: { effort: "high" } }],
	[
		"openrouter",
		"anthropic/claude-opus-5.5",
		"anthropic-messages",
		{ thinking: expect.objectContaining({ type: "adaptive" }), output_config: { effort: "high" } },
	],
];

test.each(MODELS)(
	"pi -p --model %s/%s --thinking high sends what its provider documents",
	async (provider, id, api, fields) => {
		const server = await startProvider();
		server.reply(
			[thinking("I look.", "c2lnbmVk"), text("Let me see."), toolCall("ls", { path: "." })],
			[thinking("Now I know.", "YWdhaW4="), text("A shop.")],
		);
		// Only the address is redirected: the facts of the model are those of the list.
		const models = { providers: { [provider]: { baseUrl: server.baseUrl(api), apiKey: "key" } } };
		const agentDir = tempAgentDir({ models, settings: {} });
		const cwd = tempDir();
		writeFiles(cwd, { "shop.txt": "milk" });
		const args = ["--model", `${provider}/${id}`, "--thinking", "high", "-p", "hi"];
		const run = await runPi(args, { agentDir, cwd });
		expect(run).toMatchObject({ code: 0, stdout: "A shop.\n", stderr: "ls .\n" });
		for (const { body } of server.requests) {
			expect(body).toMatchObject(fields);
			for (const name of ["temperature", "top_p", "top_k"]) expect(body).not.toHaveProperty(name);
			expect(JSON.stringify(body)).not.toContain("budget");
		}
		// The session continues with its signed thinking, at another level.
		server.reply("Still a shop.");
		const again = await runPi(["-c", "--model", `${provider}/${id}:max`, "-p", "and now?"], { agentDir, cwd });
		const lacksMax = api === "google-generative-ai";
		expect(again.code).toBe(0);
		expect(again.stderr.includes("has no thinking level max · using high")).toBe(lacksMax);
		expect(server.requests.at(-1)?.messages.some(({ thinking: sent }) => sent?.includes("Now I know."))).toBe(true);
	},
);

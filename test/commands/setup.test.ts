import type { Api, Model } from "@mariozechner/pi-ai";
import { expect, test } from "vitest";
import { setupCommand } from "../../src/commands/builtin/setup.js";
import type { CommandHost, CommandShell, CommandUI } from "../../src/commands/command.js";
import { startSession } from "../helpers/session.js";

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
			availableModels: async () => models,
			setModel: async (model: Model<Api>) => void chosen.push(model),
		} as unknown as CommandHost,
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

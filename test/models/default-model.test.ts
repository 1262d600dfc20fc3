import { describe, expect, test } from "vitest";
import { modelName } from "../../src/models/models.js";
import { loadTestModels as load } from "./load-models.js";

describe("the default model", () => {
	const nothing = { defaultProvider: undefined, defaultModel: undefined };

	test("is that of the settings, even without a key", async () => {
		const { registry } = await load({ env: { OPENAI_API_KEY: "k" } });
		const settings = { defaultProvider: "anthropic", defaultModel: "claude-opus-4-7" };
		expect(registry.defaultModel({ settings })).toEqual({
			model: registry.findModel("anthropic", "claude-opus-4-7"),
			source: "settings",
		});
		const byProvider = registry.defaultModel({ settings: { defaultProvider: "google", defaultModel: undefined } });
		expect(byProvider.model.provider).toBe("google");
	});

	test("falls back to the last used model if it has a key", async () => {
		const { registry } = await load({ env: { OPENAI_API_KEY: "k" } });
		const start = (provider: string, modelId: string) =>
			registry.defaultModel({ settings: nothing, lastUsed: { provider, modelId } });
		expect([modelName(start("openai", "gpt-5.4").model), start("openai", "gpt-5.4").source]).toEqual([
			"openai/gpt-5.4",
			"last_used",
		]);
		expect(modelName(start("anthropic", "claude-opus-4-7").model)).toBe("openai/gpt-5.5");
	});

	test("falls back to the best model of the first provider with a key, local servers last", async () => {
		const { registry } = await load({ env: { GEMINI_API_KEY: "k", AWS_PROFILE: "x", GITHUB_TOKEN: "x" } });
		expect(modelName(registry.defaultModel({ settings: nothing }).model)).toBe("google/gemini-3.1-pro-preview");
		const local = await load();
		const model = { ...registry.defaultModel({ settings: nothing }).model, provider: "ollama", id: "qwen3" };
		local.registry.registerModels([model]);
		expect(local.registry.defaultModel({ settings: nothing }).model).toEqual(model);
	});

	test("an unknown model in the settings causes a warning", async () => {
		const { registry } = await load({ env: { OPENAI_API_KEY: "k" } });
		expect(registry.defaultModel({ settings: { defaultProvider: "openai", defaultModel: "gpt-0" } })).toMatchObject({
			model: { id: "gpt-5.5" },
			warning: "settings.json names an unknown model: openai/gpt-0",
		});
	});

	test.each([undefined, "gpt-5.5"])(
		"an unknown provider in the settings causes a warning, with the model %s",
		async (defaultModel) => {
			const { registry } = await load({ env: { OPENAI_API_KEY: "k" } });
			const lastUsed = { provider: "openai", modelId: "gpt-5.4" };
			const warning = "settings.json names an unknown provider: gone";
			const settings = { defaultProvider: "gone", defaultModel };
			expect(registry.defaultModel({ settings })).toMatchObject({ model: { id: "gpt-5.5" }, warning });
			expect(registry.defaultModel({ settings, lastUsed })).toMatchObject({ model: { id: "gpt-5.4" }, warning });
		},
	);

	test("without any key, the error names ways to set one up; a GitHub token alone is not a key", async () => {
		const { registry } = await load({ env: { GITHUB_TOKEN: "x" } });
		expect(() => registry.defaultModel({ settings: nothing })).toThrow(
			expect.objectContaining({
				code: "model_missing",
				message: "No model is set up",
				hint: expect.stringContaining("pi --demo"),
			}),
		);
	});
});

test("without a usable model, the error names the key variable of models.json that is not set", async () => {
	const box = { baseUrl: "http://127.0.0.1:9/v1", api: "openai-completions", apiKey: "LAB_KEY", models: [{ id: "m" }] };
	const { registry } = await load({ models: { providers: { box } } });
	expect(() => registry.defaultModel({ settings: { defaultProvider: undefined, defaultModel: undefined } })).toThrow(
		expect.objectContaining({
			message: "No model is set up",
			hint: expect.stringMatching(
				/^set LAB_KEY, from which models\.json reads the key of box, or set ANTHROPIC_API_KEY, /,
			),
		}),
	);
});

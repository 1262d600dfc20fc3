import { describe, expect, test } from "vitest";
import { builtInModels } from "../../src/models/built-in-models.js";
import { chooseDefault, defaultModelOf, recentModels } from "../../src/models/default-model.js";
import { sortByLikelihood } from "../../src/models/likelihood.js";
import type { KnownModel } from "../../src/models/model-facts.js";
import { modelName } from "../../src/models/models.js";
import { model } from "../helpers/model.js";
import { loadTestModels as load } from "./load-models.js";

const { lists } = builtInModels();
const modelsOf = (provider: string) => lists.of(provider);

describe("the default model of a provider", () => {
	test.each([
		["anthropic", "claude-opus-5-5"],
		["openai", "gpt-6-sol"],
		["openai-codex", "gpt-6-sol"],
		["azure-openai-responses", "gpt-6-sol"],
		["google", "gemini-3.8-flash"],
		["google-vertex", "gemini-3.8-flash"],
		["github-copilot", "claude-opus-5.5"],
		["openrouter", "anthropic/claude-opus-5.5"],
		["vercel-ai-gateway", "anthropic/claude-opus-5.5"],
		["opencode", "claude-opus-5-5"],
		["opencode-go", "grok-4.7"],
		["amazon-bedrock", "global.anthropic.claude-opus-5-5"],
		["xai", "grok-4.7"],
		["deepseek", "deepseek-v4-pro"],
		["zai", "glm-5.3"],
		["moonshotai", "kimi-k3"],
		["minimax", "MiniMax-M3"],
		["mistral", "mistral-medium-3.5"],
		["xiaomi", "mimo-v2.6-pro"],
	])("%s is %s", (provider, id) => {
		expect(defaultModelOf(provider, modelsOf)?.id).toBe(id);
	});

	test("exists for every provider, and is no snapshot", () => {
		const ids = lists.providers.map((provider) => defaultModelOf(provider, modelsOf)?.id ?? "");
		expect(ids.filter((id) => id === "" || /-\d{8}|latest/.test(id))).toEqual([]);
	});

	const price = (output: number) => ({ input: 1, output, cacheRead: 0, cacheWrite: 0 });
	const make = (id: string, more: Partial<KnownModel> = {}): KnownModel =>
		Object.assign(model("lab", id, { reasoning: true, contextWindow: 200_000, cost: price(10) }), more);

	test.each<[string, KnownModel[], string]>([
		["is the one with the highest version", [make("a-9"), make("a-10"), make("a-9.5")], "a-10"],
		["ignores sizes and dates in the id", [make("a-1"), make("a-120b"), make("a-20300101")], "a-1"],
		[
			"is the newest by date",
			[make("a-9", { released: "2026-01-01" }), make("b-1", { released: "2026-02-01" })],
			"b-1",
		],
		["can have no date", [make("a-1", { released: "2026-02-01" }), make("a-2")], "a-2"],
		["has a date if the others are older", [make("a-2", { released: "2026-02-01" }), make("a-1")], "a-2"],
		["thinks", [make("a-1"), make("a-2", { reasoning: false })], "a-1"],
		["calls tools", [make("a-1"), make("a-2", { tools: false })], "a-1"],
		["has 128k context", [make("a-1"), make("a-2", { contextWindow: 127_999 })], "a-1"],
		[
			"is neither cheap nor expensive",
			[make("a-1"), make("a-2", { cost: price(1.9) }), make("a-3", { cost: price(26) })],
			"a-1",
		],
		[
			"is of any price if all prices are unknown",
			[make("a-1", { cost: price(0) }), make("a-2", { cost: price(0) })],
			"a-2",
		],
		["is still offered", [make("a-1"), make("a-2", { retired: true })], "a-1"],
		["is no variant", [make("a-2"), make("a-2-fast", { cost: price(20) })], "a-2"],
		[
			"is the more expensive of two with the same version",
			[make("a-2-x"), make("a-2-y", { cost: price(20) })],
			"a-2-y",
		],
		["is cheap if all are", [make("a-1", { cost: price(1) }), make("a-2", { cost: price(1) })], "a-2"],
	])("%s", (_, models, id) => {
		expect(chooseDefault(models)?.id).toBe(id);
		expect(chooseDefault(models.toReversed())?.id).toBe(id);
	});

	const openrouter = () => [...modelsOf("openrouter")];
	const opus6 = make("claude-opus-6", { provider: "anthropic", released: "2026-11-23" });

	test("of a provider that lacks the maker's newest model is the best model of that maker that it offers", () => {
		const of = (name: string) => (name === "anthropic" ? [...modelsOf(name), opus6] : modelsOf(name));
		expect(defaultModelOf("openrouter", of)?.id).toBe("anthropic/claude-opus-5.5");
		const without = openrouter().filter(({ id }) => id !== "anthropic/claude-opus-5.5");
		const other = defaultModelOf("openrouter", (name) => (name === "openrouter" ? without : of(name)));
		expect(other?.id).toMatch(/^anthropic\//);
	});

	test("of a provider that has a model before its maker's list names it is that model", () => {
		const news = make("anthropic/claude-opus-6", {
			provider: "openrouter",
			released: "2026-11-23",
			relative: "anthropic/claude-opus-5.5",
		});
		const of = (name: string) => (name === "openrouter" ? [...openrouter(), news] : modelsOf(name));
		expect(defaultModelOf("openrouter", of)?.id).toBe("anthropic/claude-opus-6");
	});

	test("of a provider is one that only its maker has retired, but none that the provider has", () => {
		const retire = (name: string, id: string) =>
			modelsOf(name).map((known): KnownModel => (known.id === id ? { ...known, retired: true } : known));
		const maker = (name: string) => (name === "anthropic" ? retire(name, "claude-opus-5-5") : modelsOf(name));
		expect(defaultModelOf("openrouter", maker)?.id).toBe("anthropic/claude-opus-5.5");
		const provider = (name: string) =>
			name === "openrouter" ? retire(name, "anthropic/claude-opus-5.5") : modelsOf(name);
		expect(defaultModelOf("openrouter", provider)?.id).toMatch(/^anthropic\/(?!claude-opus-5\.5$)/);
	});

	test("a release that is newer by date is the new default, without a change to pi", () => {
		const next = make("claude-opus-6", { provider: "anthropic", released: "2026-11-23" });
		expect(defaultModelOf("anthropic", (name) => [...modelsOf(name), next])?.id).toBe("claude-opus-6");
	});
});

describe("the recent models of a provider", () => {
	const idsOf = (provider: string) => recentModels(provider, modelsOf).map(({ id }) => id);

	test.each([
		["anthropic", ["claude-fable-5-1", "claude-haiku-4-5", "claude-opus-5-5", "claude-sonnet-5"]],
		["xai", ["grok-4.7"]],
		["moonshotai", ["kimi-k3", "kimi-k2.7-code"]],
	])("of %s are the newest of each kind", (provider, ids) => {
		expect(idsOf(provider)).toEqual(ids);
	});

	test("are few, contain the default model, and none for a special task", () => {
		for (const provider of ["openai", "google", "openrouter", "github-copilot", "vercel-ai-gateway", "mistral"]) {
			const ids = idsOf(provider);
			expect(ids).toContain(defaultModelOf(provider, modelsOf)?.id);
			expect(ids.length).toBeLessThan(35);
			expect(ids.filter((id) => /deep-research|live|realtime|image|audio|search|latest/.test(id))).toEqual([]);
		}
	});

	test("are at most a year older than the newest, and not retired", () => {
		const at = (id: string, released: string, more: Partial<KnownModel> = {}): KnownModel => ({
			...model("anthropic", id, { reasoning: true, contextWindow: 200_000 }),
			...{ released, ...more },
		});
		const models = [
			at("claude-new-5", "2026-11-01"),
			at("claude-new-4", "2026-10-01"),
			at("claude-old-3", "2025-10-01"),
			at("claude-last-4", "2025-12-01"),
			at("claude-gone-5", "2026-10-01", { retired: true }),
			at("claude-deep-research-5", "2026-10-01"),
		];
		const recent = recentModels("anthropic", () => models);
		expect(recent.map(({ id }) => id)).toEqual(["claude-new-5", "claude-last-4"]);
	});

	test("between which Ctrl+P switches are those of providers with keys, and all of the user's own", async () => {
		const box = { baseUrl: "http://127.0.0.1:9/v1", api: "openai-completions", apiKey: "k" };
		const { registry } = await load({
			env: { ANTHROPIC_API_KEY: "k" },
			models: {
				providers: { box: { ...box, models: [{ id: "a" }] }, anthropic: { models: [{ id: "claude-mine-1" }] } },
			},
		});
		expect(registry.recentModels().map(modelName).sort()).toEqual([
			...["anthropic/claude-fable-5-1", "anthropic/claude-haiku-4-5", "anthropic/claude-mine-1"],
			...["anthropic/claude-opus-5-5", "anthropic/claude-sonnet-5", "box/a"],
		]);
	});
});

test("the likeliest model of a search is the default of the first provider among them", () => {
	const opus = lists.all().filter(({ id }) => id.includes("opus"));
	expect(sortByLikelihood(opus).map(modelName)[0]).toBe("anthropic/claude-opus-5-5");
	expect(sortByLikelihood(opus)).toHaveLength(opus.length);
});

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
		expect(modelName(start("anthropic", "claude-opus-4-7").model)).toBe("openai/gpt-6-sol");
	});

	test("falls back to the best model of the first provider with a key, local servers last", async () => {
		const { registry } = await load({ env: { GEMINI_API_KEY: "k", AWS_PROFILE: "x", GITHUB_TOKEN: "x" } });
		expect(modelName(registry.defaultModel({ settings: nothing }).model)).toBe("google/gemini-3.8-flash");
		const local = await load();
		const model = { ...registry.defaultModel({ settings: nothing }).model, provider: "ollama", id: "qwen3" };
		local.registry.registerModels([model]);
		expect(local.registry.defaultModel({ settings: nothing }).model).toEqual(model);
	});

	test("an unknown model in the settings causes a warning", async () => {
		const { registry } = await load({ env: { OPENAI_API_KEY: "k" } });
		expect(
			registry.defaultModel({ settings: { defaultProvider: "anthropic", defaultModel: "claude-0" } }),
		).toMatchObject({
			model: { id: "gpt-6-sol" },
			warning: "settings.json names an unknown model: anthropic/claude-0",
		});
	});

	test("can be one that the list lacks, if its provider has a key", async () => {
		const { registry } = await load({ env: { OPENAI_API_KEY: "k" } });
		const settings = { defaultProvider: "openai", defaultModel: "gpt-7-sol" };
		const expected = { model: { id: "gpt-7-sol", relative: "gpt-6-sol", assumed: true }, source: "settings" };
		expect(registry.defaultModel({ settings })).toMatchObject(expected);
		expect(
			registry.defaultModel({ settings: { defaultProvider: undefined, defaultModel: "openai/gpt-7-sol" } }),
		).toMatchObject(expected);
		const lastUsed = { provider: "openai", modelId: "gpt-8" };
		expect(registry.defaultModel({ settings: nothing, lastUsed })).toMatchObject({
			model: { id: "gpt-8" },
			source: "last_used",
		});
	});

	test.each([undefined, "gpt-5.5"])(
		"an unknown provider in the settings causes a warning, with the model %s",
		async (defaultModel) => {
			const { registry } = await load({ env: { OPENAI_API_KEY: "k" } });
			const lastUsed = { provider: "openai", modelId: "gpt-5.4" };
			const warning = "settings.json names an unknown provider: gone";
			const settings = { defaultProvider: "gone", defaultModel };
			expect(registry.defaultModel({ settings })).toMatchObject({ model: { id: "gpt-6-sol" }, warning });
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

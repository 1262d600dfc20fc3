import { describe, expect, test } from "vitest";
import type { KnownModel } from "../../src/models/model-facts.js";
import { modelName } from "../../src/models/models.js";
import { model } from "../helpers/model.js";
import { loadTestModels as load, names } from "./load-models.js";

describe("models.json", () => {
	test("models are added with defaults and checked values", async () => {
		const { registry, path } = await load({
			models: {
				providers: {
					box: {
						baseUrl: "http://127.0.0.1:9/v1",
						api: "openai-completions",
						apiKey: "EMPTY",
						compat: { supportsStore: false },
						models: [
							{ id: "small" },
							{
								id: "big",
								name: "Big",
								reasoning: true,
								input: ["text", "image"],
								contextWindow: 1000,
								maxTokens: 10,
								cost: { input: 1 },
								compat: { maxTokensField: "max_tokens" },
							},
							{ id: "second", contextWindow: "much", api: "smoke-signals", color: 1 },
							{ name: "nameless" },
							7,
						],
					},
				},
			},
		});
		const base = { api: "openai-completions", provider: "box", baseUrl: "http://127.0.0.1:9/v1" };
		const defaults = {
			reasoning: false,
			input: ["text"],
			cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
			contextWindow: 128000,
			maxTokens: 16384,
		};
		expect(registry.all().filter(({ provider }) => provider === "box")).toEqual([
			{ ...base, ...defaults, id: "small", name: "small", compat: { supportsStore: false } },
			{
				...base,
				id: "big",
				name: "Big",
				reasoning: true,
				input: ["text", "image"],
				cost: { input: 1, output: 0, cacheRead: 0, cacheWrite: 0 },
				contextWindow: 1000,
				maxTokens: 10,
				compat: { supportsStore: false, maxTokensField: "max_tokens" },
			},
			{ ...base, ...defaults, id: "second", name: "second", compat: { supportsStore: false } },
		]);
		expect(registry.warnings).toEqual([
			`${path}:33:23: providers.box.models[2].contextWindow must be a number greater than 0; ignored`,
			expect.stringContaining(`${path}:34:13: providers.box.models[2].api must be one of openai-completions, `),
			`${path}:35:6: providers.box.models[2].color is unknown; ignored`,
			`${path}:37:5: providers.box.models[3] needs a valid id; ignored`,
			`${path}:40:5: providers.box.models[4] must be an object; ignored`,
		]);
	});

	test("an entry without models changes the address of a built-in provider", async () => {
		const { registry, credentials } = await load({
			models: { providers: { anthropic: { baseUrl: "https://proxy.example/a", headers: { "x-team": "red" } } } },
			env: { ANTHROPIC_API_KEY: "k" },
		});
		const model = registry.findModel("anthropic", "claude-sonnet-4-6");
		expect(model?.baseUrl).toBe("https://proxy.example/a");
		expect(registry.findModel("openai", "gpt-5.5")?.baseUrl).not.toContain("proxy");
		expect(await credentials.requestAuth({ provider: "anthropic", id: "any" })).toEqual({
			apiKey: "k",
			headers: { "x-team": "red" },
		});
	});

	test("an entry with models adds them to a built-in provider", async () => {
		const { registry } = await load({ models: { providers: { openai: { models: [{ id: "gpt-9" }] } } } });
		expect(registry.findModel("openai", "gpt-9")).toMatchObject({
			api: registry.findModel("openai", "gpt-5.5")?.api,
			baseUrl: registry.findModel("openai", "gpt-5.5")?.baseUrl,
		});
	});

	test("an entry with the id of a built-in model changes only the fields that it names", async () => {
		const own = { id: "gpt-5.5", contextWindow: 50_000, cost: { input: 1 }, headers: { "x-a": "b" } };
		const { registry } = await load({ models: { providers: { openai: { models: [own] } } } });
		const { registry: before } = await load();
		const builtIn = before.findModel("openai", "gpt-5.5");
		expect(registry.findModel("openai", "gpt-5.5")).toEqual({
			...builtIn,
			contextWindow: 50_000,
			cost: { ...builtIn?.cost, input: 1 },
		});
		expect(registry.all()).toHaveLength(before.all().length);
	});

	test("modelOverrides change single models and leave the others", async () => {
		const { registry, credentials, path } = await load({
			models: {
				providers: {
					anthropic: {
						headers: { "x-team": "red" },
						modelOverrides: {
							"claude-opus-4-7": {
								name: "Opus",
								tools: false,
								contextWindow: 200_000.5,
								maxTokens: 1000,
								input: ["text"],
								cost: { output: 1 },
								thinkingLevelMap: { xhigh: null },
								headers: { "x-team": "blue" },
							},
							"claude-nope": { name: "n" },
						},
					},
					box: {
						baseUrl: "http://127.0.0.1:9/v1",
						api: "openai-completions",
						models: [{ id: "m", contextWindow: 10 }],
						modelOverrides: { m: { contextWindow: 20, apy: "x" } },
					},
				},
			},
			env: { ANTHROPIC_API_KEY: "k" },
		});
		const { registry: before } = await load();
		const builtIn = before.findModel("anthropic", "claude-opus-4-7");
		expect(registry.findModel("anthropic", "claude-opus-4-7")).toEqual({
			...builtIn,
			name: "Opus",
			tools: false,
			contextWindow: 200_000,
			maxTokens: 1000,
			input: ["text"],
			cost: { ...builtIn?.cost, output: 1 },
			thinkingLevelMap: { ...builtIn?.thinkingLevelMap, xhigh: null },
		});
		expect(registry.findModel("anthropic", "claude-sonnet-4-6")).toEqual(
			before.findModel("anthropic", "claude-sonnet-4-6"),
		);
		expect(registry.findModel("box", "m")?.contextWindow).toBe(20);
		const headersOf = async (id: string) => (await credentials.requestAuth({ provider: "anthropic", id })).headers;
		expect(await headersOf("claude-opus-4-7")).toEqual({ "x-team": "blue" });
		expect(await headersOf("claude-sonnet-4-6")).toEqual({ "x-team": "red" });
		expect(registry.warnings).toEqual([
			`${path}:43:6: providers.box.modelOverrides.m.apy is unknown; ignored`,
			`${path}: providers.anthropic.modelOverrides: no model "claude-nope"`,
		]);
	});

	test("a model of a local server is changed when it is found, whatever the order", async () => {
		const { registry } = await load({
			models: {
				providers: {
					ollama: {
						models: [{ id: "own", contextWindow: 9000 }],
						modelOverrides: { other: { contextWindow: 8000, tools: false } },
					},
				},
			},
		});
		expect(registry.warnings).toEqual([]);
		const found = (id: string) => ({ ...model("ollama", id), baseUrl: "http://box:11434/v1", contextWindow: 4096 });
		registry.registerModels([found("own"), found("other"), found("plain")]);
		expect(registry.findModel("ollama", "own")).toEqual({ ...found("own"), contextWindow: 9000 });
		expect(registry.findModel("ollama", "other")).toEqual({ ...found("other"), contextWindow: 8000, tools: false });
		expect(registry.findModel("ollama", "plain")).toEqual(found("plain"));
		expect(names(registry.all().filter((known) => registry.isPriced(known) && known.provider === "ollama"))).toEqual([
			"ollama/own",
			"ollama/other",
			"ollama/plain",
		]);
	});

	test("a model without api or baseUrl is ignored with a warning, and the rest works", async () => {
		const { registry, path } = await load({
			models: {
				providers: {
					a: { models: [{ id: "m" }] },
					b: { api: "openai-completions", models: [{ id: "m" }] },
					c: {},
					d: 1,
				},
			},
		});
		expect(registry.warnings).toEqual([
			`${path}:19:8: providers.d must be an object; ignored`,
			`${path}: a/m has no api; ignored`,
			`${path}: b/m has no baseUrl; ignored`,
			`${path}: providers.c has no models`,
		]);
		expect(registry.findModel("anthropic", "claude-sonnet-4-6")).toBeDefined();
	});

	test("invalid JSON is reported with its line", async () => {
		const { registry, path } = await load({ models: '{"providers": {\n  oops\n}}' });
		expect(registry.warnings).toEqual([
			`${path}:2:3: expected a key in double quotes or "}" · fix the file; until then it is not used`,
		]);
		expect(registry.all().length).toBeGreaterThan(900);
	});

	test("a local server without a configured key needs none", async () => {
		const provider = { baseUrl: "http://localhost:9/v1", api: "openai-completions", models: [{ id: "m" }] };
		const { registry } = await load({ models: { providers: { mine: provider } } });
		expect(names(registry.availableModels())).toEqual(["mine/m"]);
	});
});

describe("resolveModelSpec", () => {
	const env = { ANTHROPIC_API_KEY: "k" };
	const models = {
		providers: {
			box: {
				baseUrl: "http://127.0.0.1:9/v1",
				api: "openai-completions",
				apiKey: "x",
				models: [{ id: "qwen3:8b" }, { id: "org/model:high" }],
			},
		},
	};

	test.each([
		["anthropic/claude-sonnet-4-6", "anthropic/claude-sonnet-4-6", undefined],
		["claude-opus-4-7", "anthropic/claude-opus-4-7", undefined],
		["Claude-Opus-4-7", "anthropic/claude-opus-4-7", undefined],
		["claude-opus-4-7:high", "anthropic/claude-opus-4-7", "high"],
		["sonnet", "anthropic/claude-sonnet-5", undefined],
		["haiku:off", "anthropic/claude-haiku-4-5", "off"],
		["anthropic opus", "anthropic/claude-opus-5-5", undefined],
		["gpt-5.5", "openai/gpt-5.5", undefined],
		["qwen3:8b", "box/qwen3:8b", undefined],
		["qwen3:8b:low", "box/qwen3:8b", "low"],
		["org/model:high", "box/org/model:high", undefined],
		["box/org/model:high:low", "box/org/model:high", "low"],
		["openrouter/anthropic/claude-sonnet-4.6", "openrouter/anthropic/claude-sonnet-4.6", undefined],
	])("%s resolves to %s (%s)", async (spec, expected, thinkingLevel) => {
		const { registry } = await load({ env, models });
		const resolved = registry.resolveModelSpec(spec);
		expect([modelName(resolved.model), resolved.thinkingLevel]).toEqual([expected, thinkingLevel]);
	});

	test.each<[string, string[], string | null]>([
		["claude-opus-5.5", ["ANTHROPIC", "OPENROUTER"], "anthropic/claude-opus-5-5"],
		["claude-opus-5.5", ["OPENROUTER"], "openrouter/anthropic/claude-opus-5.5"],
		["claude-opus-5-5", ["OPENROUTER"], "openrouter/anthropic/claude-opus-5.5"],
		["claude-opus-5.5", [], "github-copilot/claude-opus-5.5"],
		["anthropic/claude-opus-5.5", ["ANTHROPIC", "OPENROUTER"], "anthropic/claude-opus-5-5"],
		["anthropic/claude-opus-5.5", ["OPENROUTER"], "openrouter/anthropic/claude-opus-5.5"],
		["anthropic/claude-opus-5.5", [], "openrouter/anthropic/claude-opus-5.5"],
		["openrouter/anthropic/claude-opus-5-5", ["ANTHROPIC", "OPENROUTER"], "openrouter/anthropic/claude-opus-5.5"],
		["opus 4", ["ANTHROPIC"], "anthropic/claude-opus-4-8"],
		["opus 4.6", ["ANTHROPIC"], "anthropic/claude-opus-4-6"],
		["opus 6", ["ANTHROPIC"], null],
		["gpt 5", ["OPENAI"], "openai/gpt-5.6-sol"],
		["haiku 2025", ["ANTHROPIC"], "anthropic/claude-haiku-4-5-20251001"],
		["oss 120", ["GROQ"], "groq/openai/gpt-oss-120b"],
		["/", ["ANTHROPIC"], null],
	])("%s with keys for %j is %s", async (spec, keys, expected) => {
		const { registry } = await load({ env: Object.fromEntries(keys.map((key) => [`${key}_API_KEY`, "k"])) });
		const resolve = () => modelName(registry.resolveModelSpec(spec).model);
		if (expected === null) expect(resolve).toThrow(expect.objectContaining({ code: "model_unknown" }));
		else expect(resolve()).toBe(expected);
	});

	test("a model that is not offered anymore is found last by its words", async () => {
		const { registry } = await load({ env });
		const [opus] = registry.ofProvider("anthropic").filter(({ id }) => id === "claude-opus-4-8");
		if (!opus) throw new Error("not listed");
		const retired: KnownModel = { ...opus, retired: true };
		registry.registerModels([retired]);
		expect(modelName(registry.resolveModelSpec("opus 4").model)).toBe("anthropic/claude-opus-4-7");
		expect(registry.resolveModelSpec("claude-opus-4-8").model).toBe(retired);
	});

	test("the search is limited to a given provider", async () => {
		const { registry } = await load({ env });
		expect(modelName(registry.resolveModelSpec("sonnet", { provider: "github-copilot" }).model)).toBe(
			"github-copilot/claude-sonnet-5",
		);
		expect(() => registry.resolveModelSpec("x", { provider: "anthropc" })).toThrow(
			expect.objectContaining({
				code: "model_unknown",
				message: 'No provider "anthropc"',
				hint: "did you mean anthropic?",
			}),
		);
	});

	test("a model of another provider than the given one is named with its provider", async () => {
		const { registry } = await load({ env, models });
		const wrong = (spec: string) => () => registry.resolveModelSpec(spec, { provider: "box" });
		expect(wrong("anthropic/claude-opus-4-7")).toThrow(
			expect.objectContaining({
				code: "model_unknown",
				message: 'Provider box has no model "anthropic/claude-opus-4-7"',
				hint: "it is a model of anthropic: omit --provider, or choose --provider anthropic",
			}),
		);
		expect(() => registry.resolveModelSpec("nothing", { provider: "google" })).toThrow(
			expect.objectContaining({ message: 'Provider google has no model "nothing"' }),
		);
	});

	test.each([
		[
			"claud-sonnet-4-6",
			"did you mean anthropic/claude-sonnet-4-6, anthropic/claude-sonnet-4-5, anthropic/claude-sonnet-5?",
		],
		[
			"claude-opus-4-7:hihg",
			"did you mean anthropic/claude-opus-4-7, anthropic/claude-opus-4-8, anthropic/claude-opus-4-6?",
		],
		["antropic/claude-opus-5-5", "did you mean anthropic/claude-opus-5-5?"],
		[
			"antropic/claude-opus-6",
			"did you mean anthropic/claude-opus-6, anthropic/claude-opus-5-5, anthropic/claude-opus-5?",
		],
		["zzzzzzzzzzz", "list them with pi models list"],
	])("%s is an unknown model (%s)", async (spec, hint) => {
		const { registry } = await load({ env });
		expect(() => registry.resolveModelSpec(spec)).toThrow(
			expect.objectContaining({ code: "model_unknown", message: `No model "${spec}"`, hint }),
		);
	});

	test("the hint for an unknown id names the newest model that resembles it first", async () => {
		const { registry } = await load({ env: { OPENAI_API_KEY: "k" } });
		const hint = expect.stringMatching(/^did you mean openai\/gpt-6-sol, openai\/gpt-/);
		expect(() => registry.resolveModelSpec("gpt-7")).toThrow(expect.objectContaining({ hint }));
	});

	test("patterns match usable models in the order of the patterns, each once", async () => {
		const { registry } = await load({ env, models });
		const { models: found, unmatched } = registry.matchModels([
			"box/q*:high",
			"claude-opus-4-?",
			"claude-opus-4-7",
			"sonnet:low",
			"nothing*",
		]);
		expect(found.map(({ model, thinkingLevel }) => [model.id, thinkingLevel])).toEqual([
			["qwen3:8b", "high"],
			["claude-opus-4-5", undefined],
			["claude-opus-4-6", undefined],
			["claude-opus-4-7", undefined],
			["claude-opus-4-8", undefined],
			["claude-sonnet-5", "low"],
		]);
		expect(unmatched).toEqual(["nothing*"]);
	});
});

describe("a model that the list lacks", () => {
	const env = { ANTHROPIC_API_KEY: "k", OPENROUTER_API_KEY: "k" };
	const lab = { baseUrl: "https://lab.example/v1", api: "openai-completions", apiKey: "k", models: [{ id: "big-1" }] };

	test.each([
		["anthropic/claude-opus-6", undefined, "anthropic/claude-opus-6", "claude-opus-5-5", undefined],
		["anthropic/claude-opus-6:high", undefined, "anthropic/claude-opus-6", "claude-opus-5-5", "high"],
		["claude-opus-6", "anthropic", "anthropic/claude-opus-6", "claude-opus-5-5", undefined],
		["anthropic/claude-opus-6", "anthropic", "anthropic/claude-opus-6", "claude-opus-5-5", undefined],
		[
			"openrouter/anthropic/claude-opus-6",
			undefined,
			"openrouter/anthropic/claude-opus-6",
			"anthropic/claude-opus-5.5",
			undefined,
		],
		["lab/big-2", undefined, "lab/big-2", "big-1", undefined],
	])("%s of %s is used", async (spec, provider, name, relative, thinkingLevel) => {
		const { registry } = await load({ env, models: { providers: { lab } } });
		const found = registry.resolveModelSpec(spec, provider === undefined ? {} : { provider });
		expect(found).toMatchObject({ model: { relative, assumed: true } });
		expect([modelName(found.model), found.thinkingLevel]).toEqual([name, thinkingLevel]);
		expect(registry.isPriced(found.model)).toBe(false);
		expect(registry.findModel(found.model.provider, found.model.id)).toBe(found.model);
		expect(registry.matchModels([name]).models).toEqual([{ model: found.model }]);
	});

	test.each(["google/gemini-4", "claude-opus-6", "anthropic/claude zebra 6", "anthropic/a\u0007b", "ollama/new"])(
		"%j is unknown: no key, no provider or no id",
		async (spec) => {
			const { registry } = await load({ env });
			expect(() => registry.resolveModelSpec(spec)).toThrow(expect.objectContaining({ code: "model_unknown" }));
		},
	);

	test("has the facts of the provider's default if it resembles none", async () => {
		const { registry } = await load({ env });
		const usual = registry.bestOf("openrouter");
		const { model: found } = registry.resolveModelSpec("openrouter/foo/bar");
		expect(found).toMatchObject({ relative: usual?.id, contextWindow: usual?.contextWindow, api: usual?.api });
	});

	test("is never the relative of another one", async () => {
		const { registry } = await load({ env });
		registry.resolveModelSpec("anthropic/claude-zebra-6");
		expect(registry.resolveModelSpec("anthropic/claude-zebra-7").model).toMatchObject({
			relative: expect.not.stringContaining("zebra"),
		});
	});

	test("known names come first", async () => {
		const { registry } = await load({ env });
		expect(modelName(registry.resolveModelSpec("anthropic/claude-opus").model)).toBe("anthropic/claude-opus-5-5");
	});

	test("can be changed by models.json, which may also name its price", async () => {
		const anthropic = { modelOverrides: { "claude-opus-6": { contextWindow: 2_000_000 } } };
		const { registry } = await load({ env, models: { providers: { anthropic } } });
		expect(registry.resolveModelSpec("anthropic/claude-opus-6").model).toMatchObject({ contextWindow: 2_000_000 });
	});
});

test("registered models replace those with the same name", async () => {
	const { registry } = await load();
	const model = registry.resolveModelSpec("gpt-5.5").model;
	registry.registerModels([{ ...model, name: "Mine" }]);
	expect(registry.findModel("openai", "gpt-5.5")?.name).toBe("Mine");
	expect(registry.all().filter(({ id, provider }) => id === "gpt-5.5" && provider === "openai")).toHaveLength(1);
});

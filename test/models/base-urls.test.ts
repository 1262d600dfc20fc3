import { describe, expect, test } from "vitest";
import { replaceBaseUrls } from "../../src/models/merge-models.js";
import { loadTestModels as load } from "./load-models.js";

const OPENROUTER = ["https://openrouter.ai/api/v1", "https://openrouter.ai/api"];
const CLOUDFLARE = ["https://gateway.test/v1/{ID}/anthropic", "https://gateway.test/v1/{ID}/openai"];
const BEDROCK = ["https://bedrock.us.test", "https://bedrock.eu.test"];

describe("a base URL of models.json", () => {
	test.each<[string, string[], string, string[]]>([
		["replaces the only one", ["https://api.openai.com/v1"], "http://box:1", ["http://box:1"]],
		[
			"replaces both by what precedes its end",
			OPENROUTER,
			"http://box:1/api/v1",
			["http://box:1/api/v1", "http://box:1/api"],
		],
		["may end with a slash", OPENROUTER, "http://box:1/v1/", ["http://box:1/v1", "http://box:1"]],
		[
			"is that of all models if it has no such end",
			OPENROUTER,
			"http://box:1/or",
			["http://box:1/or", "http://box:1/or"],
		],
		[
			"may have one of several ends",
			CLOUDFLARE,
			"http://box:1/a/openai",
			["http://box:1/a/anthropic", "http://box:1/a/openai"],
		],
		[
			"gets the ends that all have",
			CLOUDFLARE,
			"http://box:1/a",
			["http://box:1/a/anthropic", "http://box:1/a/openai"],
		],
		["replaces those of different servers", BEDROCK, "http://box:1", ["http://box:1", "http://box:1"]],
	])("%s", (_, known, own, expected) => {
		const replace = replaceBaseUrls(known, own);
		expect(known.map(replace)).toEqual(expected);
		// Such as those of a relative, for a model that is added later.
		expect(expected.map(replace)).toEqual(expected);
	});

	test("reaches the models of both formats of OpenRouter, also new ones", async () => {
		const openrouter = { baseUrl: "https://gateway.example/or/v1" };
		const { registry } = await load({ env: { OPENROUTER_API_KEY: "k" }, models: { providers: { openrouter } } });
		const urlOf = (id: string) => registry.findOrAssume("openrouter", id)?.baseUrl;
		expect([
			urlOf("anthropic/claude-opus-5.5"),
			urlOf("anthropic/claude-opus-6"),
			urlOf("openai/gpt-6-sol"),
			urlOf("openai/gpt-7"),
		]).toEqual([
			"https://gateway.example/or",
			"https://gateway.example/or",
			"https://gateway.example/or/v1",
			"https://gateway.example/or/v1",
		]);
	});
});

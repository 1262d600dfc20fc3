import { expect, test } from "vitest";
import { cleanKey, keyProblem } from "../../src/models/key-shape.js";

test.each([
	["  sk-abc123 \n", "sk-abc123"],
	["sk-abc\n   123", "sk-abc123"],
	["export OPENAI_API_KEY='sk-abc123'", "sk-abc123"],
	['OPENAI_API_KEY="sk-abc123";', "sk-abc123"],
	["sk-abc\u200b123\ufeff", "sk-abc123"],
	["sk-with=sign", "sk-with=sign"],
	[" \n ", ""],
])("cleanKey(%j) returns %j", (pasted, key) => {
	expect(cleanKey(pasted)).toBe(key);
});

test.each([
	["openai", "sk-proj-0123456789", null],
	["anthropic", "sk-ant-0123456789", null],
	["some-provider", "0123456789abcdef", null],
	["deepseek", "sk-0123456789ab", null],
	["openai", "sk-ant-0123456789", "it looks like a key of Anthropic"],
	["anthropic", "sk-or-0123456789", "it looks like a key of OpenRouter"],
	["anthropic", "sk-0123456789ab", "keys of Anthropic begin with sk-ant-"],
	["groq", "xai-0123456789ab", "it looks like a key of xAI"],
	["groq", "secret", "it is only 6 characters long"],
	["groq", "s", "it is only 1 character long"],
	["some-provider", "https://example.com/keys", "it is a web address"],
	["some-provider", "ключ-0123456789", "it contains characters that are invalid in keys"],
])("the problem with the key for %s %j is: %s", (provider, key, problem) => {
	expect(keyProblem(provider, key)).toBe(problem);
});

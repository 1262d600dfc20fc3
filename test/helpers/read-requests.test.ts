import { expect, test } from "vitest";
import type { JsonObject } from "./json.js";
import { judgeThinking, knownModel } from "./judge-thinking.js";
import { judgeSigned, readAnthropicRequest } from "./read-anthropic.js";
import { readGoogleRequest } from "./read-google.js";
import { readResponsesRequest } from "./read-responses.js";
import { judgeConversation } from "./wire-message.js";

const judge = ({ messages, issues }: ReturnType<typeof readGoogleRequest>) => [
	...issues,
	...judgeConversation(messages),
];

const user = { role: "user", content: [{ type: "input_text", text: "hi" }] };
const reasoning = { type: "reasoning", id: "rs_1", summary: [], encrypted_content: "x" };
const message = (id: string) => ({
	type: "message",
	role: "assistant",
	id,
	content: [{ type: "output_text", text: "a" }],
});
const call = (call_id: string) => ({
	type: "function_call",
	id: `fc_${call_id}`,
	call_id,
	name: "ls",
	arguments: "{}",
});
const output = (call_id: string) => ({ type: "function_call_output", call_id, output: "ok" });

test.each<[string, JsonObject[], string[]]>([
	["a complete turn", [user, reasoning, message("msg_1"), call("a"), output("a"), user], []],
	[
		"two items with one id",
		[user, message("msg_1"), message("msg_1"), user],
		["item 2 (message) has the id msg_1 of another item"],
	],
	["an id of another kind", [user, message("fc_1"), user], ['item 1 (message) has the id "fc_1"']],
	[
		"reasoning without a reply",
		[user, reasoning, user],
		["item 1 (reasoning) has nothing after it", "message 1 (assistant) is empty"],
	],
	["a call without a result", [user, call("a"), user], ["message 2 (user) comes before the result of tool call a"]],
	["a result without a call", [user, output("a")], ["message 1 (tool) answers a, which is no open tool call"]],
])("a responses request with %s is judged", (_name, input, expected) => {
	expect(judge(readResponsesRequest({ model: "m", stream: true, store: false, input }))).toEqual(expected);
});

const said = (text: string) => ({ role: "user", parts: [{ text }] });
const calls = (...names: string[]) => ({
	role: "model",
	parts: names.map((name) => ({ functionCall: { name, args: {} } })),
});
const results = (...names: string[]) => ({
	role: "user",
	parts: names.map((name) => ({ functionResponse: { name, response: { output: "ok" } } })),
});

test.each<[string, JsonObject[], string[]]>([
	["a complete turn", [said("hi"), calls("ls", "read"), results("ls", "read"), said("on")], []],
	[
		"results in two contents",
		[said("hi"), calls("ls", "read"), results("ls"), results("read")],
		["content 2 (user) has 1 function responses to 2 function calls"],
	],
	[
		"a result of another tool",
		[said("hi"), calls("ls"), results("read")],
		["content 2 (user) has a response of read to a call of ls"],
	],
	["an empty content", [said("hi"), { role: "user", parts: [] }], ["content 1 (user) has no parts"]],
	[
		"a signature that is not base64",
		[said("hi"), { role: "model", parts: [{ text: "a", thoughtSignature: "{}" }] }, said("on")],
		["content 1 (model) has a thought signature that is not base64"],
	],
])("a Google request with %s is judged", (_name, contents, expected) => {
	expect(judge(readGoogleRequest({ contents }))).toEqual(expected);
});

const MANAGED = "mid-conversation-output-config-2026-07-01,thinking-binding-controls-2026-08-01";
const effort = (level: string) => ({ role: "system", content: [], output_config: { effort: level } });
const anthropic = (model: string, change: JsonObject, betas = "") => ({
	body: { model, stream: true, max_tokens: 4096, messages: [{ role: "user", content: "hi" }], ...change },
	headers: { "anthropic-version": "2023-06-01", ...(betas && { "anthropic-beta": betas }) },
});
const messages = (...more: JsonObject[]) => ({ messages: [{ role: "user", content: "hi" }, ...more] });

test.each<[string, ReturnType<typeof anthropic>, string[]]>([
	[
		"adaptive thinking",
		anthropic("claude-sonnet-5", { thinking: { type: "adaptive" }, output_config: { effort: "max" } }),
		[],
	],
	[
		"a budget for a model that thinks adaptively",
		anthropic("claude-opus-5-5", { thinking: { type: "enabled", budget_tokens: 2048 } }),
		["claude-opus-5-5 thinks adaptively and accepts no budget_tokens"],
	],
	[
		"an effort for an older model",
		anthropic("claude-haiku-4-5", { thinking: { type: "adaptive" }, output_config: { effort: "high" } }),
		["claude-haiku-4-5 does not think adaptively", "claude-haiku-4-5 accepts no effort"],
	],
	[
		"an effort that the model lacks",
		anthropic("claude-opus-4-6", { thinking: { type: "adaptive" }, output_config: { effort: "xhigh" } }),
		["claude-opus-4-6 has no effort xhigh"],
	],
	[
		"a budget that leaves no room for the reply",
		anthropic("claude-haiku-4-5", { thinking: { type: "enabled", budget_tokens: 4096 } }),
		["budget_tokens is not between 1024 and max_tokens"],
	],
	[
		"thinking turned off where that is impossible",
		anthropic("claude-opus-5-5", { thinking: { type: "disabled" } }),
		["claude-opus-5-5 always thinks"],
	],
	[
		"sampling parameters",
		anthropic("claude-opus-4-8", { temperature: 0.5, top_p: 0.9 }),
		["claude-opus-4-8 does not accept temperature", "claude-opus-4-8 does not accept top_p"],
	],
	[
		"a temperature with thinking",
		anthropic("claude-haiku-4-5", { temperature: 0, thinking: { type: "enabled", budget_tokens: 1024 } }),
		["temperature is not allowed with thinking"],
	],
	["a change of the effort", anthropic("claude-opus-5-5", messages(effort("low")), MANAGED), []],
	[
		"a change of the effort without its beta",
		anthropic("claude-opus-5-5", messages(effort("low"))),
		["message 1 needs the beta mid-conversation-output-config-2026-07-01"],
	],
	[
		"a change of the effort of another model",
		anthropic("claude-opus-4-8", messages(effort("low")), MANAGED),
		["message 1 changes the effort, which claude-opus-4-8 does not accept"],
	],
	[
		"a reply of thinking alone",
		anthropic(
			"claude-opus-4-8",
			messages(
				{ role: "assistant", content: [{ type: "thinking", thinking: "hm", signature: "s" }] },
				{ role: "user", content: "go on" },
			),
		),
		['message 1 (assistant) ends with thinking: "The final block in an assistant message cannot be `thinking`"'],
	],
	["a system message", anthropic("claude-opus-4-8", messages({ role: "system", content: "new rule" })), []],
	[
		"a system message of another model",
		anthropic("claude-sonnet-5", messages({ role: "system", content: "new rule" })),
		["message 1 is a system message, which claude-sonnet-5 does not accept"],
	],
])("an Anthropic request with %s is judged", (_name, { body, headers }, expected) => {
	expect(judge(readAnthropicRequest(body, headers))).toEqual(expected);
});

test.each<[string, JsonObject, string[]]>([
	["an unchanged block", { thinking: "a", signature: "s" }, []],
	["a block of another server", { thinking: "b", signature: "t" }, []],
	["a changed text", { thinking: "A", signature: "s" }, ['the signed thinking "A" was changed']],
	["a changed signature", { thinking: "a", signature: "S" }, ['the signature of the thinking "a" was changed']],
])("%s is judged", (_name, block, expected) => {
	const body = { messages: [{ role: "assistant", content: [{ type: "thinking", ...block }] }] };
	expect(judgeSigned(body, [{ text: "a", signature: "s" }])).toEqual(expected);
});

const ENCRYPTED = { include: ["reasoning.encrypted_content"] };
const thinkingConfig = (config: JsonObject) => ({ generationConfig: { thinkingConfig: config } });

test.each([
	["openai-responses", "gpt-6-sol", { reasoning: { effort: "max" }, ...ENCRYPTED }, []],
	["openai-responses", "gpt-6-sol", { reasoning: { effort: "none" } }, []],
	["openai-responses", "gpt-5", { reasoning: { effort: "none" }, ...ENCRYPTED }, ["gpt-5 always reasons"]],
	[
		"openai-responses",
		"gpt-5.1",
		{ reasoning: { effort: "minimal" }, ...ENCRYPTED },
		["gpt-5.1 has no effort minimal"],
	],
	["openai-responses", "gpt-4.1", { reasoning: { effort: "low" } }, ["gpt-4.1 does not reason"]],
	[
		"openai-responses",
		"gpt-6-sol",
		{ reasoning: { effort: "low" }, temperature: 1 },
		[
			"gpt-6-sol does not accept temperature",
			"the reasoning of the reply would be lost: it is neither stored nor encrypted",
		],
	],
	["openai-completions", "deepseek-v4-pro", { reasoning_effort: "low" }, ["deepseek-v4-pro has no effort low"]],
	["openai-completions", "openai/gpt-6-sol", { reasoning: { effort: "xhigh" } }, []],
	["google-generative-ai", "gemini-3.8-flash", thinkingConfig({ thinkingLevel: "HIGH" }), []],
	[
		"google-generative-ai",
		"gemini-3.8-flash",
		thinkingConfig({ thinkingLevel: "HIGH", thinkingBudget: 1 }),
		["the request sets a thinking level and a budget"],
	],
	[
		"google-generative-ai",
		"gemini-3.8-flash",
		thinkingConfig({ thinkingLevel: "MINIMAL" }),
		["gemini-3.8-flash has no level MINIMAL"],
	],
	[
		"google-generative-ai",
		"gemini-3.8-flash",
		thinkingConfig({ thinkingBudget: 0 }),
		["gemini-3.8-flash has levels, not budgets"],
	],
	[
		"google-generative-ai",
		"gemini-2.5-pro",
		thinkingConfig({ thinkingBudget: 0 }),
		["gemini-2.5-pro does not accept the budget 0"],
	],
	[
		"google-generative-ai",
		"gemini-2.5-pro",
		thinkingConfig({ thinkingLevel: "LOW" }),
		["gemini-2.5-pro has budgets, not levels"],
	],
])("%s %s with %j is judged", (api, id, body, expected) => {
	const known = knownModel(api, id);
	expect(known && judgeThinking(api, body, {}, known)).toEqual(expected);
});

import { expect, test } from "vitest";
import type { JsonObject } from "./json.js";
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

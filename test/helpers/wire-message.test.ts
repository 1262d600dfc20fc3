import { expect, test } from "vitest";
import { judgeConversation, type WireMessage } from "./wire-message.js";

const system: WireMessage = { role: "system", text: "s", images: 0 };
const user: WireMessage = { role: "user", text: "u", images: 0 };
const answer: WireMessage = { role: "assistant", text: "a", images: 0 };
const call = (...ids: string[]): WireMessage => ({
	role: "assistant",
	text: "",
	images: 0,
	toolCalls: ids.map((id) => ({ id, name: "read", arguments: {} })),
});
const result = (toolCallId: string, text = "r"): WireMessage => ({ role: "tool", text, images: 0, toolCallId });

test.each<[string, WireMessage[], string[]]>([
	["a plain exchange", [system, user, answer, user], []],
	["several calls answered in any order", [user, call("a", "b"), result("b"), result("a"), answer, user], []],
	["several user messages in a row", [user, user], []],
	["nothing", [], ["the request has no messages"]],
	["an assistant first", [answer, user], ["message 0 (assistant) opens the conversation, a user must"]],
	["a late system prompt", [user, system, user], ["message 1 (system) comes after the conversation began"]],
	["empty text", [{ ...user, text: " " }], ["message 0 (user) is empty"]],
	["an empty result", [user, call("a"), result("a", "")], ["message 2 (tool) is empty"]],
	["a call without result", [user, call("a"), user], ["message 2 (user) comes before the result of tool call a"]],
	[
		"a last call without result",
		[user, call("a")],
		["the request ends before the result of tool call a", "the request ends with an assistant message"],
	],
	[
		"two results for one call",
		[user, call("a"), result("a"), result("a")],
		["message 3 (tool) answers a, which is no open tool call"],
	],
	[
		"an id used twice",
		[user, call("a"), result("a"), call("a"), result("a")],
		["message 3 (assistant) uses the tool call id a again"],
	],
	["an assistant last", [user, answer], ["the request ends with an assistant message"]],
])("judges %s", (_name, messages, issues) => {
	expect(judgeConversation(messages)).toEqual(issues);
});

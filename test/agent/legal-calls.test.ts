import type { AssistantMessage } from "@mariozechner/pi-ai";
import { describe, expect, test } from "vitest";
import { normalizeToolCalls } from "../../src/agent/legal-calls.js";

/** A reply with these blocks, as the client parses it. */
function reply(...blocks: object[]): AssistantMessage {
	return JSON.parse(JSON.stringify({ role: "assistant", content: blocks, stopReason: "toolUse" }));
}

describe("tool calls of a reply", () => {
	test("are unchanged when they are valid", () => {
		const message = reply(
			{ type: "text", text: "look" },
			{ type: "toolCall", id: "a", name: "read", arguments: { path: "x", deep: [[[{ one: null }]]] } },
		);
		expect(normalizeToolCalls(message)).toBe(message);
	});

	test.each([
		["an id that two calls have", { id: "a" }, { id: "a_2" }],
		["an id that is empty", { id: "" }, { id: "call" }],
		["an id that is a number", { id: 7 }, { id: "7" }],
		["an id that no provider accepts", { id: "i d\u0000ü" }, { id: "i_d__" }],
		["an id that is too long", { id: "i".repeat(90) }, { id: "i".repeat(64) }],
		["an id whose first part two calls have", { id: "a|item" }, { id: "a_2|item" }],
		["an id that is an object", { id: {} }, { id: "call" }],
		["a name that no provider accepts", { name: "my tool!" }, { name: "my_tool_" }],
		["a name that is an object", { name: { x: 1 } }, { name: "unnamed" }],
		["a name that is too long", { name: "n".repeat(100) }, { name: "n".repeat(64) }],
		["arguments that are a string", { arguments: "ls" }, { arguments: {} }],
		["arguments that are a list", { arguments: [1] }, { arguments: {} }],
		["arguments that are null", { arguments: null }, { arguments: {} }],
	])("are made valid: %s", (_, invalid, expected) => {
		const first = { type: "toolCall", id: "a", name: "ls", arguments: {} };
		const second = { type: "toolCall", id: "b", name: "read", arguments: { path: "x" } };
		expect(normalizeToolCalls(reply(first, { ...second, ...invalid })).content).toEqual([
			first,
			{ ...second, ...expected },
		]);
	});

	test.each([
		["lists", "[", "]"],
		["objects", '{"a":', "}"],
	])("lose arguments of %s that are nested too deeply", (_, open, close) => {
		const nested = (depth: number): AssistantMessage => ({
			...reply(),
			content: [
				{
					type: "toolCall",
					id: "a",
					name: "read",
					arguments: { path: JSON.parse(`${open.repeat(depth)}1${close.repeat(depth)}`) },
				},
			],
		});
		const shallow = nested(100);
		expect(normalizeToolCalls(shallow)).toBe(shallow);
		expect(normalizeToolCalls(nested(5000)).content).toMatchObject([{ id: "a", name: "read", arguments: {} }]);
	});
});

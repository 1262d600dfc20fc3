import { describe, expect, test } from "vitest";
import { checkMessages, isSimplyValid, isWellFormed } from "../../src/context/check.js";
import type { ContextMessage } from "../../src/context/context-message.js";
import type { AppMessage } from "../../src/log/entry.js";

const item = (message: unknown, entryIndex: number | null = null) =>
	({ message: message as AppMessage, entryIndex }) as ContextMessage;
const user = (content: unknown = "hi") => item({ role: "user", content });
const call = (id: string) => ({ type: "toolCall", id, name: "ls", arguments: {} });
const reply = (blocks: unknown[], stopReason = "stop") => item({ role: "assistant", content: blocks, stopReason });
const said = reply([{ type: "text", text: "hello" }]);
const result = (toolCallId: string) =>
	item({ role: "toolResult", toolCallId, toolName: "ls", content: [{ type: "text", text: "x" }] });
const shell = (excludeFromContext?: boolean) =>
	item({ role: "bashExecution", command: "ls", output: "", excludeFromContext });

/** Violations as `rule position detail`, after a check that the keys agree. */
function faults(messages: ContextMessage[], options?: Parameters<typeof checkMessages>[1]): string[] {
	const found = checkMessages(messages, options);
	for (const { rule, key } of found) expect(key).toMatch(new RegExp(`^${rule}(:|$)`));
	return found.map(({ rule, position, detail }) => `${rule} ${position}${detail === undefined ? "" : ` ${detail}`}`);
}

describe("a valid list", () => {
	test.each<[string, ContextMessage[]]>([
		["a prompt", [user()]],
		["several prompts in a row", [user(), user("more")]],
		[
			"a prompt of blocks",
			[
				user([
					{ type: "text", text: "t" },
					{ type: "image", data: "d", mimeType: "image/png" },
				]),
			],
		],
		["a conversation", [user(), said, user()]],
		["a call with its result", [user(), reply([call("a")]), result("a")]],
		["two calls with their results", [user(), reply([call("a"), call("b")]), result("a"), result("b")]],
		["results in another order", [user(), reply([call("a"), call("b")]), result("b"), result("a")]],
		[
			"an id that is used again after its result",
			[user(), reply([call("a")]), result("a"), reply([call("a")]), result("a")],
		],
		["a shell command of the user", [shell()]],
	])("%s", (_, messages) => {
		expect(faults(messages)).toEqual([]);
	});
});

describe("a fault is reported with its rule and position", () => {
	test.each<[string, ContextMessage[], string[]]>([
		["an empty list", [], ["user_message_remains 0"]],
		["a blank prompt only", [user(" ")], ["user_message_remains 0"]],
		["a hidden shell command only", [shell(true)], ["user_message_remains 0"]],
		["an unknown role", [user(), item({ role: "system", content: "" })], ["known_role 1 system"]],
		["no role", [user(), item({})], ["known_role 1"]],
		["no message", [user(), item(null)], ["known_role 1"]],
		["malformed content", [user(), user(7)], ["well_formed_content 1 user"]],
		["a result without a call", [user(), result("a")], ["result_answers_call 1 a"]],
		[
			"a result before its call",
			[user(), result("a"), reply([call("a")]), user()],
			["result_answers_call 1 a", "call_has_result 2 a"],
		],
		["a second result", [user(), reply([call("a")]), result("a"), result("a")], ["one_result_per_call 3 a"]],
		["a call without a result", [user(), reply([call("a")]), user()], ["call_has_result 1 a"]],
		[
			"one of two calls without a result",
			[user(), reply([call("a"), call("b")]), result("b"), user()],
			["call_has_result 1 a"],
		],
		["a reply at the end", [user(), said], ["prompt_comes_last 1"]],
		["a call at the end", [user(), reply([call("a")])], ["prompt_comes_last 1"]],
		["a hidden command after a reply", [user(), said, shell(true)], ["prompt_comes_last 1"]],
		["an aborted reply with a result at the end", [user(), reply([call("a")], "aborted"), result("a")], []],
		[
			"a result of an earlier reply at the end",
			[user(), reply([call("a")]), said, result("a")],
			["prompt_comes_last 2"],
		],
	])("%s", (_, messages, expected) => {
		expect(faults(messages)).toEqual(expected);
	});

	test("the key of a malformed message names its entry, or its position if it has none", () => {
		const keys = checkMessages([user(), item({ role: "user" }, 7), item({ role: "user" })]).map(({ key }) => key);
		expect(keys).toEqual(["well_formed_content:7", "well_formed_content:at 2"]);
	});
});

describe("isSimplyValid", () => {
	test("accepts results right after their calls only, and needs a prompt", () => {
		expect(
			isSimplyValid([user(), reply([{ type: "text", text: "t" }, call("a"), call("b")]), result("a"), result("b")]),
		).toBe(true);
		expect(isSimplyValid([user(), reply([call("a"), call("b")]), result("b"), result("a")])).toBe(false);
		expect(isSimplyValid([user(), reply([call("a")]), user()])).toBe(false);
		expect(isSimplyValid([user(), reply([call("a")])])).toBe(false);
		expect(isSimplyValid([user(), reply([call("a")]), item({ role: "toolResult", toolCallId: "a" })])).toBe(false);
		expect(isSimplyValid([user(), result("a")])).toBe(false);
		expect(isSimplyValid([user(), user(1)])).toBe(false);
		expect([isSimplyValid([]), isSimplyValid([said]), isSimplyValid([user("")])]).toEqual([false, false, false]);
	});

	test("with a start, reads earlier messages only for a prompt", () => {
		expect(isSimplyValid([user(), result("a"), said, user()], { start: 2 })).toBe(true);
		expect(isSimplyValid([said, said], { start: 1 })).toBe(false);
		expect(isSimplyValid([said, user()], { start: 1 })).toBe(true);
		expect(isSimplyValid([item({ role: "odd" }), user()], { start: 1 })).toBe(true);
	});

	test("does not check the form of messages that are known to be good, and checks the others as unknown", () => {
		const odd = item({ role: "user", content: [{ type: "odd" }] });
		expect(isSimplyValid([user(), odd])).toBe(false);
		expect(isSimplyValid([user(), odd], { isKnownGood: () => true })).toBe(true);
		expect(isSimplyValid([user(), odd], { isKnownGood: (message) => message !== odd })).toBe(false);
		const late = item({ role: "toolResult", toolCallId: "a" });
		const called = [user(), reply([call("a")]), late];
		expect(isSimplyValid(called, { isKnownGood: () => true })).toBe(true);
		expect(isSimplyValid(called, { isKnownGood: (message) => message !== late })).toBe(false);
		expect(faults([user(), odd, result("a")], { isKnownGood: () => true })).toEqual(["result_answers_call 2 a"]);
	});
});

describe("isWellFormed", () => {
	const text = { type: "text", text: "t" };
	const image = { type: "image", data: "d", mimeType: "m" };
	test.each<[boolean, unknown]>([
		[true, { role: "user", content: "" }],
		[true, { role: "user", content: [text, image] }],
		[false, { role: "user", content: [text, { type: "text", text: 1 }] }],
		[false, { role: "user", content: [{ type: "image", data: 1, mimeType: "m" }] }],
		[false, { role: "user", content: [{ type: "image", data: "d", mimeType: 1 }] }],
		[false, { role: "user", content: [{ data: "d", mimeType: "m" }] }],
		[false, { role: "user", content: [null] }],
		[false, { role: "user", content: { 0: text } }],
		[false, { role: "user" }],
		[true, { role: "assistant", content: [text, { type: "thinking", thinking: "t" }, call("a")] }],
		[false, { role: "assistant", content: "text" }],
		[false, { role: "assistant", content: [{ type: "text" }] }],
		[false, { role: "assistant", content: [{ type: "thinking" }] }],
		[false, { role: "assistant", content: [image] }],
		[false, { role: "assistant", content: [{ ...call("a"), type: "call" }] }],
		[false, { role: "assistant", content: [call("")] }],
		[false, { role: "assistant", content: [{ ...call("a"), id: 1 }] }],
		[false, { role: "assistant", content: [{ ...call("a"), name: 1 }] }],
		[false, { role: "assistant", content: [{ ...call("a"), arguments: [] }] }],
		[false, { role: "assistant", content: [{ ...call("a"), arguments: null }] }],
		[true, { role: "toolResult", toolCallId: "a", toolName: "ls", content: [text] }],
		[false, { role: "toolResult", toolCallId: "", toolName: "ls", content: [text] }],
		[false, { role: "toolResult", toolCallId: 1, toolName: "ls", content: [text] }],
		[false, { role: "toolResult", toolCallId: "a", content: [text] }],
		[false, { role: "toolResult", toolCallId: "a", toolName: "ls", content: "text" }],
		[true, { role: "bashExecution", command: "ls", output: "" }],
		[false, { role: "bashExecution", command: "ls" }],
		[false, { role: "bashExecution", output: "" }],
		[false, { role: "system", content: "" }],
		[false, [{ role: "user", content: "" }]],
		[false, "user"],
		[false, null],
	])("is %s for %j", (expected, value) => {
		expect(isWellFormed(value)).toBe(expected);
	});
});

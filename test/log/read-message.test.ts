import { describe, expect, test } from "vitest";
import { completeUsage, readMessage } from "../../src/log/read-message.js";

const AT = 1000;
const text = { type: "text", text: "t" };
const image = { type: "image", data: "d", mimeType: "image/png" };
const call = { type: "toolCall", id: "c", name: "ls", arguments: {} };
const NOTHING = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };
const usage = { ...NOTHING, totalTokens: 0, cost: { ...NOTHING, total: 0 } };
const result = { role: "toolResult", toolCallId: "c", toolName: "ls", content: [text] };
const assistant = { role: "assistant", content: [text], stopReason: "stop" };

describe("a valid message is read", () => {
	const read = { isError: false, timestamp: AT };
	const model = { api: "", provider: "", model: "", usage, timestamp: AT };
	const changed = { by: ["a", 1], from: { x: 1 }, to: { x: 2 } };
	const INVALID_GATES = [
		...[1, {}, { blockedBy: 1 }, { changed: 1 }],
		...[{ by: "a" }, { from: 1 }, { to: 1 }].map((wrong) => ({ changed: { ...changed, ...wrong } })),
	];
	test.each<[object, object]>([
		[
			{ role: "user", content: "t" },
			{ role: "user", content: "t", timestamp: AT },
		],
		[
			{ role: "user", content: [text, image], timestamp: 7 },
			{ role: "user", content: [text, image], timestamp: 7 },
		],
		[
			{ role: "user", content: "t", timestamp: "7", more: 1 },
			{ role: "user", content: "t", timestamp: AT, more: 1 },
		],
		[
			{ role: "user", content: "t", timestamp: Number.NaN },
			{ role: "user", content: "t", timestamp: AT },
		],
		[assistant, { ...assistant, ...model }],
		[
			{ ...assistant, api: "a", provider: "p", model: "m", errorMessage: "e" },
			{ ...assistant, ...model, api: "a", provider: "p", model: "m", errorMessage: "e" },
		],
		[
			{ ...assistant, api: 1, provider: 1, model: 1, errorMessage: 1 },
			{ ...assistant, ...model },
		],
		...["length", "toolUse", "error", "aborted"].map((stopReason): [object, object] => [
			{ ...assistant, stopReason },
			{ ...assistant, stopReason, ...model },
		]),
		[result, { ...result, ...read }],
		[
			{ ...result, isError: true, toolName: "" },
			{ ...result, ...read, isError: true, toolName: "" },
		],
		[
			{ ...result, isError: 1 },
			{ ...result, ...read },
		],
		[
			{ ...result, gate: { blockedBy: "h" } },
			{ ...result, ...read, gate: { blockedBy: "h" } },
		],
		[
			{ ...result, gate: { changed } },
			{ ...result, ...read, gate: { changed: { ...changed, by: ["a"] } } },
		],
		...INVALID_GATES.map((gate): [object, object] => [
			{ ...result, gate },
			{ ...result, ...read },
		]),
		[
			{ role: "bashExecution", command: "ls", output: "o", exitCode: 3, cancelled: true, truncated: true },
			{
				role: "bashExecution",
				command: "ls",
				output: "o",
				exitCode: 3,
				cancelled: true,
				truncated: true,
				timestamp: AT,
			},
		],
		[
			{ role: "bashExecution", command: "", output: "", exitCode: "3", cancelled: 1, truncated: 1, fullOutputPath: 1 },
			{
				role: "bashExecution",
				command: "",
				output: "",
				exitCode: null,
				cancelled: false,
				truncated: false,
				timestamp: AT,
			},
		],
	])("%j", (value, expected) => {
		expect(readMessage(value, AT)).toStrictEqual(expected);
	});

	test.each<[string, unknown, boolean]>([
		["a text", "\x1b[31mo\x1b[0m", true],
		["a number", 1, false],
		["a list", ["\x1b[31mo"], false],
		["a text of more than 200 KB", "x".repeat(200 * 1024 + 1), false],
	])("with colors that are %s", (_, styled, isKept) => {
		const read = readMessage({ role: "bashExecution", command: "ls", output: "o", styled }, AT);
		expect(read).toMatchObject({ command: "ls", output: "o" });
		expect(read).toEqual(isKept ? expect.objectContaining({ styled }) : expect.not.objectContaining({ styled }));
	});

	test("with the path of its full output", () => {
		const value = { role: "bashExecution", command: "ls", output: "", fullOutputPath: "/o" };
		expect(readMessage(value, AT)).toMatchObject({ fullOutputPath: "/o" });
	});
});

describe("an invalid message is refused with the reason", () => {
	const USER = "user message without text or image content";
	const ASSISTANT = "assistant message without well-formed content";
	test.each<[unknown, string]>([
		[null, "message is not an object"],
		["user", "message is not an object"],
		[[], "message is not an object"],
		[{}, "unknown message role undefined"],
		[{ role: "x".repeat(99) }, `unknown message role "${"x".repeat(39)}`],
		[{ role: "user" }, USER],
		[{ role: "user", content: {} }, USER],
		[{ role: "user", content: [text, 1] }, USER],
		[{ role: "user", content: [{ ...text, type: "odd" }] }, USER],
		[{ role: "user", content: [{ ...text, text: 1 }] }, USER],
		[{ role: "user", content: [{ ...text, textSignature: 1 }] }, USER],
		[{ role: "user", content: [{ ...image, data: 1 }] }, USER],
		[{ role: "user", content: [{ ...image, mimeType: 1 }] }, USER],
		[{ role: "user", content: [{ ...image, type: "odd" }] }, USER],
		[{ ...assistant, content: "t" }, ASSISTANT],
		[{ ...assistant, content: [text, image] }, ASSISTANT],
		[{ ...assistant, content: [null] }, ASSISTANT],
		[{ ...assistant, content: [{ type: "thinking" }] }, ASSISTANT],
		[{ ...assistant, content: [{ type: "odd", thinking: "t" }] }, ASSISTANT],
		[{ ...assistant, content: [{ type: "thinking", thinking: "t", thinkingSignature: 1 }] }, ASSISTANT],
		[{ ...assistant, content: [{ ...call, type: "odd" }] }, ASSISTANT],
		[{ ...assistant, content: [{ ...call, id: "" }] }, ASSISTANT],
		[{ ...assistant, content: [{ ...call, id: 1 }] }, ASSISTANT],
		[{ ...assistant, content: [{ ...call, name: 1 }] }, ASSISTANT],
		[{ ...assistant, content: [{ ...call, arguments: [] }] }, ASSISTANT],
		[{ ...assistant, content: [{ ...call, thoughtSignature: 1 }] }, ASSISTANT],
		[{ ...assistant, stopReason: "odd" }, "assistant message without a known stopReason"],
		[{ ...result, toolCallId: "" }, "tool result without toolCallId"],
		[{ ...result, toolCallId: 1 }, "tool result without toolCallId"],
		[{ ...result, toolName: 1 }, "tool result without toolName"],
		[{ ...result, content: "t" }, "tool result without text or image content"],
		[{ role: "bashExecution", command: "ls" }, "bash execution without command and output"],
		[{ role: "bashExecution", output: "" }, "bash execution without command and output"],
	])("%j", (value, reason) => {
		expect(readMessage(value, AT)).toBe(reason);
	});

	test("signatures and thinking are valid in a reply", () => {
		const thinking = { type: "thinking", thinking: "t", thinkingSignature: "s" };
		const content = [{ ...text, textSignature: "s" }, thinking, { ...call, thoughtSignature: "s" }];
		expect(readMessage({ ...assistant, content }, AT)).toMatchObject({ content });
	});
});

test("the fields of today's clients survive being written and read", () => {
	const message = {
		...assistant,
		content: [
			{ type: "thinking", thinking: "[Reasoning redacted]", thinkingSignature: "data", redacted: true },
			{ ...call, namespace: "files", thoughtSignature: "s" },
		],
		usage: { ...usage, reasoning: 7, cacheWrite1h: 3 },
		...{ providerThinkingLevel: "xhigh", rawStopReason: "tool_use", responseModel: "other", responseId: "r" },
		diagnostics: [{ type: "t", timestamp: 1, details: {} }],
	};
	expect(readMessage(JSON.parse(JSON.stringify(message)), AT)).toMatchObject(message);
});

test("usage keeps valid numbers and unknown fields, and computes a missing sum", () => {
	expect(completeUsage(null)).toEqual(usage);
	expect(completeUsage({ cost: 1, input: "1", output: Number.POSITIVE_INFINITY, more: 1 })).toEqual({
		...usage,
		more: 1,
	});
	const amounts = { input: 1, output: 20, cacheRead: 300, cacheWrite: 4000 };
	const cost = { input: 1, output: 2, cacheRead: 3, cacheWrite: 4, total: 5, more: 6 };
	expect(completeUsage({ ...amounts, cost })).toEqual({ ...amounts, totalTokens: 4321, cost });
	expect(completeUsage({ ...amounts, totalTokens: 5, cost })).toEqual({ ...amounts, totalTokens: 5, cost });
});

import { describe, expect, test } from "vitest";
import { answerFields, checkAnswer, commandProblem, kindOf, stops } from "../../src/hooks/check-answer.js";
import type { HookEventName, HookEvents } from "../../src/hooks/types.js";

/** Checks an answer. The check reads only the type and the reason of an event. */
const check = (type: HookEventName, answer: unknown, reason?: string) =>
	checkAnswer({ type, reason } as unknown as HookEvents[HookEventName], answer);

const accepted = (answer: unknown) => ({ answer, problem: null });
const dropped = (problem: string) => ({ answer: undefined, problem });

describe("an answer with valid fields is used", () => {
	test.each<[HookEventName, object]>([
		["prompt", { text: "t", attachments: [] }],
		["prompt", { handled: true }],
		["before_request", { action: "continue", reason: "r" }],
		["tool_call", { reason: "r", ask: "Run it?" }],
		["tool_result", { content: [{ type: "text", text: "t" }], details: 7, isError: false }],
		["user_bash", { command: "ls" }],
		["user_bash", { result: { output: "o" } }],
		["user_bash", { result: { output: "o", exitCode: null, cancelled: true, truncated: true } }],
		["user_bash", { result: { output: "", exitCode: 3 } }],
		["user_bash", { block: true, reason: "r" }],
	])("%s %j", (type, answer) => {
		expect(check(type, answer)).toEqual(accepted(answer));
	});
});

test.each<[string, unknown]>([
	["an Error", new Error("not allowed")],
	["a Map", new Map([["block", true]])],
	["an object with inherited fields", Object.create({ block: true })],
	[
		"an instance with accessors",
		new (class {
			get block() {
				return true;
			}
		})(),
	],
	["a proxy", new Proxy({}, { get: () => true })],
])("%s as the answer is malformed: it may be meant to block", (_, answer) => {
	expect(check("tool_call", answer).problem).toMatch(/^the answer must be a plain object with block/);
});

test("an object without fields is no answer", () => {
	for (const empty of [{}, Object.create(null)]) expect(check("tool_call", empty)).toEqual(accepted({}));
});

describe("a malformed answer is dropped with the reason", () => {
	const FIELDS = "command, result, block or reason";
	const RESULT = "result must be { output, exitCode } with a text and a number or null";
	const ATTACHMENTS = "attachments must be a list of { type, fileName, mimeType, content } with texts";
	const attachment = { type: "text", fileName: "a", mimeType: "text/plain", content: "c" };
	test.each<[HookEventName, unknown, string]>([
		["prompt", { handled: false }, "handled must be true"],
		["prompt", { attachments: attachment }, ATTACHMENTS],
		["prompt", { attachments: [attachment, 1] }, ATTACHMENTS],
		["before_request", { reason: "r" }, "reason is without action"],
		["before_request", { action: "pause", reason: 1 }, 'action must be "continue" or "stop"; reason must be a text'],
		["user_bash", { reason: "r" }, "reason is without block"],
		["user_bash", { command: "ls", result: { output: "" } }, "only one of command, result can be used"],
		["user_bash", { result: 1 }, RESULT],
		["user_bash", { result: { exitCode: 1 } }, RESULT],
		["user_bash", { result: { output: "", exitCode: "1" } }, RESULT],
		["user_bash", { result: { output: "", exitCode: 1.5 } }, RESULT],
		["user_bash", { result: { output: "", cancelled: 1 } }, RESULT],
		["user_bash", { result: { output: "", truncated: 1 } }, RESULT],
		["user_bash", { input: {} }, `unknown field "input"; an answer has ${FIELDS}`],
		["user_bash", { toString: 1 }, `unknown field "toString"; an answer has ${FIELDS}`],
		["user_bash", true, `the answer must be an object with ${FIELDS}, not a boolean`],
		[
			"user_bash",
			{ a: 1, b: 1, c: 1, d: 1, e: 1, f: 1, g: undefined },
			`unknown fields "a", "b", "c", "d", "e", 1 more; an answer has ${FIELDS}`,
		],
		[
			"user_bash",
			{ a: 1, b: 1, c: 1, d: 1, ["e".repeat(40)]: 1 },
			`unknown fields "a", "b", "c", "d", "${"e".repeat(40)}"; an answer has ${FIELDS}`,
		],
	])("%s %j", (type, answer, problem) => {
		expect(check(type, answer)).toEqual(dropped(problem));
	});
});

test("what stops something counts, although another field is wrong", () => {
	expect(check("user_bash", { block: true, more: 1 })).toMatchObject({ answer: { block: true } });
	expect(check("before_request", { action: "stop", reason: 1 })).toMatchObject({ answer: { action: "stop" } });
	expect(check("prompt", { stop: "s", handled: 1 })).toMatchObject({ answer: { stop: "s" } });
	expect(check("session", { cancel: true, more: 1 }, "before_switch")).toMatchObject({ answer: { cancel: true } });
	const stopping = [{ block: true }, { cancel: true }, { action: "stop" }, { stop: "s" }];
	expect(stopping.map(stops)).toEqual([true, true, true, true]);
	const others = [
		undefined,
		null,
		"stop",
		[],
		{},
		{ block: 1 },
		{ cancel: false },
		{ action: "continue" },
		{ stop: undefined },
	];
	expect(others.map(stops)).toEqual(others.map(() => false));
});

test("false is no answer, except to events that may block", () => {
	const answers = (type: HookEventName) =>
		[undefined, null, false].map((answer) => check(type, answer).problem !== null);
	expect(answers("prompt")).toEqual([false, false, false]);
	expect(answers("tool_result")).toEqual([false, false, false]);
	expect(answers("tool_call")).toEqual([false, false, true]);
});

test("an event that reads no answer reports only what looks like one", () => {
	for (const answer of [undefined, 1, "text", [], {}, { length: 1 }, { block: true, size: 1 }]) {
		expect(check("turn_end", answer)).toEqual(accepted(undefined));
	}
	expect(check("turn_end", { block: true, messages: [] })).toEqual(dropped("no answer is read here: block, messages"));
});

test("the context handler's answer is not copied", () => {
	const answer = { messages: [] };
	expect(check("context", answer).answer).toBe(answer);
	expect([undefined, null, false].map((none) => check("context", none))).toEqual(Array(3).fill(accepted(undefined)));
});

test("answerFields lists the fields of an event", () => {
	expect(answerFields("before_request")).toEqual(["action", "reason"]);
	expect([answerFields("turn_end"), answerFields("context")]).toEqual([[], []]);
});

test("kindOf names the type of a value", () => {
	expect([[], {}, null, "", 1, true, undefined].map(kindOf)).toEqual([
		...["a list", "an object", "an object", "a text", "a number", "a boolean", "a undefined"],
	]);
});

describe("the value of a command", () => {
	const START = "a command returns a text, { prompt, attachments }, { status } or nothing";
	test.each([
		[undefined],
		[null],
		[""],
		["text"],
		[{ prompt: "p" }],
		[{ prompt: "p", attachments: [] }],
		[{ status: "s" }],
	])("%j is valid", (value) => {
		expect(commandProblem(value)).toBeNull();
	});
	test.each<[unknown, string]>([
		[7, `${START}, not a number`],
		[[], `${START}, not a list`],
		[{ text: "t", more: 1 }, `${START}; unknown "text", "more"`],
		[{ prompt: "p", status: "s" }, `${START}; prompt and status cannot be used together`],
		[{ prompt: 1 }, `${START}; prompt must be a text`],
		[{ status: 1 }, `${START}; status must be a text`],
		[{}, `${START}; status must be a text`],
	])("%j is reported", (value, problem) => {
		expect(commandProblem(value)).toBe(problem);
	});
});

import type { AssistantMessage, Message as SentMessage, UserMessage } from "@mariozechner/pi-ai";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { bashExecutionText } from "../../src/context/bash-execution-text.js";
import { checkMessages } from "../../src/context/check.js";
import { convertToLlm, isBlank, isSentReply, openedByUser, repairMessages } from "../../src/context/convert.js";
import type { BashExecutionMessage } from "../../src/log/entry.js";
import { assistantMessage, result, user } from "../helpers/entries.js";

type Message = Exclude<SentMessage, { role: "system" }>;

const ids = fc.constantFrom("a", "b", "c", "d");
const anyMessage: fc.Arbitrary<Message> = fc.oneof(
	fc.string().map((content): Message => ({ role: "user", content, timestamp: 1 })),
	fc
		.tuple(
			fc.string(),
			fc.array(ids, { maxLength: 3 }),
			fc.constantFrom("stop" as const, "toolUse" as const, "error" as const, "aborted" as const),
		)
		.map(
			([text, calls, stop]): Message =>
				assistantMessage(
					text,
					calls.map((id) => ({ id })),
					stop,
				),
		),
	ids.map((id): Message => result(id).message as Message),
);

/** True for lists that a provider accepts: each call is answered at once, ids are unique. */
const legalLists = fc.array(fc.tuple(fc.boolean(), fc.integer({ min: 0, max: 3 })), { maxLength: 8 }).map((turns) =>
	turns.flatMap(([speaks, calls], turn): Message[] => {
		if (speaks) return [{ role: "user", content: `u${turn}`, timestamp: 1 }];
		const made = Array.from({ length: calls }, (_, i) => `t${turn}-${i}`);
		const reply = assistantMessage(
			`a${turn}`,
			made.map((id) => ({ id })),
		);
		return [reply, ...made.map((id) => result(id).message as Message)];
	}),
);

function faults(messages: readonly Message[]): string[] {
	const wrapped = messages.map((message) => ({ message, entryIndex: null }));
	return checkMessages(wrapped)
		.map(({ key }) => key)
		.filter((key) => key !== "user_message_remains" && key !== "prompt_comes_last");
}

describe("repairMessages", () => {
	test("makes any list valid: each call has exactly one result right after it", () => {
		fc.assert(
			fc.property(fc.array(anyMessage, { maxLength: 14 }), (messages) => {
				const repaired = repairMessages(messages);
				expect(faults(repaired as Message[])).toEqual([]);
				const seen = new Set<string>();
				repaired.forEach((message, at) => {
					if (message.role !== "assistant") return;
					const calls = message.content.filter((block) => block.type === "toolCall").map(({ id }) => id);
					for (const id of calls) expect(seen.has(id), `id ${id} is used twice`).toBe(false);
					for (const id of calls) seen.add(id);
					const answers = repaired.slice(at + 1, at + 1 + calls.length);
					expect(answers.map((answer) => (answer.role === "toolResult" ? answer.toolCallId : answer.role))).toEqual(
						calls,
					);
				});
			}),
			{ numRuns: 2000 },
		);
	});

	test("leaves a valid list unchanged", () => {
		fc.assert(
			fc.property(legalLists, (messages) => {
				expect(repairMessages(messages)).toEqual(messages);
			}),
		);
	});

	test("keeps the text of an aborted reply and drops its calls with their results", () => {
		const messages = [
			user("go").message as Message,
			assistantMessage("half a thought", [{ id: "x" }], "aborted"),
			result("x").message as Message,
			user("again").message as Message,
		];
		expect(repairMessages(messages)).toEqual([
			messages[0],
			{ ...assistantMessage("half a thought", [], "stop") },
			messages[3],
		]);
	});

	test("adds a result to a call that a crash left without one", () => {
		const repaired = repairMessages([user("go").message as Message, assistantMessage("", [{ id: "x" }])]);
		expect(repaired.at(-1)).toMatchObject({ role: "toolResult", toolCallId: "x", isError: true });
	});

	test("omits blank text next to a call: some providers refuse it", () => {
		const reply = assistantMessage(" ", [{ id: "x" }]);
		const messages = [user("go"), { message: reply }, result("x")].map(({ message }) => message as Message);
		expect(repairMessages(messages)).toEqual([messages[0], assistantMessage("", [{ id: "x" }]), messages[2]]);
	});

	test("omits thinking at the end of a reply, and a reply that is nothing else: Anthropic refuses both", () => {
		const thinking = { type: "thinking", thinking: "hm", thinkingSignature: "signed" } as const;
		const cut = { ...assistantMessage("", [], "length"), content: [thinking] };
		const half = assistantMessage("Well,", [], "length");
		const go = user("go").message as Message;
		expect(repairMessages([go, cut, go])).toEqual([go, go]);
		expect(repairMessages([go, { ...half, content: [thinking, ...half.content, thinking] }, go])).toEqual([
			...[go, { ...half, content: [thinking, ...half.content] }, go],
		]);
	});

	test("replaces tool names and call ids that no provider accepts, as a damaged session file can hold them", () => {
		const calls = [{ id: "x \u0000", name: "re ad\ufffd" }];
		const messages = [user("go"), { message: assistantMessage("", calls) }, result("x \u0000", "ok", "\u0000")];
		const repaired = repairMessages(messages.map(({ message }) => message as Message));
		expect(repaired.slice(1)).toEqual([
			assistantMessage("", [{ id: "x__", name: "re_ad_" }]),
			{ ...result("x__").message, toolName: "re_ad_" },
		]);
	});
});

describe("a repaired list", () => {
	const go = user("go").message as Message;
	const answer = (id: string, text?: string) => result(id, text).message as Message;
	const reply = (...ids: string[]) =>
		assistantMessage(
			"look",
			ids.map((id) => ({ id })),
		);
	const interrupted = (id: string) => ({
		role: "toolResult",
		toolCallId: id,
		toolName: "read",
		content: [{ type: "text", text: "interrupted: this call has no recorded result" }],
		isError: true,
		timestamp: reply("x").timestamp,
	});

	test("has the same objects as a valid list", () => {
		const messages = [go, reply("a", "b"), answer("a"), answer("b")];
		repairMessages(messages).forEach((message, at) => {
			expect(message).toBe(messages[at]);
		});
	});

	test("has each result after its call, in the order of the calls, and an error result where one is missing", () => {
		const [first, second] = [reply("a", "b"), reply("c")];
		expect(repairMessages([answer("b"), go, first, second, answer("c"), go, answer("odd")])).toEqual([
			...[go, first, interrupted("a"), answer("b"), second, answer("c"), go],
		]);
	});

	test("has other ids for repeated ones, with the results in the order of the calls", () => {
		const first = reply("a");
		const messages = [
			first,
			answer("a", "1"),
			reply("a", "b"),
			answer("a", "2"),
			answer("b"),
			reply("a"),
			answer("a", "3"),
		];
		expect(repairMessages(messages)).toEqual([
			...[first, answer("a", "1")],
			...[reply("a_2", "b"), { ...answer("a", "2"), toolCallId: "a_2" }, answer("b")],
			...[reply("a_3"), { ...answer("a", "3"), toolCallId: "a_3" }],
		]);
	});

	test("has neither failed replies nor their results, and later calls keep theirs", () => {
		const failed = assistantMessage("half", [{ id: "a" }], "error");
		expect(repairMessages([go, failed, answer("a", "1"), reply("a"), answer("a", "2")])).toEqual([
			...[go, reply("a"), answer("a", "2")],
		]);
		expect(repairMessages([failed])).toEqual([]);
	});

	test("has of an aborted reply only the text", () => {
		const aborted = assistantMessage("half", [{ id: "a" }], "aborted");
		const thinking = { type: "thinking", thinking: "hm" } as const;
		const content = [thinking, { type: "text", text: " " } as const, ...aborted.content];
		expect(repairMessages([{ ...aborted, content }, answer("a")])).toEqual([assistantMessage("half")]);
		expect(repairMessages([{ ...aborted, content: [thinking] }])).toEqual([]);
	});

	test("begins with a user message, which is added only where one is missing", () => {
		const [opened, empty]: Message[][] = [[go, reply()], []];
		expect([openedByUser(opened ?? []), openedByUser(empty ?? [])]).toEqual([opened, []]);
		expect(openedByUser([reply()])).toEqual([
			{ role: "user", content: "(The beginning of this conversation was left out.)", timestamp: 0 },
			reply(),
		]);
	});
});

const text = (value: string) => ({ type: "text" as const, text: value });
const image = { type: "image" as const, data: "aa", mimeType: "image/png" };

test.each<[UserMessage["content"], boolean]>([
	["", true],
	[" \n", true],
	["a", false],
	[[], true],
	[[text(" "), text("\n")], true],
	[[text(" "), text("a")], false],
	[[text(" "), image], false],
])("the content %j is blank: %s", (content, expected) => {
	expect(isBlank(content)).toBe(expected);
});

test.each<[AssistantMessage["stopReason"], AssistantMessage["content"], boolean]>([
	["stop", [], false],
	["stop", [text(" ")], false],
	["stop", [text("a")], true],
	["stop", [{ type: "thinking", thinking: " " }], false],
	["stop", [{ type: "thinking", thinking: "hm", thinkingSignature: "s" }], false],
	["length", [{ type: "thinking", thinking: "hm", thinkingSignature: "s" }], false],
	["stop", [{ type: "thinking", thinking: "", thinkingSignature: "s", redacted: true }], false],
	["stop", [text(""), { type: "toolCall", id: "a", name: "ls", arguments: {} }], true],
	["error", [text("a")], false],
	["aborted", [text("a")], true],
	["aborted", [{ type: "toolCall", id: "a", name: "ls", arguments: {} }], false],
	["aborted", [{ type: "thinking", thinking: "hm" }], false],
])("a reply that ended with %s and contains %j is sent: %s", (stopReason, content, expected) => {
	expect(isSentReply({ ...assistantMessage(""), content, stopReason })).toBe(expected);
});

describe("convertToLlm", () => {
	test.each([
		["without data", "image/png", ""],
		["with other data", "image/png", "\u0000\u001b"],
		["of an unusable type", "png\u0000", "iVBORw0KGgo="],
	])("replaces an image %s by text", (_, mimeType, data) => {
		const good = { type: "image", mimeType: "image/png", data: "iVBORw0KGgo=" } as const;
		const message = user([good, { type: "image", mimeType, data }]).message as Message;
		expect(convertToLlm([message])).toEqual([
			{ ...message, content: [good, { type: "text", text: "(an image that is damaged)" }] },
		]);
	});

	const ran: BashExecutionMessage = {
		role: "bashExecution",
		command: "ls",
		output: "a\nb\n",
		exitCode: 0,
		cancelled: false,
		truncated: false,
		timestamp: 5,
	};

	test("converts a shell command to user text", () => {
		expect(convertToLlm([ran])).toEqual([{ role: "user", content: "Ran `ls`\n```\na\nb\n```", timestamp: 5 }]);
		expect(bashExecutionText({ ...ran, exitCode: 2 })).toContain("exited with code 2");
		expect(bashExecutionText({ ...ran, output: "```js\nx\n```" })).toContain("````\n```js");
	});

	test("omits !! commands and empty prompts, and never sends an empty tool result", () => {
		const empty = { ...result("x", "").message };
		const converted = convertToLlm([{ ...ran, excludeFromContext: true }, user("").message, empty]);
		expect(converted).toEqual([{ ...empty, content: [{ type: "text", text: "(no output)" }] }]);
	});

	test("keeps all other messages, as the same objects", () => {
		const messages = [user([text("a"), image]).message, assistantMessage("a"), result("x", "out").message];
		convertToLlm(messages).forEach((message, at) => {
			expect(message).toBe(messages[at]);
		});
		expect(convertToLlm(messages)).toHaveLength(3);
	});

	test("removes empty text next to other output of a tool, but not white space", () => {
		const output = { ...result("x").message, content: [text(""), image, text(" ")] };
		expect(convertToLlm([output as Message, { ...output, content: [] } as Message])).toEqual([
			{ ...output, content: [image, text(" ")] },
			{ ...output, content: [text("(no output)")] },
		]);
	});
});

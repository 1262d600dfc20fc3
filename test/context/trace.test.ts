import { describe, expect, test } from "vitest";
import type { TracedMessage } from "../../src/context/context-message.js";
import { readAnswer, type TracedAnswer, traceAnswer } from "../../src/context/trace.js";
import type { AppMessage, MessageEntry, SessionEntry } from "../../src/log/entry.js";
import { freezeDeep } from "../../src/log/freeze.js";
import { session } from "../helpers/entries.js";

const HOOK = "/h.ts";
const user = (content: string): AppMessage => freezeDeep({ role: "user", content, timestamp: 0 });
const entry = (entryIndex: number, message = user(`u${entryIndex}`)): TracedMessage =>
	Object.freeze({ message, entryIndex, origin: Object.freeze({ kind: "entry" }) });
const summary: TracedMessage = Object.freeze({
	...{ message: user("S"), entryIndex: null, origin: Object.freeze({ kind: "compaction", entryIndex: 9 }) },
});
const BEFORE = [summary, entry(1), entry(3), entry(4), entry(7)];
const [, one, three, four, seven] = BEFORE as [
	TracedMessage,
	TracedMessage,
	TracedMessage,
	TracedMessage,
	TracedMessage,
];

/** Entry 2 has no message; the list lacks the entries 5 and 6. */
const LOG = session(
	entryOf(one.message),
	{ type: "note" },
	entryOf(three.message),
	entryOf(four.message),
	entryOf(user("covered")),
	entryOf(user("covered too")),
	entryOf(seven.message),
);

function entryOf(message: AppMessage): SessionEntry {
	return { type: "message", timestamp: "2026-01-01T00:00:00.000Z", message };
}

const trace = (list: unknown, previousOwn: readonly TracedMessage[] = [], messages = BEFORE) => {
	const synthetic = messages.filter(({ entryIndex }) => entryIndex === null);
	return traceAnswer({ list, before: { messages, synthetic }, entries: LOG, hook: HOOK, previousOwn });
};
const traced = (...args: Parameters<typeof trace>): TracedAnswer => {
	const answer = trace(...args);
	if ("rule" in answer) throw new Error(answer.rule);
	return answer;
};
/** Expects these objects, not equal ones. */
const expectSame = (items: readonly unknown[], expected: readonly unknown[]) => {
	expect(items.map((item, at) => item === expected[at])).toEqual(expected.map(() => true));
	expect(items).toHaveLength(expected.length);
};

describe("the fields of an answer", () => {
	test.each<[unknown]>([[7], ["text"], [null], [undefined], [{}], [{ other: undefined }], [() => 1]])(
		"are missing: %j",
		(answer) => {
			expect(readAnswer(answer)).toEqual({ rule: "answer_has_messages", position: 0 });
		},
	);

	test.each([
		[{ message: [] }, "message"],
		[{ messages: [], system: "x", tool: 1 }, "system"],
		[Object.create({ messages: [] }, { inner: { value: 1, enumerable: true } }), "inner"],
	])("are refused if one is unknown: %j", (answer, detail) => {
		expect(readAnswer(answer)).toEqual({ rule: "answer_has_known_fields", position: 0, detail });
	});

	test("are read from an answer with the fields of its event", () => {
		const answer = { type: "context", entries: [], messages: [] };
		expect(readAnswer(answer)).toEqual({ messages: [], systemPrompt: undefined, tools: undefined });
	});

	test.each(["messages", "systemPrompt", "tools"])("are read if there is only %s", (name) => {
		const none = { messages: undefined, systemPrompt: undefined, tools: undefined };
		expect(readAnswer({ [name]: null })).toEqual({ ...none, [name]: null });
	});

	test("are unreadable if an accessor throws", () => {
		const answer = {
			get tools() {
				throw new Error("no");
			},
		};
		expect(readAnswer(answer)).toEqual({ rule: "answer_can_be_read", position: 0 });
	});
});

describe("a message of the list that the hook received", () => {
	test("is recognized in any order, wrapped or bare, as the same object", () => {
		const lists: unknown[][] = [
			[...BEFORE],
			BEFORE.slice(2),
			[...BEFORE].reverse(),
			BEFORE.map(({ message }) => message),
			[...BEFORE].reverse().map(({ message }) => message),
			BEFORE.map((item) => ({ ...item })),
			[...BEFORE].reverse().map((item) => ({ ...item })),
			[seven, { message: one.message, entryIndex: 1 }, summary.message, four],
			[four, { message: summary.message, entryIndex: null }],
			[{ message: one.message }.message, { ...four }, three],
		];
		const expected = [
			...[BEFORE, BEFORE.slice(2), [...BEFORE].reverse(), BEFORE, [...BEFORE].reverse(), BEFORE, [...BEFORE].reverse()],
			[seven, one, summary, four],
			[four, summary],
			[one, four, three],
		];
		lists.forEach((list, at) => {
			const answer = traced(list);
			expectSame(answer.messages, expected[at] ?? []);
			expect(answer.own).toEqual([]);
			expectSame(
				answer.synthetic,
				answer.messages.filter(({ entryIndex }) => entryIndex === null),
			);
		});
	});

	test("belongs to the hook without its index", () => {
		const moved = { message: one.message, entryIndex: null, origin: { kind: "hook", hook: HOOK } };
		const answer = traced([{ message: one.message, entryIndex: null }, three]);
		expect(answer).toEqual({ messages: [moved, three], synthetic: [moved], own: [moved] });
	});

	test("can get an index if another hook added it", () => {
		const added: TracedMessage = { message: user("added"), entryIndex: null, origin: { kind: "hook", hook: "/a.ts" } };
		const answer = traced([{ message: added.message, entryIndex: 4 }], [], [one, added, four]);
		expect(answer.messages).toEqual([{ ...added, entryIndex: 4 }]);
	});
});

describe("an entry index", () => {
	const added = user("new");
	const at = (entryIndex: number, message: unknown = added) => ({ message, entryIndex });
	const copy = () => ({ ...added });

	test("may be that of any entry with a message, also of one that the list lacks", () => {
		const list = [at(1, copy()), at(3, copy()), at(5, copy()), at(6, messageAt(6))];
		expect(traced(list).messages.map(({ entryIndex }) => entryIndex)).toEqual([1, 3, 5, 6]);
		expect(traced(list).own.map(({ message }) => message === messageAt(6))).toEqual([false, false, false, true]);
	});

	test.each<[string, unknown[], object]>([
		["of no entry", [at(8)], { rule: "entry_has_message", position: 0, detail: "8" }],
		["below 0", [one, at(-1)], { rule: "entry_has_message", position: 1, detail: "-1" }],
		["of the header", [at(0)], { rule: "entry_has_message", position: 0, detail: "0" }],
		["of an entry without a message", [at(2)], { rule: "entry_has_message", position: 0, detail: "2" }],
		["of another entry", [at(3, one.message)], { rule: "entry_index_is_own", position: 0, detail: "3" }],
		[
			"of another entry than a hidden one",
			[one, at(4, messageAt(5))],
			{ rule: "entry_index_is_own", position: 1, detail: "4" },
		],
		["for a summary of pi", [at(4, summary.message)], { rule: "entry_index_is_own", position: 0, detail: "4" }],
		["that comes twice", [one, three, at(1)], { rule: "one_message_per_entry", position: 2, detail: "1" }],
		[
			"that comes twice for new messages",
			[at(5, copy()), at(4, copy()), at(5, copy())],
			{ rule: "one_message_per_entry", position: 2, detail: "5" },
		],
	])("%s is refused", (_, list, fault) => {
		expect(trace(list)).toEqual(fault);
	});

	test("of what another hook put in place of an entry cannot be changed", () => {
		const replaced: TracedMessage = { message: added, entryIndex: 3, origin: { kind: "hook", hook: "/a.ts" } };
		const fault = { rule: "entry_index_is_own", position: 0, detail: "4" };
		expect(trace([at(4)], [], [one, replaced, four])).toEqual(fault);
	});
});

describe("a message that comes twice", () => {
	const added = { role: "user", content: "new", timestamp: 0 };

	test.each<[string, unknown[], number]>([
		["in a row", [one, one], 1],
		["later", [one, three, { message: one.message, entryIndex: 1 }], 2],
		["bare", [one.message, three, one.message], 2],
		["after its later place", [three, one, three], 2],
		["with and without its index", [{ message: one.message, entryIndex: null }, one], 1],
		["with its index and without", [one, { message: one.message, entryIndex: null }], 1],
		["as a summary", [summary, one, { message: summary.message, entryIndex: null }], 2],
		["as a new message", [one, added, three, added], 3],
		["as a new message with and without an index", [{ message: added, entryIndex: 1 }, added], 1],
	])("%s is refused", (_, list, position) => {
		expect(trace(list)).toEqual({ rule: "one_use_per_message", position });
	});

	test("in the list that the hook received is not the fault of the hook", () => {
		expect(traced([one, one, three].reverse(), [], [one, one, three]).messages).toEqual([three, one, one]);
	});
});

function messageAt(index: number): AppMessage {
	return (LOG[index] as MessageEntry).message;
}

describe("a message that the hook created", () => {
	const added = { role: "user", content: "new", timestamp: 0 };
	const origin = { kind: "hook", hook: HOOK };

	test("has the hook as origin, and the index that the hook gave", () => {
		const list = [one, { ...added }, { message: { ...added }, entryIndex: 4 }, { message: added, entryIndex: null }];
		const answer = traced(list);
		const own = [null, 4, null].map((entryIndex) => ({ message: added, entryIndex, origin }));
		expect(answer.messages).toEqual([one, ...own]);
		expect(answer.own).toEqual(own);
		expect(answer.synthetic).toEqual([own[0], own[2]]);
		expect([...answer.own, ...answer.own.map((item) => item.message)].every(Object.isFrozen)).toBe(true);
	});

	test("is the same object as last time if it is equal, by order or by the entry that it replaces", () => {
		const first = traced([added, { message: { ...added }, entryIndex: 3 }, { ...added, content: "other" }]);
		const copies = [{ ...added }, { message: { ...added }, entryIndex: 3 }, { ...added, content: "other" }];
		expectSame(traced(copies, first.own).messages, first.messages);
		const changed = traced([{ ...added, content: "changed" }, copies[2], copies[1]], first.own);
		expect(changed.messages[0]).not.toBe(first.messages[0]);
		expect(changed.messages[1]).not.toBe(first.messages[0]);
		expect(changed.messages[2]).toBe(first.messages[1]);
		expect(changed.messages.map(({ message }) => "content" in message && message.content)).toEqual([
			...["changed", "other", "new"],
		]);
		expect(changed.own).toEqual(changed.messages);
	});
});

test.each<[string, unknown, object]>([
	["no list", { 0: one, length: 1 }, { rule: "answer_has_messages", position: 0 }],
	["null", [one, null], { rule: "known_role", position: 1 }],
	["a text", [one, three, "text"], { rule: "known_role", position: 2 }],
	["an empty place", new Array(1), { rule: "known_role", position: 0 }],
	["a wrapped text", [{ message: "text", entryIndex: 1 }], { rule: "known_role", position: 0 }],
	["an unknown role", [one, { role: "odd" }], { rule: "known_role", position: 1, detail: "odd" }],
	["malformed content", [{ role: "user", content: 7 }], { rule: "well_formed_content", position: 0, detail: "user" }],
	[
		"an index that is not whole",
		[{ message: user("x"), entryIndex: 0.5 }],
		{ rule: "entry_index_is_integer", position: 0 },
	],
	["an index that is no number", [{ message: user("x"), entryIndex: "1" }], { rule: "known_role", position: 0 }],
	[
		"an accessor that throws",
		[
			one,
			{
				get message() {
					throw new Error("no");
				},
			},
		],
		{ rule: "answer_can_be_read", position: 1 },
	],
])("an answer with %s has a fault at its position", (_, list, fault) => {
	expect(trace(list)).toEqual(fault);
});

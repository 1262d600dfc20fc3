import { describe, expect, test } from "vitest";
import { buildContext, type ContextStage, plainMessages } from "../../src/context/build-context.js";
import { ContextMemo } from "../../src/context/context-memo.js";
import type { BuiltContext, ContextMessage } from "../../src/context/context-message.js";
import { messageText, type SessionEntry } from "../../src/log/entry.js";
import { freezeDeep } from "../../src/log/freeze.js";
import { assistant, compaction, custom, result, session, user } from "../helpers/entries.js";

function texts(context: BuiltContext): string[] {
	return context.messages.map(({ message }) => messageText(message));
}

function hook(name: string, change: (messages: readonly ContextMessage[]) => unknown): ContextStage {
	return { hook: name, transform: async (messages) => change(messages) };
}

const entries = session(
	user("one"),
	assistant("", [{ id: "a" }]),
	result("a", "read it"),
	assistant("done"),
	custom("mark"),
	user("two"),
);

describe("the core", () => {
	test("turns message entries into messages with their index and skips all others", async () => {
		const context = await buildContext(entries, []);
		expect(context.messages.map(({ entryIndex, origin }) => [entryIndex, origin.kind])).toEqual([
			[1, "entry"],
			[2, "entry"],
			[3, "entry"],
			[4, "entry"],
			[6, "entry"],
		]);
		expect(context.hidden).toEqual([]);
	});

	test("puts the latest compaction's summary before the kept messages and reports the hidden ones", async () => {
		const compacted = [...entries, compaction(4, "C1"), user("three")];
		const context = await buildContext(compacted, []);
		expect(texts(context)).toEqual([
			"The conversation before this point was replaced by a summary:\n\n<summary>\nC1\n</summary>",
			"done",
			"two",
			"three",
		]);
		expect(context.messages[0]?.origin).toEqual({ kind: "compaction", entryIndex: 7 });
		expect(context.hidden.map(({ entryIndex }) => entryIndex)).toEqual([1, 2, 3]);
	});

	test.each([
		[-5, ["one", "", "read it", "done", "two"]],
		[3.7, ["read it", "done", "two"]],
		[99, []],
		["x", []],
	])("clamps a compaction that keeps from %s and reports it", async (firstKept, kept) => {
		const broken = { ...compaction(0, "C"), firstKeptEntryIndex: firstKept as number };
		const context = await buildContext([...entries, broken], []);
		expect(texts(context).slice(1)).toEqual(kept);
		expect(context.problems).toEqual([{ hook: null, rule: "compaction_index_clamped", position: 7 }]);
	});

	test("reads no entry before the cut except the header, which identifies the log", async () => {
		const compacted = [...entries, compaction(6, "C1"), user("three")];
		const read: number[] = [];
		const source = {
			length: compacted.length,
			at(index: number) {
				read.push(index);
				return compacted[index];
			},
		};
		const context = await buildContext(source, []);
		expect([...new Set(read)].sort((a, b) => a - b)).toEqual([0, 6, 7, 8]);
		expect(context.hidden.length).toBe(4);
	});

	test("returns the same message objects each time, so that an unchanged prefix is recognized", async () => {
		const compacted = [...entries, compaction(6, "C1")];
		const [a, b] = [await buildContext(compacted, []), await buildContext([...compacted, user("next")], [])];
		a.messages.forEach((item, i) => {
			expect(b.messages[i]?.message).toBe(item.message);
		});
	});
});

describe("hooks in the pipeline", () => {
	test("each receives the list of the previous one, and the origin names the hook that added a message", async () => {
		const context = await buildContext(entries, [
			hook("first", (messages) => ({ messages: messages.slice(3) })),
			hook("second", (messages) => ({
				messages: [{ role: "user", content: `${messages.length} left`, timestamp: 0 }, ...messages],
			})),
			hook("third", () => undefined),
		]);
		expect(texts(context)).toEqual(["2 left", "done", "two"]);
		expect(context.messages.map(({ origin }) => origin)).toEqual([
			{ kind: "hook", hook: "second" },
			{ kind: "entry" },
			{ kind: "entry" },
		]);
		expect(context.hidden).toEqual(
			[1, 2, 3].map((entryIndex) => ({ entryIndex, by: { kind: "hook", hook: "first" } })),
		);
	});

	test("may replace a message of the log under its index, and pi reads only that entry to check it", async () => {
		const read: number[] = [];
		const source = {
			length: entries.length,
			at(index: number) {
				read.push(index);
				return entries[index];
			},
		};
		const memo = new ContextMemo();
		await buildContext(source, [], { memo });
		read.length = 0;
		const replace = hook("cut", (messages) => ({
			messages: messages.map((item) => (item.entryIndex === 4 ? { ...item, message: { ...item.message } } : item)),
		}));
		const context = await buildContext(source, [replace], { memo });
		expect([...new Set(read)]).toEqual([4]);
		expect(context.problems).toEqual([]);
		expect(context.messages[3]).toMatchObject({ entryIndex: 4, origin: { kind: "hook", hook: "cut" } });
	});

	test("cannot use the index of an entry that was added after the context began", async () => {
		const grown = [...entries, user("late")];
		const source = { length: entries.length, at: (index: number) => grown[index] };
		const late = hook("late", (m) => ({
			messages: [...m, { message: { role: "user", content: "x" }, entryIndex: 7 }],
		}));
		const { problems } = await buildContext(source, [late]);
		expect(problems).toEqual([{ hook: "late", rule: "entry_has_message", position: 5, detail: "7" }]);
	});

	test.each<[string, (messages: readonly ContextMessage[]) => unknown[], string]>([
		[
			"an index of no entry",
			(m) => [...m, { message: { role: "user", content: "x" }, entryIndex: 7 }],
			"entry_has_message",
		],
		[
			"the index of a mark",
			(m) => [...m, { message: { role: "user", content: "x" }, entryIndex: 5 }],
			"entry_has_message",
		],
		[
			"a message under another index",
			(m) => m.map((x, i) => (i === 0 ? { ...x, entryIndex: 4 } : x)),
			"entry_index_is_own",
		],
		[
			"an index twice",
			(m) => [...m, { message: { role: "user", content: "x" }, entryIndex: 1 }],
			"one_message_per_entry",
		],
		["a message twice", (m) => [...m, ...m.slice(-1)], "one_use_per_message"],
	])("drops an answer with %s", async (_, change, rule) => {
		const context = await buildContext(entries, [hook("bad", (messages) => ({ messages: change(messages) }))]);
		expect(context.problems).toMatchObject([{ hook: "bad", rule }]);
		expect(context.messages).toEqual((await buildContext(entries, [])).messages);
	});

	test("recognizes a bare message of the list by identity and keeps its index", async () => {
		const context = await buildContext(entries, [
			hook("bare", (messages) => ({ messages: messages.map(({ message }) => message) })),
		]);
		expect(context.messages.map(({ entryIndex }) => entryIndex)).toEqual([1, 2, 3, 4, 6]);
		expect(context.messages.every(({ origin }) => origin.kind === "entry")).toBe(true);
	});

	test("attributes a replaced message to the hook, at the entry's index", async () => {
		const context = await buildContext(entries, [
			hook("cut", (messages) => ({
				messages: messages.map((item) =>
					item.entryIndex === 3
						? { entryIndex: 3, message: { ...item.message, content: [{ type: "text", text: "cut" }] } }
						: item,
				),
			})),
		]);
		expect(context.messages[2]).toMatchObject({ entryIndex: 3, origin: { kind: "hook", hook: "cut" } });
		expect(context.hidden).toEqual([]);
	});

	test.each([
		[
			"a result without its call",
			(m: readonly ContextMessage[]) => m.filter((_, i) => i !== 1),
			"result_answers_call",
			1,
		],
		["a call without its result", (m: readonly ContextMessage[]) => m.filter((_, i) => i !== 2), "call_has_result", 1],
		[
			"a result twice",
			(m: readonly ContextMessage[]) => m.flatMap((x, i) => (i === 2 ? [x, { ...x.message }] : [x])),
			"one_result_per_call",
			3,
		],
		[
			"no user message",
			(m: readonly ContextMessage[]) => m.filter(({ message }) => message.role !== "user"),
			"user_message_remains",
			0,
		],
		["an unknown role", (m: readonly ContextMessage[]) => [...m, { role: "system", content: "x" }], "known_role", 5],
		[
			"content of a wrong type",
			(m: readonly ContextMessage[]) => [...m, { role: "user", content: 7 }],
			"well_formed_content",
			5,
		],
		["null", (m: readonly ContextMessage[]) => [null, ...m], "known_role", 0],
	])(
		"drops an answer with %s, attributes it to the hook and uses the previous list",
		async (_, change, rule, position) => {
			const context = await buildContext(entries, [
				hook("good", (messages) => ({ messages: [...messages, { role: "user", content: "more", timestamp: 0 }] })),
				hook("bad", (messages) => ({ messages: change(messages.slice(0, 5)) })),
			]);
			expect(context.problems).toMatchObject([{ hook: "bad", rule, position }]);
			expect(texts(context).at(-1)).toBe("more");
		},
	);

	test.each([[7], ["text"], [null], [{}], [{ messages: 3 }]])("drops an answer of the form %j", async (answer) => {
		const context = await buildContext(entries, [hook("odd", () => answer)]);
		expect(context.problems).toEqual([{ hook: "odd", rule: "answer_has_messages", position: 0 }]);
		expect(context.messages.length).toBe(5);
	});

	test("does not blame a hook for faults that a crash left in the log", async () => {
		const crashed = session(user("one"), assistant("", [{ id: "lost" }]), user("two"));
		const context = await buildContext(crashed, [
			hook("adds", (messages) => ({ messages: [...messages, { role: "user", content: "hi", timestamp: 0 }] })),
		]);
		expect(context.problems).toEqual([]);
		expect(texts(context)).toEqual(["one", "", "two", "hi"]);
	});

	test("passes frozen lists to handlers", async () => {
		let refused: unknown;
		await buildContext(entries, [
			hook("scribbler", (messages) => {
				try {
					(messages as ContextMessage[]).pop();
				} catch (error) {
					refused = error;
				}
				return undefined;
			}),
		]);
		expect(refused).toBeInstanceOf(TypeError);
	});
});

const note = (content: string) => ({ role: "user" as const, content, timestamp: 0 });
const drop = (name: string, ...indices: number[]) =>
	hook(name, (messages) => ({ messages: messages.filter(({ entryIndex }) => !indices.includes(entryIndex ?? 0)) }));
const replace = (name: string, index: number) =>
	hook(name, (messages) => ({
		messages: messages.map((item) => (item.entryIndex === index ? { ...item, message: note(`by ${name}`) } : item)),
	}));
const talk = freezeDeep(session(user("one"), user("two"), assistant("three"), user("four"), user("five")));

describe("what hooks did to a context", () => {
	test("is nothing without answers, and with answers that keep the messages", async () => {
		const same = hook("same", (messages) => ({ messages: messages.map(({ message }) => message) }));
		for (const stages of [[], [hook("passes", () => undefined)], [same]]) {
			const context = await buildContext(talk, stages);
			expect([context.isChanged, context.hidden, context.problems]).toEqual([false, [], []]);
			expect(context.edits).toEqual(stages.includes(same) ? [{ hook: "same", entries: new Set() }] : []);
		}
	});

	test.each([
		["removes", drop("h", 2)],
		["replaces", replace("h", 2)],
		["adds", hook("h", (messages) => ({ messages: [...messages, note("more")] }))],
		["reorders", hook("h", (messages) => ({ messages: [messages[1], messages[0], ...messages.slice(2)] }))],
	])("is a change if a hook %s a message", async (_, stage) => {
		expect((await buildContext(talk, [stage])).isChanged).toBe(true);
	});

	test("is no change in total if a later hook restores the messages", async () => {
		const core = (await buildContext(talk, [])).messages;
		const context = await buildContext(talk, [drop("a", 2), hook("b", () => ({ messages: core }))]);
		expect([context.isChanged, context.hidden]).toEqual([false, []]);
		expect(context.edits.map(({ entries }) => [...entries])).toEqual([[2], []]);
	});

	test("has for each entry the last hook that hides it, in the order of the log", async () => {
		const restored = hook("c", (messages) => ({
			messages: [messages[0], { message: note("again"), entryIndex: 2 }, messages[1]],
		}));
		const context = await buildContext(talk, [drop("a", 4), drop("b", 2, 3), restored]);
		expect(context.hidden).toEqual([
			{ entryIndex: 3, by: { kind: "hook", hook: "b" } },
			{ entryIndex: 4, by: { kind: "hook", hook: "a" } },
		]);
		expect(context.hidden).toBe(context.hidden);
		expect(context.edits).toBe(context.edits);
	});

	test("has the entries whose messages each hook removed or replaced", async () => {
		const prefix = hook("a", (messages) => ({ messages: [note("brief"), ...messages] }));
		const context = await buildContext(talk, [prefix, replace("b", 4), drop("c", 1), hook("d", () => undefined)]);
		expect(context.edits).toEqual([
			{ hook: "a", entries: new Set() },
			{ hook: "b", entries: new Set([4]) },
			{ hook: "c", entries: new Set([1]) },
		]);
	});

	test("a compaction does not hide the prompts that it keeps, and a hook can hide them", async () => {
		const entries = [...talk, { ...compaction(4, "C"), keptEntries: [2] }];
		const by = { kind: "compaction", entryIndex: 6 };
		expect((await buildContext(entries, [])).hidden).toEqual([
			{ entryIndex: 1, by },
			{ entryIndex: 3, by },
		]);
		expect((await buildContext(entries, [drop("a", 2)])).hidden[1]).toEqual({
			entryIndex: 2,
			by: { kind: "hook", hook: "a" },
		});
	});

	test("a freeze hides earlier entries that its request did not have", async () => {
		const shape = [[1, 2], { message: note("by a hook"), entryIndex: null }, { message: note("cut"), entryIndex: 3 }];
		const reply = { ...assistant("six"), context: { digest: "", messages: 3, tokens: 0, shape } } as SessionEntry;
		const context = await buildContext(
			[...talk, reply, custom("context_freeze", { entryIndex: 6 }), user("seven")],
			[],
		);
		expect(texts(context)).toEqual(["one", "by a hook", "cut", "six", "seven"]);
		const by = { kind: "freeze", entryIndex: 7 };
		expect(context.hidden).toEqual([
			{ entryIndex: 2, by },
			{ entryIndex: 4, by },
			{ entryIndex: 5, by },
		]);
	});
});

describe("problems of a context", () => {
	const bad = (name: string) => hook(name, (messages) => ({ messages: [...messages, { role: "odd" }] }));

	test("are reported when they occur, those of the log first", async () => {
		const reported: unknown[] = [];
		const entries = [...talk, compaction(99, "C"), user("six")];
		const { problems } = await buildContext(entries, [bad("a"), hook("b", () => 7)], {
			onProblem: (problem) => reported.push(problem),
		});
		expect(problems).toMatchObject([{ rule: "compaction_index_clamped" }, { hook: "a" }, { hook: "b" }]);
		expect(reported).toEqual(problems);
	});

	test("blame the hook that causes a fault, not later ones that keep it", async () => {
		const crashed = session(user("one"), assistant("", [{ id: "lost" }]), user("two"));
		const orphan = hook("orphan", (messages) => ({
			messages: [...messages, { ...result("gone").message }, note("more")],
		}));
		const adds = (name: string) => hook(name, (messages) => ({ messages: [...messages, note(name)] }));
		const context = await buildContext(crashed, [adds("a"), orphan, adds("b"), orphan, adds("c")]);
		expect(context.problems.map((problem) => [problem.hook, problem.rule])).toEqual([
			["orphan", "result_answers_call"],
			["orphan", "result_answers_call"],
		]);
		expect(context.problems[0]).not.toHaveProperty("key");
		expect(texts(context)).toEqual(["one", "", "two", "a", "b", "c"]);
	});

	test("do not keep a later answer of the same hook from being used", async () => {
		const context = await buildContext(talk, [bad("a"), hook("a", () => ({ messages: [note("only")] }))]);
		expect(texts(context)).toEqual(["only"]);
	});
});

test("two handlers of a hook do not share the messages that they created last time", async () => {
	const memo = new ContextMemo();
	const adds = (text: string) => hook("h", (messages) => ({ messages: [...messages, note(text)] }));
	const stages = [adds("a"), adds("b")];
	const [first, next] = [await buildContext(talk, stages, { memo }), await buildContext(talk, stages, { memo })];
	expect(plainMessages(first)).toEqual([...plainMessages(first).slice(0, 5), note("a"), note("b")]);
	next.messages.forEach((item, at) => {
		expect(item).toBe(first.messages[at]);
	});
});

test("the sections of a hook without a name begin with its path", async () => {
	const systemPrompt = [{ id: "/h.ts:x", text: "Be kind." }];
	const { preamble, problems } = await buildContext(talk, [hook("/h.ts", () => ({ systemPrompt }))]);
	expect([preamble.systemPrompt, problems]).toEqual(["Be kind.", []]);
});

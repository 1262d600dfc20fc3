import { expect, test } from "vitest";
import { buildContext, type ContextStage } from "../../src/context/build-context.js";
import { StageMemo } from "../../src/context/context-memo.js";
import type { Origin, TracedMessage } from "../../src/context/context-message.js";
import { describeProblem } from "../../src/context/describe-problem.js";
import {
	countPrefix,
	createLedger,
	fullText,
	groupTools,
	hookShares,
	isSameMessage,
	type LedgerTool,
	sharedPrefix,
} from "../../src/context/ledger.js";
import { RequestRecorder, readRecordedRequest } from "../../src/context/recorded-request.js";
import { shortenOutput } from "../../src/context/shorten.js";
import { estimateTokens } from "../../src/context/tokens.js";
import type { AppMessage, CompactionEntry, MessageEntry, RecordedRequest, SessionEntry } from "../../src/log/entry.js";
import { freezeDeep } from "../../src/log/freeze.js";
import { assistant, assistantMessage, compaction, result, session, user } from "../helpers/entries.js";
import { core, stage, tool } from "./preamble-support.js";

const traced = (...messages: AppMessage[]): TracedMessage[] =>
	messages.map((message, entryIndex) => ({ message, entryIndex, origin: { kind: "entry" } }));
const plainTool = (name: string, fields: Partial<LedgerTool> = {}): LedgerTool => ({
	...{ name, tokens: 10, origin: { kind: "core" }, text: `Runs ${name}.` },
	...fields,
});
const hookTool = plainTool("fly", { origin: { kind: "hook", hook: "/h.ts" }, tokens: 5 });

test("the tools of pi are one item, and those of hooks keep theirs", () => {
	const tools = [plainTool("read"), hookTool, plainTool("bash", { tokens: 7 })];
	expect(groupTools(tools)).toEqual([
		{ name: "2 of 3 tools", tokens: 17, origin: { kind: "core" }, text: "read, bash" },
		hookTool,
	]);
	const cached = (...values: boolean[]) =>
		groupTools(values.map((value, at) => plainTool(`t${at}`, { cached: value })))[0]?.cached;
	expect([cached(true, true), cached(true, false), cached(false, false)]).toEqual([true, false, false]);
	for (const few of [[plainTool("read"), hookTool], [hookTool], []]) expect(groupTools(few)).toEqual(few);
	expect(groupTools([hookTool, hookTool])).toEqual([hookTool, hookTool]);
});

test("tools name the hook that registered them, and count as its share", async () => {
	const hooked = { ...core(["read"]), tools: [tool("read"), { ...tool("fly"), hook: "/h.ts" }] };
	const context = await buildContext(session(user("u")), [], { preamble: hooked });
	const ledger = createLedger({ context, entries: session(user("u")), previous: null });
	expect(ledger.tools.map(({ name, origin, text }) => [name, origin, text])).toEqual([
		["read", { kind: "core" }, "Runs read."],
		["fly", { kind: "hook", hook: "/h.ts" }, "Runs fly."],
	]);
	expect(Object.fromEntries(hookShares(ledger))).toEqual({
		"/h.ts": { added: ledger.tools[1]?.tokens, removed: 0 },
	});
});

test("dropped answers are listed with a sentence", async () => {
	const broken = stage("broken", () => ({ tools: ["read", "fly"] }));
	const context = await buildContext(session(user("u")), [broken], { preamble: core() });
	const { problems } = createLedger({ context, entries: session(user("u")), previous: null });
	const problem = { hook: "/hooks/broken.ts", rule: "known_tool", position: 1 };
	expect(problems).toEqual([{ ...problem, reason: describeProblem(problem) }]);
});

test("a shortened message has the tokens of the original, and a hidden entry without a message has none", () => {
	const entries = session(user("u"), assistant("", [{ id: "c" }]), result("c", "x".repeat(400)));
	const { message } = result("c", "x");
	const origin = { kind: "shortened", entryIndex: 9 } as const;
	const context = {
		...{ length: 4, edits: [], problems: [], facts: null, provider: null, outputSchema: null, isChanged: false },
		messages: [{ message, entryIndex: 3, origin }, ...traced(user("b").message)],
		hidden: [{ entryIndex: 0, by: { kind: "compaction" as const, entryIndex: 9 } }],
	};
	return buildContext(entries, []).then(({ preamble }) => {
		const ledger = createLedger({ context: { ...context, preamble }, entries, previous: "none" });
		expect(ledger.messages[0]).toMatchObject({
			origin: { kind: "shortened" },
			replacedTokens: estimateTokens((entries[3] as MessageEntry).message),
		});
		expect(ledger.messages[0]?.origin).toEqual({ kind: "shortened" });
		expect(ledger.messages[1]).not.toHaveProperty("replacedTokens");
		expect(ledger.hidden).toEqual([{ entryIndex: 0, role: "", tokens: 0, by: { kind: "compaction", entryIndex: 9 } }]);
		expect(hookShares(ledger).size).toBe(0);
	});
});

test("the text of a message includes calls and commands, and no thinking", () => {
	const reply = assistantMessage("I look.", [{ id: "c", name: "read", arguments: { path: "a" } }]);
	const thought = { ...reply, content: [{ type: "thinking" as const, thinking: "hm" }, ...reply.content] };
	expect(fullText(thought)).toBe('I look.\nread({"path":"a"})');
	expect(fullText(user("hello").message)).toBe("hello");
	const ran: AppMessage = {
		...{ role: "bashExecution", command: "ls", output: "a.txt", exitCode: 0, cancelled: false, truncated: false },
		timestamp: 0,
	};
	expect(fullText(ran)).toMatch(/ls[\s\S]*a\.txt/);
});

test("equal messages at the start of two lists are counted", () => {
	const [a, b, c] = ["a", "b", "c"].map((text) => user(text).message);
	if (!a || !b || !c) throw new Error("no messages");
	expect(countPrefix([a, b], traced({ ...a }, { ...b }, c))).toBe(2);
	expect(countPrefix([a, b, c], traced(a))).toBe(1);
	expect(countPrefix([a, b], traced(a, c))).toBe(1);
	expect([countPrefix([], traced(a)), countPrefix([a], []), countPrefix([b], traced(a))]).toEqual([0, 0, 0]);
	expect([isSameMessage(a, { ...a, timestamp: 9 }), isSameMessage(a, b), isSameMessage(a, undefined)]).toEqual([
		...[true, false, false],
	]);
	expect([isSameMessage(undefined, a), isSameMessage(undefined, undefined)]).toEqual([false, false]);
	expect(isSameMessage(user("a").message, assistantMessage("a"))).toBe(false);
});

test("the start that two requests share includes equal messages that are other objects", async () => {
	const { preamble } = await buildContext(session(user("u")), []);
	const [a, b, c] = ["a", "b", "c"].map((text) => user(text).message);
	if (!a || !b || !c) throw new Error("no messages");
	const prefix = (before: AppMessage[], now: AppMessage[]) =>
		sharedPrefix(
			{ preamble, length: 0, messages: traced(...before) },
			{ preamble, length: 0, messages: traced(...now) },
		).messages;
	expect([
		prefix([a, b, c], [a, { ...b }, { ...c }]),
		prefix([a, b], [a, { ...b }, c]),
		prefix([a, b, c], [a, b]),
	]).toEqual([3, 2, 2]);
	expect([prefix([a, b, c], [a, c, c]), prefix([b, a], [{ ...b }, { ...b }])]).toEqual([1, 1]);
});

/** Records a request after a shortening compaction. */
async function shortening() {
	const long: CompactionEntry = { ...compaction(1, "S"), shortened: [{ entryIndex: 3, characters: 100 }] };
	const entries: SessionEntry[] = session(
		user("u1"),
		assistant("", [{ id: "c" }]),
		result("c", "x".repeat(4000)),
		long,
	);
	const adds: ContextStage = {
		hook: "/h.ts",
		transform: async (messages) => ({ messages: [...messages, { role: "user", content: "more", timestamp: 0 }] }),
	};
	const context = await buildContext(entries, [adds]);
	const recorder = new RequestRecorder();
	const shape = recorder.describe(context, entries);
	const reply = (recorded: RecordedRequest | undefined): MessageEntry => ({
		...assistant("ok"),
		context: { digest: "", messages: 0, tokens: 0, ...(recorded && { shape: recorded }) },
	});
	return { entries, context, recorder, shape, reply };
}

test("a shortened output is recorded by its compaction, and read again as it was sent", async () => {
	const { entries, context, shape, reply } = await shortening();
	expect(context.messages.some(({ origin }) => origin.kind === "shortened")).toBe(true);
	expect(shape).toContainEqual({ compaction: 4, entry: 3 });
	const log = freezeDeep([...entries, reply(shape)]);
	const read = readRecordedRequest(log, 5);
	expect(read?.map(({ message }) => fullText(message))).toEqual(
		context.messages.map(({ message }) => fullText(message)),
	);
	const origins = (list: readonly { origin: Origin }[] | null | undefined) => list?.map(({ origin }) => origin.kind);
	expect(origins(read)).toEqual(origins(context.messages)?.map((kind) => (kind === "hook" ? "freeze" : kind)));
	const shortened = read?.find(({ origin }) => origin.kind === "shortened");
	expect(shortened).toEqual({
		message: shortenOutput((entries[3] as MessageEntry).message, 100),
		entryIndex: 3,
		origin: { kind: "shortened", entryIndex: 4 },
	});
});

test.each<[string, RecordedRequest]>([
	["an output that the compaction did not shorten", [{ compaction: 4, entry: 1 }]],
	["a shortened entry without a message", [{ compaction: 4, entry: 0 }]],
	["an entry that is no compaction", [{ compaction: 1 }]],
	["a later compaction", [{ compaction: 6 }]],
	["itself", [{ reply: 5, part: 0 }]],
	["a later reply", [{ reply: 7, part: 0 }]],
	["a part that is no message", [{ reply: 8, part: 0 }]],
])("a record cannot be read that refers to %s", async (_, shape) => {
	const { entries, reply } = await shortening();
	const note = { message: user("n").message, entryIndex: null };
	const log = [...entries, reply(shape), compaction(1, "later"), reply([note])];
	expect(readRecordedRequest(log, 5)).toBeNull();
	expect(readRecordedRequest(log, 4)).toBeNull();
});

test("a recorder forgets what another log contained", async () => {
	const { entries, context, recorder, shape } = await shortening();
	recorder.recorded(5);
	expect(recorder.describe(context, entries)?.at(-1)).toEqual({ reply: 5, part: (shape?.length ?? 0) - 1 });
	recorder.reset();
	recorder.recorded(9); // belongs to the other log
	expect(recorder.describe(context, entries)?.at(-1)).toMatchObject({ message: { content: "more" } });
});

test("an answer is checked from the last group that is unchanged, and its problems are found each time", () => {
	const stageMemo = new StageMemo();
	const list = traced(
		user("a").message,
		assistantMessage("", [{ id: "c1" }, { id: "c2" }]),
		result("c1").message,
		result("c2").message,
	);
	const check = (messages: TracedMessage[], own: TracedMessage[] = []) =>
		stageMemo.check({ messages: [...messages], own, synthetic: [] });
	expect(stageMemo.own).toEqual([]);
	expect(check(list)).toEqual([]);
	expect(check([...list, ...traced(user("b").message)], list.slice(0, 1))).toEqual([]);
	expect(stageMemo.own).toEqual(list.slice(0, 1));
	// Within a group: the second result is missing now, or is there twice.
	expect(check(list.slice(0, 3)).length).toBeGreaterThan(0);
	expect(check(list)).toEqual([]);
	expect(check([...list, ...list.slice(3)]).length).toBeGreaterThan(0);
	expect(check([...list, ...list.slice(3)]).length).toBeGreaterThan(0);
	expect(check(list)).toEqual([]);
	expect(check(list.slice(2)).length).toBeGreaterThan(0);
});

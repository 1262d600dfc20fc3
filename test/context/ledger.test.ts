import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { buildContext, type ContextStage } from "../../src/context/build-context.js";
import { findCacheLoss } from "../../src/context/cache-loss.js";
import type { ContextMessage, TracedMessage } from "../../src/context/context-message.js";
import { diffRequests } from "../../src/context/diff-requests.js";
import { countPrefix, createContextReport, createLedger, hookShares } from "../../src/context/ledger.js";
import { StabilityWatch } from "../../src/context/stability.js";
import { estimateTokens } from "../../src/context/tokens.js";
import type { AppMessage, SessionEntry } from "../../src/log/entry.js";
import { assistant, compaction, result, session, user } from "../helpers/entries.js";

const HOOK = "/hooks/cut.ts";

function stage(change: (messages: readonly ContextMessage[]) => unknown, hook = HOOK): ContextStage {
	return { hook, transform: async (messages) => change(messages) };
}

function note(content: string): AppMessage {
	return { role: "user", content, timestamp: 0 };
}

function messageOf(entry: SessionEntry | undefined): AppMessage {
	if (entry?.type !== "message") throw new Error("The entry is no message");
	return (entry as { message: AppMessage }).message;
}

/** A prompt, a call with a long result, a reply. */
const TALK = session(user("u1"), assistant("", [{ id: "a" }]), result("a", "x".repeat(400)), assistant("done"));

const cut = stage((messages) => ({
	messages: messages.map((item) =>
		item.message.role === "toolResult"
			? { ...item, message: { ...item.message, content: [{ type: "text", text: "[cut]" }] } }
			: item,
	),
}));

describe("the ledger", () => {
	test("lists index, role, tokens, origin and text, and whether the previous request started the same", async () => {
		const context = await buildContext(TALK, [cut]);
		const messages = context.messages.slice(0, 3).map((traced) => ({ ...traced, message: { ...traced.message } }));
		const previous = { messages, preamble: context.preamble };
		const ledger = createLedger({ context, entries: TALK, previous });
		const cutTokens = estimateTokens(note("[cut]"));
		expect(ledger).toEqual({
			tokens: ledger.messages.reduce((sum, { tokens }) => sum + tokens, 0),
			prefix: { tools: 0, systemPrompt: 0, messages: 3, tokens: ledger.tokens - estimateTokens(messageOf(TALK[4])) },
			messages: [
				{ position: 0, entryIndex: 1, role: "user", tokens: 5, cached: true, origin: { kind: "entry" }, text: "u1" },
				expect.objectContaining({ position: 1, entryIndex: 2, role: "assistant", cached: true, text: "read({})" }),
				{
					position: 2,
					entryIndex: 3,
					role: "toolResult",
					tokens: cutTokens,
					cached: true,
					origin: { kind: "hook", hook: HOOK },
					replacedTokens: estimateTokens(messageOf(TALK[3])),
					text: "[cut]",
				},
				expect.objectContaining({ position: 3, entryIndex: 4, cached: false, text: "done" }),
			],
			systemPrompt: [],
			tools: [],
			hidden: [],
			removed: [],
			problems: [],
		});
		expect([...hookShares(ledger)]).toEqual([
			[HOOK, { added: cutTokens, removed: estimateTokens(messageOf(TALK[3])) }],
		]);
	});

	test("names what hides each entry, and omits the cache if the previous request is unknown", async () => {
		const entries = session(user("u1"), assistant("a1"), user("u2"), assistant("a2"), compaction(3, "S"), user("u3"));
		const tail = stage((messages) => ({ messages: messages.slice(2) }));
		const context = await buildContext(entries, [tail]);
		const report = createContextReport({
			context,
			entries,
			previous: null,
			session: null,
			hooks: [{ path: HOOK, scope: "flag" }],
		});
		expect(report).toMatchObject({ session: null, at: 6, hooks: [{ path: HOOK, scope: "flag" }] });
		expect(report).not.toHaveProperty("prefix");
		expect(report.messages.map(({ text }) => text)).toEqual(["a2", "u3"]);
		const byCompaction = { kind: "compaction", entryIndex: 5 };
		expect(report.hidden).toEqual([
			{ entryIndex: 1, role: "user", tokens: 5, by: byCompaction },
			{ entryIndex: 2, role: "assistant", tokens: 5, by: byCompaction },
			{ entryIndex: 3, role: "user", tokens: 5, by: { kind: "hook", hook: HOOK } },
		]);
		expect(hookShares(report).get(HOOK)).toEqual({ added: 0, removed: 5 });
	});
});

describe("the loss of cached tokens", () => {
	const start = session(user("u1"), assistant("a1"), user("u2"));
	const grown = [...start, assistant("a2"), user("u3")];
	const summary = note("[Summary]");
	const summarize = stage((messages) => ({ messages: [summary, ...messages.slice(2)] }), "/hooks/sum.ts");
	const drop = stage((messages) => ({ messages: messages.slice(1) }), "/hooks/drop.ts");
	const u1 = estimateTokens(messageOf(start[1]));
	const a1 = estimateTokens(messageOf(start[2]));
	const u2 = estimateTokens(messageOf(start[3]));
	const bySum = { kind: "hook", hook: "/hooks/sum.ts" };

	test.each([
		["nothing when messages were added at the end", [], grown, [], null],
		["all, by a hook that hides the first messages", [], grown, [drop], { kind: "hook", hook: "/hooks/drop.ts" }],
		["all, by a hook that puts a summary there", [], grown, [summarize], bySum],
		["all, by a hook that no longer puts one there", [summarize], grown, [], bySum],
		["all, by a hook that hides no more", [drop], grown, [], { kind: "hook", hook: "/hooks/drop.ts" }],
		["all, by a compaction", [], [...grown, compaction(3, "S")], [], { kind: "compaction" }],
		["all, by something else", [], session(user("other")), [], { kind: "other" }],
	] as const)("%s", async (_, before, entries, after, by) => {
		const [previous, current] = [await buildContext(start, before), await buildContext(entries, after)];
		const tokens = previous.messages.reduce((sum, { message }) => sum + estimateTokens(message), 0);
		expect(findCacheLoss(previous, current)).toEqual(by && { by, changed: { kind: "message" }, tokens, position: 0 });
	});

	test("counts only the messages after the change", async () => {
		const last = stage((messages) => ({ messages: [...messages.slice(0, -1), note("other")] }));
		const [previous, current] = [await buildContext(start, []), await buildContext(start, [last])];
		const by = { kind: "hook", hook: HOOK };
		expect(findCacheLoss(previous, current)).toEqual({ by, changed: { kind: "message" }, tokens: u2, position: 2 });
		expect(u1 + a1 + u2).toBe(previous.messages.reduce((sum, { message }) => sum + estimateTokens(message), 0));
	});
});

function traced(content: string, entryIndex: number | null): TracedMessage {
	return { message: Object.freeze(note(content)), entryIndex, origin: { kind: "entry" } };
}

describe("the comparison of two requests", () => {
	test("marks messages as kept, added, removed, or replaced if they belong to the same entry", () => {
		const previous = [traced("a", 1), traced("b", 2), traced("long", 3), traced("d", 4)];
		const current = [traced("S", null), traced("b", 2), traced("short", 3), traced("d", 4), traced("e", 5)];
		expect(diffRequests(previous, current)).toEqual([
			{ kind: "removed", previous: 0, current: null },
			{ kind: "added", previous: null, current: 0 },
			{ kind: "kept", previous: 1, current: 1 },
			{ kind: "replaced", previous: 2, current: 2 },
			{ kind: "kept", previous: 3, current: 3 },
			{ kind: "added", previous: null, current: 4 },
		]);
	});

	test("lists every message of both once, in order, and kept messages are equal in both", () => {
		const request = fc
			.array(fc.record({ content: fc.constantFrom("a", "b", "c", "d"), entryIndex: fc.option(fc.nat(6)) }))
			.map((items) => items.map(({ content, entryIndex }) => traced(content, entryIndex)));
		fc.assert(
			fc.property(request, request, (previous, current) => {
				const changes = diffRequests(previous, current);
				const named = (side: "previous" | "current") =>
					changes.map((change) => change[side]).filter((position) => position !== null);
				expect(named("previous")).toEqual([...previous.keys()]);
				expect(named("current")).toEqual([...current.keys()]);
				for (const { kind, previous: before, current: now } of changes) {
					const [old, fresh] = [previous[before ?? -1], current[now ?? -1]];
					if (kind === "kept") expect(fresh?.message).toEqual(old?.message);
					if (kind === "replaced") expect(fresh?.entryIndex).toBe(old?.entryIndex);
				}
				const prefix = countPrefix(
					previous.map(({ message }) => message),
					current,
				);
				expect(changes.slice(0, prefix).every(({ kind }) => kind === "kept")).toBe(true);
			}),
		);
	});
});

describe("stability", () => {
	async function unstableOf(change: (messages: readonly ContextMessage[]) => unknown, entries = [TALK, TALK]) {
		const found: string[] = [];
		const watch = new StabilityWatch((hook) => found.push(hook));
		for (const list of entries) await buildContext(list, watch.watch([stage(change)], list.length));
		return found;
	}

	test("finds a hook that answers differently for the same entries, once", async () => {
		let count = 0;
		const counting = (messages: readonly ContextMessage[]) => ({ messages: [note(`${count++}`), ...messages] });
		expect(await unstableOf(counting, [TALK, TALK, TALK])).toEqual([HOOK]);
	});

	test("ignores a hook that creates equal messages again, and one with different input", async () => {
		expect(await unstableOf((messages) => ({ messages: [note("same"), ...messages] }))).toEqual([]);
		let count = 0;
		const counting = (messages: readonly ContextMessage[]) => ({ messages: [note(`${count++}`), ...messages] });
		expect(await unstableOf(counting, [TALK, [...TALK, user("more")]])).toEqual([]);
	});
});

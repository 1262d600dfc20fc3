import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { buildContext, type ContextStage } from "../../src/context/build-context.js";
import { findCacheLoss } from "../../src/context/cache-loss.js";
import type { ContextMessage, TracedMessage } from "../../src/context/context-message.js";
import { diffRequests } from "../../src/context/diff-requests.js";
import {
	cacheState,
	countPrefix,
	createContextReport,
	createLedger,
	fullText,
	hookShares,
} from "../../src/context/ledger.js";
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
		const previous = { messages, preamble: context.preamble, length: 4 };
		const ledger = createLedger({ context, entries: TALK, previous });
		const cutTokens = estimateTokens(note("[cut]"));
		expect(ledger).toEqual({
			tokens: ledger.messages.reduce((sum, { tokens }) => sum + tokens, 0),
			prefix: { tools: 0, systemPrompt: 0, messages: 3, tokens: ledger.tokens - estimateTokens(messageOf(TALK[4])) },
			resent: 0,
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

describe("what a request sends again", () => {
	const start = session(user("u1"), assistant("a1"), user("u2"));
	const grown = [...start, assistant("a2"), user("u3")];
	const summary = note("[Summary]");
	const summarize = stage((messages) => ({ messages: [summary, ...messages.slice(2)] }), "/hooks/sum.ts");
	const drop = stage((messages) => ({ messages: messages.slice(1) }), "/hooks/drop.ts");
	const dropLast = stage((messages) => ({ messages: messages.slice(0, -1) }), "/hooks/drop.ts");
	const size = (...texts: string[]) =>
		grown.reduce((sum, entry) => {
			const message = entry.type === "message" ? messageOf(entry) : null;
			return message && texts.includes(fullText(message)) ? sum + estimateTokens(message) : sum;
		}, 0);
	const by = (name: string) => ({ kind: "hook", hook: `/hooks/${name}.ts` });

	test.each([
		["nothing when messages were added at the end", [], grown, [], null, []],
		["the messages after one that a hook hides", [], grown, [drop], by("drop"), ["a1", "u2", "a2"]],
		["those after a new summary, but not the summary", [], grown, [summarize], by("sum"), ["u2", "a2"]],
		[
			"those after a summary that is gone, but not the messages that it replaced",
			[summarize],
			grown,
			[],
			by("sum"),
			["u2", "a2"],
		],
		["those after a message that comes back, but not the message", [drop], grown, [], by("drop"), ["a1", "u2", "a2"]],
		[
			"what a compaction keeps, but not its summary",
			[],
			[...grown, compaction(3, "S")],
			[],
			{ kind: "compaction" },
			["u2", "a2"],
		],
		["nothing of another conversation", [], session(user("other")), [], null, []],
		["nothing after a dropped end", [], start, [dropLast], null, []],
		["nothing for a summary of everything", [], start, [stage(() => ({ messages: [summary] }))], null, []],
	] as const)("%s", async (_, before, entries, after, culprit, texts) => {
		const [previous, current] = [await buildContext(start, before), await buildContext(entries, after)];
		const loss = findCacheLoss(previous, current);
		const resent = size(...texts);
		expect(loss).toEqual(culprit && { by: culprit, changed: { kind: "message" }, resent, position: 0 });
		const ledger = createLedger({ context: current, entries, previous });
		expect(ledger.resent).toBe(resent);
		expect(ledger.messages.flatMap((message) => (message.resent ? [message.text] : []))).toEqual(texts);
		expect(ledger.messages.map(cacheState)).toEqual(
			ledger.messages.map(({ cached, text }) =>
				cached ? "cached" : texts.some((one) => one === text) ? "resent" : "new",
			),
		);
	});

	test("is only what follows the change", async () => {
		const other = stage((messages) => ({
			messages: messages.map((item) => (item.entryIndex === 2 ? { ...item, message: note("other") } : item)),
		}));
		const [previous, current] = [await buildContext(start, []), await buildContext(start, [other])];
		const found = { by: { kind: "hook", hook: HOOK }, changed: { kind: "message" }, resent: size("u2"), position: 1 };
		expect(findCacheLoss(previous, current)).toEqual(found);
	});

	test("counts a message once for each time that the previous request had it", async () => {
		const same = session(user("u"), assistant("a"), user("again"));
		const twice = [...same, assistant("b"), user("again")];
		const [previous, current] = [await buildContext(same, []), await buildContext(twice, [drop])];
		const ledger = createLedger({ context: current, entries: twice, previous });
		expect(ledger.messages.map(cacheState)).toEqual(["resent", "resent", "resent", "new"]);
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

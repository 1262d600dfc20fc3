import { describe, expect, test } from "vitest";
import { buildContext, type ContextStage } from "../../src/context/build-context.js";
import {
	type AddedEntry,
	type CacheLossCause,
	describeCause,
	describeChanged,
	findCacheLoss,
} from "../../src/context/cache-loss.js";
import type { BuiltContext, ContextMessage } from "../../src/context/context-message.js";
import type { CorePreamble } from "../../src/context/preamble.js";
import { estimateTokens } from "../../src/context/tokens.js";
import type { MessageEntry, SessionEntry } from "../../src/log/entry.js";
import { assistant, compaction, session, user } from "../helpers/entries.js";
import { core, stage as preambleStage, tool } from "./preamble-support.js";

const TALK = session(user("u1"), assistant("a1"), user("u2"), assistant("a2"));
const note = (content: string) => ({ role: "user", content, timestamp: 0 });

function stage(name: string, change: (messages: readonly ContextMessage[]) => unknown[]): ContextStage {
	return { hook: `/hooks/${name}.ts`, transform: async (messages) => ({ messages: change(messages) }) };
}

function build(
	entries: readonly SessionEntry[],
	stages: ContextStage[] = [],
	preamble?: CorePreamble,
): Promise<BuiltContext> {
	return buildContext(entries, stages, preamble ? { preamble } : {});
}

const hides = stage("hides", (messages) => messages.filter(({ entryIndex }) => entryIndex !== 1));
const adds = stage("adds", (messages) => [...messages, note("more")]);
const starts = stage("starts", (messages) => [note("first"), ...messages]);
const by = (name: string) => ({ kind: "hook", hook: `/hooks/${name}.ts` });

test.each<[string, ContextStage[], ContextStage[], object, number[]]>([
	["a message that a hook hides", [], [hides], by("hides"), [2, 3, 4]],
	["a message that comes back", [hides], [], by("hides"), [2, 3, 4]],
	["a message that a hook adds at the start", [], [starts], by("starts"), [1, 2, 3, 4]],
	["a message that it no longer adds", [starts], [], by("starts"), [1, 2, 3, 4]],
])("%s is attributed to the hook", async (_, before, after, culprit, again) => {
	const [previous, current] = [await build(TALK, before), await build(TALK, after)];
	expect(findCacheLoss(previous, current)).toEqual({
		...{ by: culprit, changed: { kind: "message" }, resent: size(again), position: 0 },
	});
});

/** Estimated tokens of the messages of some entries. */
function size(entries: readonly number[]): number {
	return entries.reduce((sum, index) => sum + estimateTokens((TALK[index] as MessageEntry).message), 0);
}

test("messages added at the end are not sent again, and neither is anything after a dropped end", async () => {
	const [short, long] = [await build(TALK.slice(0, 3)), await build(TALK)];
	expect(findCacheLoss(short, long)).toBeNull();
	expect(findCacheLoss(long, short)).toBeNull();
	expect(findCacheLoss(await build(TALK, [adds]), await build(TALK))).toBeNull();
	expect(findCacheLoss(await build(TALK), await build(TALK, [adds]))).toBeNull();
	// The reply to the previous request follows the dropped note; the new prompt would have been sent anyway.
	const [noted, grown] = [await build(TALK.slice(0, 2), [adds]), await build([...TALK, user("u3")])];
	expect(findCacheLoss(noted, grown)).toEqual({
		...{ by: by("adds"), changed: { kind: "message" }, resent: size([2]), position: 1 },
	});
});

describe("the cause of a changed answer", () => {
	const start = TALK.slice(0, 4);
	const hook = (name: string, type = name) => ({ type, hook: `/hooks/${name}.ts` });
	const [message, pop, own] = [{ type: "message", hook: null }, hook("pop"), hook("hides")];
	const compacted = { type: "compaction", hook: null };
	const undo = { type: "context_undo", hook: null };
	const freeze = { type: "context_freeze", hook: null };

	test.each<[string, readonly AddedEntry[], CacheLossCause | undefined]>([
		["an entry of another hook", [message, pop, message], { kind: "hook", hook: pop.hook }],
		["several entries of another hook", [pop, own, hook("pop", "unpop")], { kind: "hook", hook: pop.hook }],
		["a compaction", [compacted, own], { kind: "compaction" }],
		["an undo", [undo], { kind: "undo" }],
		["a freeze", [freeze, freeze], { kind: "freeze" }],
		["unknown if the hook wrote the entry", [message, own], undefined],
		["unknown without an entry", [message], undefined],
		["unknown for entries of hooks that are not loaded", [{ type: "other", hook: null }], undefined],
		["unknown for entries of several hooks", [pop, hook("fold")], undefined],
		["unknown for a compaction and an entry of a hook that changed the messages", [compacted, hook("adds")], undefined],
		[
			"the hook that changes messages, of several",
			[pop, hook("adds"), hook("fold")],
			{ kind: "hook", hook: "/hooks/adds.ts" },
		],
		["a compaction rather than the entry of a hook that changes no message", [pop, compacted], { kind: "compaction" }],
	])("is %s", async (_, added, cause) => {
		const [previous, current] = [await build(start), await build(TALK, [hides, adds])];
		const loss = findCacheLoss(previous, current, added);
		expect(loss).toMatchObject({ by: by("hides"), position: 0 });
		expect(loss?.cause).toEqual(cause);
	});

	test("is named only for a hook", async () => {
		const compaction3 = compaction(3, "S");
		const [previous, current] = [await build(start), await build([...TALK, compaction3])];
		expect(findCacheLoss(previous, current, [compacted, pop])).toEqual({
			...{ by: { kind: "compaction" }, changed: { kind: "message" }, resent: size([3, 4]), position: 0 },
		});
	});

	test.each<[CacheLossCause | undefined, string]>([
		[undefined, ""],
		[{ kind: "hook", hook: "/hooks/pop.ts" }, " after an entry of <pop>"],
		[{ kind: "compaction" }, " after a compaction"],
		[{ kind: "freeze" }, " after a freeze"],
		[{ kind: "undo" }, " after an undo"],
	])("%j is described as %j", (cause, text) => {
		expect(describeCause(cause ? { cause } : {}, (path) => `<${path.slice(7, -3)}>`)).toBe(text);
	});
});

test("a compaction and its undo are named", async () => {
	const compacted = [...TALK, compaction(3, "S"), user("u3")];
	const [all, summary] = [await build([...TALK, user("u3")]), await build(compacted)];
	expect(findCacheLoss(all, summary)).toMatchObject({ by: { kind: "compaction" }, position: 0 });
	expect(findCacheLoss(summary, all)).toMatchObject({ by: { kind: "compaction" }, position: 0 });
	const later = await build([...compacted, compaction(5, "T"), user("u4")]);
	expect(findCacheLoss(summary, later)).toMatchObject({ by: { kind: "compaction" }, position: 0 });
});

test("other messages at the same place have no known cause", async () => {
	const [one, two] = [await build(session(user("a"), assistant("x"))), await build(session(user("b"), assistant("x")))];
	expect(findCacheLoss(one, two)).toMatchObject({ by: { kind: "other" }, changed: { kind: "message" }, position: 0 });
});

test("tools are attributed to the hook that registered, dropped or ordered them", async () => {
	const withHook = (hook: string) => {
		const plain = core();
		return { ...plain, tools: [...plain.tools, { ...tool("fly"), hook }] };
	};
	const [plain, extra] = [await build(TALK, [], core()), await build(TALK, [], withHook("/hooks/fly.ts"))];
	expect(findCacheLoss(plain, extra)).toMatchObject({ by: by("fly"), changed: { kind: "tools" }, position: 3 });
	expect(findCacheLoss(extra, plain)).toMatchObject({ by: by("fly"), changed: { kind: "tools" }, position: 3 });
	const fewer = await build(TALK, [], core(["read", "bash"]));
	expect(findCacheLoss(plain, fewer)).toMatchObject({ by: { kind: "other" }, position: 2 });
	expect(findCacheLoss(fewer, plain)).toMatchObject({ by: { kind: "other" }, position: 2 });
	const order = (names: string[]) => build(TALK, [preambleStage("order", () => ({ tools: names }))], core());
	expect(findCacheLoss(plain, await order(["bash", "read", "edit"]))).toMatchObject({ by: by("order"), position: 0 });
	expect(findCacheLoss(await order(["bash", "read", "edit"]), plain)).toMatchObject({ by: by("order"), position: 0 });
	const replaced = await build(TALK, [], core(["read", "bash", "write"]));
	expect(findCacheLoss(await order(["read", "bash", "edit"]), replaced)).toMatchObject({
		by: { kind: "other" },
		position: 2,
	});
	// The hook that drops a tool counts, not another that drops a different one.
	const drops = (name: string, dropped: string) =>
		preambleStage(name, (_, tools) => ({ tools: tools.map((one) => one.name).filter((one) => one !== dropped) }));
	const both = await build(TALK, [drops("a", "edit"), drops("b", "bash")], core());
	expect(findCacheLoss(plain, both)).toMatchObject({ by: by("b"), position: 1 });
	expect(findCacheLoss(both, plain)).toMatchObject({ by: by("b"), position: 1 });
});

test("sections are attributed to the hook that wrote or removed them", async () => {
	const plain = await build(TALK, [], core());
	const without = (name: string, removed: string) =>
		preambleStage(name, (sections) => ({ systemPrompt: sections.filter(({ id }) => id !== removed) }));
	const both = await build(TALK, [without("a", "skills"), without("b", "base")], core());
	const loss = { changed: { kind: "section", id: "base" }, position: 0, by: by("b") };
	expect(findCacheLoss(plain, both)).toMatchObject(loss);
	expect(findCacheLoss(both, plain)).toMatchObject(loss);
	const shorter = core();
	const fewer = await build(TALK, [], { ...shorter, sections: shorter.sections.slice(0, -1) });
	const last = { changed: { kind: "section", id: shorter.sections.at(-1)?.id }, by: { kind: "other" } };
	expect(findCacheLoss(plain, fewer)).toMatchObject(last);
	expect(findCacheLoss(fewer, plain)).toMatchObject(last);
});

test("what changed is described for a sentence", () => {
	expect([
		describeChanged({ kind: "tools" }),
		describeChanged({ kind: "section", id: "base" }),
		describeChanged({ kind: "message" }),
	]).toEqual(["the tools", "section base of the system prompt", "the start of the request"]);
});

import { expect, test } from "vitest";
import { buildContext, type ContextStage } from "../../src/context/build-context.js";
import { describeChanged, findCacheLoss } from "../../src/context/cache-loss.js";
import type { BuiltContext, ContextMessage } from "../../src/context/context-message.js";
import type { CorePreamble } from "../../src/context/preamble.js";
import { estimateTokens } from "../../src/context/tokens.js";
import type { SessionEntry } from "../../src/log/entry.js";
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

test.each<[string, ContextStage[], ContextStage[], object, number]>([
	["a message that a hook hides", [], [hides], by("hides"), 0],
	["a message that comes back", [hides], [], by("hides"), 0],
	["a message that a hook adds at the start", [], [starts], by("starts"), 0],
	["a message that it no longer adds", [starts], [], by("starts"), 0],
])("%s is attributed to the hook", async (_, before, after, culprit, position) => {
	const [previous, current] = [await build(TALK, before), await build(TALK, after)];
	const lost = previous.messages.slice(position).reduce((sum, { message }) => sum + estimateTokens(message), 0);
	expect(findCacheLoss(previous, current)).toEqual({
		...{ by: culprit, changed: { kind: "message" }, tokens: lost, position },
	});
});

test("messages added at the end lose nothing, and fewer messages lose the rest", async () => {
	const [short, long] = [await build(TALK.slice(0, 3)), await build(TALK)];
	expect(findCacheLoss(short, long)).toBeNull();
	expect(findCacheLoss(long, short)).toMatchObject({ by: { kind: "other" }, position: 2 });
	expect(findCacheLoss(await build(TALK, [adds]), await build(TALK))).toMatchObject({ by: by("adds"), position: 4 });
	expect(findCacheLoss(await build(TALK), await build(TALK, [adds]))).toBeNull();
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

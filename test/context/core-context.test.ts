import { describe, expect, test } from "vitest";
import { coreContext } from "../../src/context/core-context.js";
import { messageText, type SessionEntry } from "../../src/log/entry.js";
import { assistant, compaction, custom, result, session, user } from "../helpers/entries.js";

const base = session(user("one"), assistant("two", [{ id: "a" }]), result("a", "x".repeat(500)), user("three"));
const undo = (entryIndex: number) => custom("context_undo", { entryIndex });
const texts = (core: { messages: ReturnType<typeof coreContext>["messages"] }) =>
	core.messages.map(({ message }) => messageText(message));
/** What a result says about the context; the rest are caches. */
const facts = ({ messages, synthetic, replacement, omitted, problems, length }: ReturnType<typeof coreContext>) => ({
	...{ messages, synthetic, replacement, omitted, problems, length },
});

describe("the context before hooks", () => {
	test("is frozen, with its items", () => {
		const { messages, synthetic, problems } = coreContext([...base, compaction(2, "S")]);
		expect([messages, ...messages].every(Object.isFrozen)).toBe(true);
		expect(messages.every(({ origin }) => Object.isFrozen(origin))).toBe(true);
		expect(synthetic).toEqual([messages[0]]);
		expect(problems).toEqual([]);
	});

	test("has the prompts that a compaction keeps, between its summary and the kept entries", () => {
		const kept = { ...compaction(4, "S"), keptEntries: [1, 2, 99] };
		const core = coreContext([...base, kept]);
		expect(core.messages.map(({ entryIndex }) => entryIndex)).toEqual([null, 1, 4]);
		expect(core.synthetic).toEqual([core.messages[0]]);
	});

	test("has the shortened outputs of a compaction, as the same objects each time", () => {
		const short = { ...compaction(1, "S"), shortened: [{ entryIndex: 3, characters: 100 }] };
		const [first, next] = [coreContext([...base, short]), coreContext([...base, short, user("four")])];
		expect(texts(first)[3]).toContain("left out to save room");
		expect(first.messages[3]).toMatchObject({ entryIndex: 3, origin: { kind: "shortened", entryIndex: 5 } });
		expect(next.messages[3]).toBe(first.messages[3]);
		expect(texts(first).filter((text) => text.includes("left out to save room"))).toHaveLength(1);
	});

	test("has the messages of a frozen request, frozen, then the reply and later entries", () => {
		const note = { role: "user" as const, content: "by a hook", timestamp: 0 };
		const record = { digest: "", messages: 2, tokens: 0, shape: [{ message: note, entryIndex: null }, [1, 2]] };
		const reply = { ...assistant("fine"), context: record } as SessionEntry;
		const entries = session(user("one"), reply, custom("context_freeze", { entryIndex: 2 }), user("two"));
		const core = coreContext(entries);
		expect(texts(core)).toEqual(["by a hook", "one", "fine", "two"]);
		expect(core.messages.every(Object.isFrozen)).toBe(true);
		expect(core.synthetic.map(({ message }) => message)).toEqual([note]);
		expect(core.replacement).toMatchObject({ kind: "freeze", entryIndex: 3, firstKeptEntryIndex: 2 });
	});
});

describe("the context computed from an earlier one", () => {
	test("reads only added entries", () => {
		const previous = coreContext(base);
		const read: number[] = [];
		const entries = [...base, custom("mark"), user("four")];
		const at = (index: number) => {
			read.push(index);
			return entries[index];
		};
		const next = coreContext({ length: entries.length, at }, previous);
		expect(read).toEqual([5, 6]);
		expect(facts(next)).toEqual(facts(coreContext(entries)));
		next.messages.slice(0, 4).forEach((item, at) => {
			expect(item).toBe(previous.messages[at]);
		});
		expect([next.messages, ...next.messages].every(Object.isFrozen)).toBe(true);
	});

	test("has the same list if no message was added", () => {
		const previous = coreContext(base);
		const next = coreContext([...base, custom("mark")], previous);
		expect(next.messages).toBe(previous.messages);
		expect(next.length).toBe(6);
		expect(texts(coreContext([...base, custom("mark"), user("four")], next)).at(-1)).toBe("four");
	});

	test("does not change the earlier one, even if two results extend it", () => {
		const previous = coreContext(base);
		const left = coreContext([...base, user("left")], previous);
		const right = coreContext([...base, user("right")], previous);
		const more = coreContext([...base, user("left"), user("more")], left);
		expect([previous, left, right, more].map((core) => texts(core).slice(4))).toEqual([
			...[[], ["left"], ["right"], ["left", "more"]],
		]);
	});

	test.each<[string, SessionEntry[], string[]]>([
		["a compaction", [compaction(4, "S")], ["S", "three"]],
		["an undo", [compaction(4, "S"), undo(5)], ["one", "two", "x", "three"]],
		["a compaction before messages", [compaction(4, "S"), user("four")], ["S", "three", "four"]],
	])("is computed again after %s", (_, added, expected) => {
		const previous = coreContext(base);
		const entries = [...base, ...added];
		const next = coreContext(entries, previous);
		expect(facts(next)).toEqual(facts(coreContext(entries)));
		expect(texts(next).map((text) => (text.includes("<summary>") ? "S" : text.replace(/x+/, "x")))).toEqual(expected);
	});

	test("is computed again if the log is shorter, and not if it is equally long", () => {
		const previous = coreContext(base);
		expect(texts(coreContext(base.slice(0, 2), previous))).toEqual(["one"]);
		const watched = { length: base.length, at: () => expect.unreachable() };
		expect(coreContext(watched, previous).messages).toBe(previous.messages);
	});
});

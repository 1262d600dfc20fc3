import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { buildContext, plainMessages } from "../../src/context/build-context.js";
import { activeCompaction, activeReplacement, firstKeptEntry } from "../../src/context/replacement.js";
import type { SessionEntry } from "../../src/log/entry.js";
import { messageText } from "../../src/log/entry.js";
import { assistant, compaction, session, user } from "../helpers/entries.js";

const undo = (entryIndex: number): SessionEntry => ({
	type: "context_undo",
	timestamp: "2026-01-01T00:00:00.000Z",
	entryIndex,
});

/** The texts of the context; summaries without the text that the core adds around them. */
async function texts(entries: readonly SessionEntry[]): Promise<string[]> {
	return plainMessages(await buildContext(entries, [])).map(
		(message) => /<summary>\n(.*)\n/.exec(messageText(message))?.[1] ?? messageText(message),
	);
}

describe("undo", () => {
	const early = [user("one"), assistant("two")]; // 1, 2
	const compactedTwice = session(...early, compaction(2, "C1"), user("three"), compaction(4, "C2"), user("four"));

	test("an undone compaction is inactive: the previous one is active again, then none", async () => {
		expect(await texts(compactedTwice)).toEqual(["C2", "three", "four"]);
		const once = [...compactedTwice, undo(5)];
		expect(await texts(once)).toEqual(["C1", "two", "three", "four"]);
		const twice = [...once, undo(3)];
		expect(await texts(twice)).toEqual(["one", "two", "three", "four"]);
		expect([activeCompaction(twice), firstKeptEntry(twice)]).toEqual([null, 0]);
	});

	test("a compaction after an undo is active, and earlier ones remain undone when it is undone too", async () => {
		const again = [...compactedTwice, undo(5), compaction(6, "C3"), user("five")];
		expect(await texts(again)).toEqual(["C3", "four", "five"]);
		expect(await texts([...again, undo(8)])).toEqual(["C1", "two", "three", "four", "five"]);
	});

	test("a context before the undo is unchanged, because it is computed from the entries up to that point", async () => {
		const once = [...compactedTwice, undo(5), user("five")];
		expect(await texts(once.slice(0, 7))).toEqual(["C2", "three", "four"]);
		expect((await buildContext(once, [])).hidden).toEqual([
			{ entryIndex: 1, by: { kind: "compaction", entryIndex: 3 } },
		]);
	});

	test("an undo of a later entry or one that is not a compaction changes nothing", async () => {
		const odd = session(...early, undo(4), compaction(2, "C"), undo(1), undo(99));
		expect(await texts(odd)).toEqual(["C", "two"]);
	});

	test("only compactions and undos are read from a log", () => {
		const entries = [...compactedTwice, undo(5)];
		const read: number[] = [];
		const active = activeReplacement({
			length: entries.length,
			at: (index) => {
				read.push(index);
				return entries[index];
			},
			lastOfTypes: (types, before) =>
				entries.findLastIndex(({ type }, index) => index < before && types.includes(type)),
		});
		expect([active?.entryIndex, read]).toEqual([3, [7, 5, 3]]);
	});

	test("in any log the active compaction is the latest that no later entry undoes", () => {
		const steps = fc.array(fc.oneof(fc.constant("say"), fc.constant("compact"), fc.nat({ max: 12 })), {
			maxLength: 12,
		});
		fc.assert(
			fc.property(steps, (list) => {
				const entries = session(
					...list.map((step) => {
						if (typeof step === "number") return undo(step);
						return step === "say" ? user("x") : compaction(1, "C");
					}),
				);
				const expected = entries.findLastIndex(
					({ type }, at) =>
						type === "compaction" &&
						!entries.some((other, later) => later > at && "entryIndex" in other && other.entryIndex === at),
				);
				expect(activeReplacement(entries)?.entryIndex ?? -1).toBe(expected);
			}),
		);
	});
});

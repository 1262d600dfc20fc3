import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { buildContext } from "../../src/context/build-context.js";
import { keepLatestPrompt, planCompaction } from "../../src/context/compact.js";
import type { TracedMessage } from "../../src/context/context-message.js";
import { assistant, compaction, result, session, user } from "../helpers/entries.js";

const CALL = [{ id: "a" }];

async function plan(
	entries: ReturnType<typeof session>,
	keep: number,
	change?: (m: readonly TracedMessage[]) => unknown,
) {
	const stages = change ? [{ hook: "h", transform: async (m: unknown) => change(m as TracedMessage[]) }] : [];
	const { messages } = await buildContext(entries, stages);
	return planCompaction(messages, entries, keep);
}

describe("planCompaction", () => {
	test("keeps about the requested tokens and starts with a message that belongs to an entry", async () => {
		const entries = session(...Array.from({ length: 10 }, (_, i) => user(`message ${i} ${"x".repeat(390)}`)));
		const found = await plan(entries, 250);
		expect(found?.firstKeptEntryIndex).toBe(8);
		expect(found?.messagesToSummarize.length).toBe(7);
		expect(found?.messagesToKeep.length).toBe(3);
	});

	test("never starts with a tool result", async () => {
		const entries = session(user("one"), assistant("", CALL), result("a", "x".repeat(4000)), assistant("done"));
		expect(await plan(entries, 500)).toMatchObject({ firstKeptEntryIndex: 4, isSplitTurn: true });
		fc.assert(
			await fc.asyncProperty(fc.integer({ min: 0, max: 3000 }), async (keep) => {
				expect((await plan(entries, keep))?.firstKeptEntryIndex).not.toBe(3);
			}),
		);
	});

	test("returns null when no message is before the cut", async () => {
		expect(await plan(session(user("one")), 10)).toBeNull();
		expect(await plan(session(), 10)).toBeNull();
	});

	test("passes on the earlier summary, and never cuts among entries that an earlier compaction covers", async () => {
		const entries = session(
			user("one"),
			assistant("1"),
			user("two"),
			assistant("2"),
			compaction(3, "C"),
			user("three"),
		);
		const putBack = { message: user("one").message, entryIndex: 1 };
		const found = await plan(entries, 1000, ([summary, ...rest]) => ({ messages: [summary, putBack, ...rest] }));
		expect(found?.previousSummary).toBe("C");
		expect(found?.firstKeptEntryIndex).toBeGreaterThanOrEqual(3);
	});
});

describe("keepLatestPrompt", () => {
	const entries = session(user("first"), assistant("1"), user(" fix\nthe tax "), assistant("", CALL), result("a", "x"));

	test.each([
		[
			"repeats the latest user message when the compaction covers it",
			4,
			"S",
			"S\n\n## The user's latest message, verbatim\nfix\nthe tax",
		],
		["leaves a summary that contains it unchanged", 4, "The user said: fix\nthe tax", "The user said: fix\nthe tax"],
		["leaves the summary unchanged when the message is kept", 3, "S", "S"],
	])("%s", (_, firstKept, summary, expected) => {
		expect(keepLatestPrompt(summary, entries, firstKept)).toBe(expected);
	});

	test("does not change a summary twice, and ignores a session without user messages", () => {
		const once = keepLatestPrompt("S", entries, 5);
		expect(keepLatestPrompt(once, entries, 5)).toBe(once);
		expect(keepLatestPrompt("S", session(assistant("1")), 2)).toBe("S");
	});
});

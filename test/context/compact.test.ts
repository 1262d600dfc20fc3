import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { buildContext } from "../../src/context/build-context.js";
import { planCompactions } from "../../src/context/compact.js";
import type { TracedMessage } from "../../src/context/context-message.js";
import { assistant, compaction, result, session, user } from "../helpers/entries.js";

const CALL = [{ id: "a" }];

async function plans(
	entries: ReturnType<typeof session>,
	keep: number,
	change?: (m: readonly TracedMessage[]) => unknown,
) {
	const stages = change ? [{ hook: "h", transform: async (m: unknown) => change(m as TracedMessage[]) }] : [];
	const { messages } = await buildContext(entries, stages);
	return [...planCompactions(messages, entries, keep)];
}

const plan = async (...args: Parameters<typeof plans>) => (await plans(...args))[0] ?? null;

describe("planCompactions", () => {
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

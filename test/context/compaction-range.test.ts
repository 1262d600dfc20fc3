import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { buildContext } from "../../src/context/build-context.js";
import { checkMessages, KNOWN_GOOD } from "../../src/context/check.js";
import { planCompactions, promptsToKeep } from "../../src/context/compaction-range.js";
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

describe("the plans of a compaction", () => {
	const long = "x".repeat(4000);
	const call = (id: string) => [{ id }];
	const talk = session(
		user("one"), // 1
		assistant("", call("a")),
		result("a", long),
		user("two"), // 4
		assistant("", call("b")),
		result("b", long),
		assistant("", call("c")),
		result("c", long),
		assistant("done"), // 9
	);

	test("keep less and less, and at last only the latest prompt", async () => {
		const found = await plans(talk, 2022);
		expect(
			found.map(({ firstKeptEntryIndex, keptEntries, shortened }) => [
				firstKeptEntryIndex,
				keptEntries,
				shortened.length,
			]),
		).toEqual([
			[5, [4], 0],
			[7, [4], 0],
			[2, [], 3],
			[2, [], 3],
			[9, [4], 0],
			[10, [4], 0],
		]);
		expect(found.map(({ isSplitTurn, isLastResort }) => [isSplitTurn, isLastResort])).toEqual([
			...Array(5).fill([true, false]),
			[true, true],
		]);
		expect(new Set(found.map(({ tokensBefore }) => tokensBefore)).size).toBe(1);
		expect(
			found.map(({ messagesToSummarize, messagesToKeep }) => messagesToSummarize.length + messagesToKeep.length),
		).toEqual(Array(6).fill(9));
		expect(found[0]).not.toHaveProperty("previousSummary");
	});

	test("do not split a turn if they begin with a prompt, which they need not keep then", async () => {
		const [first] = await plans(session(user("one"), assistant("1"), user("two"), assistant("2")), 9);
		expect(first).toMatchObject({ firstKeptEntryIndex: 3, keptEntries: [], isSplitTurn: false, isLastResort: false });
	});

	test("shorten long outputs to a quarter of what they keep, and no others", async () => {
		const found = await plans(talk, 2022);
		const outputs = [3, 6, 8];
		expect(found[2]?.shortened).toEqual(outputs.map((entryIndex) => ({ entryIndex, characters: 252 * 4 })));
		expect(found[3]?.shortened).toEqual(outputs.map((entryIndex) => ({ entryIndex, characters: 126 * 4 })));
		const short = session(user("one"), assistant("", call("a")), result("a", "x".repeat(300)), assistant("done"));
		expect((await plans(short, 50)).flatMap(({ shortened }) => shortened)).toEqual([]);
	});

	test("do not exist where a cut would drop nothing but prompts that stay", async () => {
		const found = await plans(session(user("one"), user("two")), 1);
		expect(found.map(({ firstKeptEntryIndex }) => firstKeptEntryIndex)).toEqual([2]);
	});

	test("leave a legal request, wherever in a run they are made: after the results of a turn, and after its prompt", async () => {
		const turn = fc.record({
			prompt: fc.boolean(),
			calls: fc.integer({ min: 0, max: 3 }),
			length: fc.integer({ min: 0, max: 4000 }),
			nested: fc.boolean(),
		});
		await fc.assert(
			fc.asyncProperty(
				fc.array(turn, { minLength: 1, maxLength: 8 }),
				fc.boolean(),
				fc.integer({ min: 1, max: 3000 }),
				async (turns, endsWithPrompt, keep) => {
					const made = turns.flatMap(({ prompt, calls, length, nested }, at) => {
						const ids = Array.from({ length: calls }, (_, index) => ({ id: `${at}-${index}` }));
						const between = nested ? [{ type: "hook_tool_call", toolName: "read" }] : [];
						return [
							...(prompt || at === 0 ? [user(`prompt ${at}`)] : []),
							assistant(`reply ${at}`, ids),
							...ids.flatMap(({ id }) => [...between, result(id, "x".repeat(length))]),
						];
					});
					const entries = session(...made, ...(endsWithPrompt ? [user("last")] : []));
					for (const { firstKeptEntryIndex, keptEntries, shortened } of await plans(entries, keep)) {
						const cut = { ...compaction(firstKeptEntryIndex, "S"), keptEntries, shortened };
						const after = await buildContext([...entries, cut], []);
						// What is sent next may also be a prompt: a reply may be last.
						expect(
							checkMessages(after.messages, KNOWN_GOOD).filter(({ rule }) => rule !== "prompt_comes_last"),
						).toEqual([]);
						const isAnswered = made.at(-1)?.type === "message" && turns.at(-1)?.calls === 0 && !endsWithPrompt;
						if (!isAnswered) expect(checkMessages(after.messages, KNOWN_GOOD)).toEqual([]);
					}
				},
			),
		);
	});

	test("never begin with a message of a hook", async () => {
		const note = { role: "user", content: long, timestamp: 0 };
		const found = await plans(talk, 1500, (messages) => ({
			messages: [...messages.slice(0, 6), note, ...messages.slice(6)],
		}));
		expect(found.length).toBeGreaterThan(1);
		expect(found.map(({ firstKeptEntryIndex }) => firstKeptEntryIndex)).not.toContain(null);
	});
});

describe("the prompts that a compaction keeps", () => {
	const entries = session(user("one"), assistant("1"), user("two"), user("three"), assistant("2"), assistant("3"));
	const prompts = async (firstKept: number) =>
		promptsToKeep((await buildContext(entries, [])).messages, entries, firstKept);

	test("are the latest one and those right before it", async () => {
		expect(await prompts(6)).toEqual([3, 4]);
		expect(await prompts(5)).toEqual([3, 4]);
	});

	test("are none if a later prompt is kept anyway", async () => {
		expect([await prompts(4), await prompts(3), await prompts(1)]).toEqual([[], [], []]);
	});

	test("do not include messages of hooks among them", async () => {
		const { messages } = await buildContext(entries, []);
		const note = { message: user("note").message, entryIndex: null, origin: { kind: "hook", hook: "h" } as const };
		expect(promptsToKeep([...messages.slice(0, 3), note, ...messages.slice(3)], entries, 6)).toEqual([3, 4]);
	});
});

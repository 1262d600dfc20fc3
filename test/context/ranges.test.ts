import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { buildContext } from "../../src/context/build-context.js";
import type { ContextMessage } from "../../src/context/context-message.js";
import { applyRanges, type SummaryRange } from "../../src/context/ranges.js";
import { messageText, type SessionEntry } from "../../src/log/entry.js";
import { custom, session, user } from "../helpers/entries.js";

/** Brute-force implementation, O(entries × ranges). */
function oracle(entries: readonly SessionEntry[], ranges: readonly SummaryRange[]): (string | number)[] {
	const out: (string | number)[] = [];
	const emitted = new Set<SummaryRange>();
	entries.forEach((entry, index) => {
		let winner: SummaryRange | undefined;
		for (const range of ranges) {
			const covers = range.from <= index && index < range.to && !range.except?.includes(index);
			if (covers && (!winner || range.id >= winner.id)) winner = range;
		}
		if (winner) {
			if (!emitted.has(winner) && winner.summary !== null) out.push(winner.summary);
			emitted.add(winner);
		} else if (entry.type === "message") out.push(index);
	});
	return out;
}

function short(messages: ContextMessage[]): (string | number)[] {
	return messages.map(({ message, entryIndex }) => entryIndex ?? messageText(message).replace("[Summary]\n\n", ""));
}

const entryLists = fc
	.array(fc.boolean(), { maxLength: 40 })
	.map((kinds) => session(...kinds.map((isMessage, i) => (isMessage ? user(`m${i}`) : custom("mark")))));

const rangeLists = fc.array(
	fc.record({
		from: fc.integer({ min: -3, max: 45 }),
		to: fc.integer({ min: -3, max: 45 }),
		id: fc.integer({ min: 0, max: 12 }),
		hides: fc.boolean(),
		except: fc.array(fc.integer({ min: -2, max: 45 }), { maxLength: 4 }),
	}),
	{ maxLength: 12 },
);

describe("applyRanges", () => {
	test("a range without a summary, which only a hook in JavaScript can have, is named", () => {
		const range = { from: 1, to: 3, id: 1 } as SummaryRange;
		expect(() => applyRanges(session(user("a"), user("b")), [range])).toThrow(
			"applyRanges: the range from 1 to 3 needs a summary: a text, or null to hide its entries",
		);
	});

	test("agrees with a brute-force implementation on 10 000 random entry lists and range sets", () => {
		fc.assert(
			fc.property(entryLists, rangeLists, (entries, bare) => {
				const ranges = bare.map(({ hides, ...range }, i) => ({ ...range, summary: hides ? null : `S${i}` }));
				expect(short(applyRanges(entries, ranges))).toEqual(oracle(entries, ranges));
			}),
			{ numRuns: 10_000 },
		);
	});

	test("hides entries without a summary, and leaves the exceptions where they are", () => {
		const entries = session(...Array.from({ length: 6 }, (_, i) => user(`m${i + 1}`)));
		expect(short(applyRanges(entries, [{ from: 2, to: 6, summary: null, id: 0, except: [4] }]))).toEqual([1, 4, 6]);
		const summarized = [{ from: 2, to: 6, summary: "S", id: 0, except: [2, 4] }];
		expect(short(applyRanges(entries, summarized))).toEqual([1, 2, "S", 4, 6]);
	});

	test("emits a summary that is overlapped at its start where it first wins", () => {
		const entries = session(...Array.from({ length: 9 }, (_, i) => user(`m${i + 1}`)));
		const ranges = [
			{ from: 2, to: 8, summary: "early", id: 0 },
			{ from: 1, to: 5, summary: "late", id: 1 },
		];
		expect(short(applyRanges(entries, ranges))).toEqual(["late", "early", 8, 9]);
	});

	test("returns equal output for equal input, with the time of the range's last entry", () => {
		const entries = session(user("a"), user("b"), user("c"));
		const ranges = [{ from: 1, to: 3, summary: "ab", id: 0 }];
		expect(applyRanges(entries, ranges)).toEqual(applyRanges(entries, ranges));
		expect(applyRanges(entries, ranges)[0]).toEqual({
			message: { role: "user", content: "[Summary]\n\nab", timestamp: Date.parse("2026-01-01T00:00:00.000Z") },
			entryIndex: null,
		});
	});

	test("passes uncovered entries through as the frozen items that context handlers receive", async () => {
		const entries = session(user("a"), custom("mark"), user("b"), user("c"));
		const given: (readonly ContextMessage[])[] = [];
		const transform = async (messages: readonly ContextMessage[]) => {
			given.push(messages);
		};
		await buildContext(entries, [{ hook: "looks", transform }]);
		const ranged = applyRanges(entries, [{ from: 1, to: 2, summary: "S", id: 0 }]);
		expect(ranged.slice(1).map((item) => given[0]?.indexOf(item))).toEqual([1, 2]);
		expect(ranged.map(Object.isFrozen)).toEqual([true, true, true]);
	});

	test("uses the caller's text for the summary", () => {
		const [first] = applyRanges(session(user("a")), [{ from: 0, to: 9, summary: "x", id: 0 }], {
			render: ({ summary }) => `(${summary})`,
		});
		expect(first?.message).toMatchObject({ role: "user", content: "(x)" });
	});

	test("ignores empty ranges and clamps ranges that exceed the session", () => {
		const entries = session(user("a"), user("b"));
		const ranges = [
			{ from: 2, to: 2, summary: "empty", id: 5 },
			{ from: Number.NaN, to: Number.NaN, summary: "nothing", id: 6 },
			{ from: -10, to: 2, summary: "first", id: 1 },
			{ from: 40, to: 50, summary: "beyond", id: 2 },
		];
		expect(short(applyRanges(entries, ranges))).toEqual(["first", 2]);
	});

	describe("scenarios of the stacking design", () => {
		test("a pop that crosses a compaction: the pop's two summaries win over it", () => {
			const entries = session(...Array.from({ length: 59 }, (_, i) => user(`m${i + 1}`)));
			const ranges = [
				{ from: 0, to: 30, summary: "compaction", id: 0 },
				{ from: 0, to: 20, summary: "pre-pop", id: 1 },
				{ from: 20, to: 50, summary: "pop", id: 2 },
			];
			expect(short(applyRanges(entries, ranges))).toEqual(["pre-pop", "pop", 50, 51, 52, 53, 54, 55, 56, 57, 58, 59]);
		});

		test("the complex scenario, up to and after the second compaction", () => {
			const first = { from: 0, to: 4, summary: "C1", id: 0 };
			const popped = [first, { from: 0, to: 2, summary: "P1", id: 1 }, { from: 2, to: 9, summary: "S1", id: 2 }];
			const entries = session(
				...Array.from({ length: 5 }, (_, i) => user(`msg${i + 1}`)),
				custom("compaction"),
				user("msg6"),
				user("msg7"),
				custom("stack_pop"),
				user("msg10"),
				user("msg11"),
				user("msg12"),
			);
			expect(short(applyRanges(entries, popped))).toEqual(["P1", "S1", 10, 11, 12]);
			const compacted = [...popped, { from: 0, to: 11, summary: "C2", id: 3 }];
			expect(short(applyRanges(entries, compacted))).toEqual(["C2", 11, 12]);
		});
	});
});

test("no two ranges share a message object, so that every result of applyRanges is a valid answer", async () => {
	await fc.assert(
		fc.asyncProperty(entryLists, rangeLists, async (entries, ranges) => {
			const same = ranges.map((range) => ({ ...range, summary: "S" }));
			const messages = applyRanges(entries, same);
			expect(new Set(messages.map(({ message }) => message)).size).toBe(messages.length);
			const { problems } = await buildContext(entries, [{ hook: "ranges", transform: async () => ({ messages }) }]);
			expect(problems).toEqual([]);
		}),
	);
	const sameBorders = [
		{ from: 0, to: 2, summary: "S", id: 0 },
		{ from: 0, to: 2, summary: "S", id: 0, except: [0] },
	];
	const [outer, inner] = applyRanges(session(user("a")), sameBorders);
	expect(outer?.message).toEqual(inner?.message);
	expect(outer?.message).not.toBe(inner?.message);
	const log = session(user("a"), user("b"), user("c"));
	const twice = [
		{ from: 1, to: 4, summary: "S", id: 1 },
		{ from: 3, to: 4, summary: "S", id: 2 },
	];
	const [first, second, ...rest] = applyRanges(log, twice);
	expect(rest).toEqual([]);
	expect(first?.message).toEqual(second?.message);
	expect(first?.message).not.toBe(second?.message);
	expect(applyRanges(log, twice)[0]?.message).toBe(first?.message);
});

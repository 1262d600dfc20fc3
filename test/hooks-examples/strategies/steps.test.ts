import type { Api, Model, TextContent } from "@mariozechner/pi-ai";
import fc from "fast-check";
import { expect, test } from "vitest";
import type { ShownResult } from "../../../hooks-examples/strategies/results.js";
import { bestStep, chooseStep, expectedRequests } from "../../../hooks-examples/strategies/steps.js";
import type { SessionEntry } from "../../../src/log/entry.js";
import { propertyRuns } from "../../helpers/property-blocks.js";

/** Results of some sizes, each followed by other messages of some size. */
function resultsOf(sizes: readonly { tokens: number; others: number }[]): ShownResult[] {
	return sizes.map(({ tokens }, at) => {
		const tail = sizes.slice(at).reduce((sum, size) => sum + size.tokens + size.others, 0);
		const message = {
			role: "toolResult",
			toolCallId: `${at}`,
			toolName: "read",
			content: [] as TextContent[],
			isError: false,
		} as const;
		return {
			entryIndex: at,
			message: { ...message, timestamp: 0 },
			call: { id: `${at}`, name: "read", arguments: {} },
			tokens,
			tail,
		};
	});
}

const sizes = fc.array(fc.record({ tokens: fc.nat(20_000), others: fc.nat(20_000) }), { maxLength: 20 });
const requests = fc.integer({ min: 5, max: 500 });
const extraPrice = fc.double({ min: 0.01, max: 30, noNaN: true });

test("a step ends with the last result, pays, and no other start would save more", () => {
	fc.assert(
		fc.property(sizes, requests, extraPrice, (given, count, extra) => {
			const results = resultsOf(given);
			const gains = results.map((_, start) => {
				const hidden = results.slice(start);
				const saved = hidden.reduce((sum, { tokens }) => sum + tokens, 0);
				return saved < 4000 ? 0 : count * saved - extra * ((hidden[0]?.tail ?? 0) - saved);
			});
			const best = Math.max(0, ...gains);
			const step = bestStep(results, count, extra);
			if (step === null) {
				expect(best).toBe(0);
				return;
			}
			expect(step.results).toEqual(results.slice(-step.results.length));
			expect(step.saved).toBe(step.results.reduce((sum, { tokens }) => sum + tokens, 0));
			expect(step.saved + step.resent).toBe(step.results[0]?.tail);
			expect(count * step.saved - extra * step.resent).toBe(best);
			expect(best).toBeGreaterThan(0);
		}),
		propertyRuns(300),
	);
});

test("more expected requests never hide less, and a step for which nothing is sent again hides everything", () => {
	fc.assert(
		fc.property(sizes, requests, extraPrice, (given, count, extra) => {
			const results = resultsOf(given);
			const [few, many] = [bestStep(results, count, extra), bestStep(results, count * 2, extra)];
			expect(many?.saved ?? 0).toBeGreaterThanOrEqual(few?.saved ?? 0);
			const free = bestStep(results, count, 0);
			const all = given.reduce((sum, { tokens }) => sum + tokens, 0);
			expect(free?.saved ?? 0).toBe(all < 4000 ? 0 : all);
			expect(free?.resent ?? 0).toBe(0);
		}),
		propertyRuns(300),
	);
});

const USAGE = { input: 1, output: 1, cacheRead: 0, cacheWrite: 0, totalTokens: 2 };
const reply = (timestamp: number, model = "a"): SessionEntry =>
	({
		type: "message",
		timestamp: "2026-01-01T00:00:00.000Z",
		message: {
			...{ role: "assistant", content: [], api: "x", provider: "p", model, stopReason: "stop", timestamp },
			usage: { ...USAGE, cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 } },
		},
	}) as SessionEntry;
const compaction = {
	type: "compaction",
	summary: "S",
	firstKeptEntryIndex: 1,
	tokensBefore: 1,
} as unknown as SessionEntry;
const MODEL = {
	...{ provider: "p", id: "a", promptCache: { short: 60 } },
	cost: { input: 3, output: 15, cacheRead: 0.3, cacheWrite: 3.75 },
} as unknown as Model<Api>;
/** Pays only if the provider has forgotten what follows them. */
const SMALL = resultsOf([{ tokens: 5000, others: 100_000 }]);

test.each([
	["soon after a reply", [reply(0)], 30_000, MODEL, false],
	["after the lifetime of the cache", [reply(0)], 61_000, MODEL, true],
	["after 5 minutes, if no lifetime is known", [reply(0)], 61_000, { ...MODEL, promptCache: undefined }, false],
	["after a change of the model", [reply(0, "b")], 30_000, MODEL, true],
	["after a compaction", [reply(0), compaction], 30_000, MODEL, true],
	[
		"if cached tokens cost as much as others",
		[reply(0)],
		30_000,
		{ ...MODEL, cost: { ...MODEL.cost, cacheRead: 0 } },
		true,
	],
	[
		"if nothing is known of the prices",
		[reply(0)],
		30_000,
		{ ...MODEL, cost: { ...MODEL.cost, input: 0, cacheRead: 0 } },
		false,
	],
] as const)("a small result before a long tail %s: hidden as expected", (_, entries, now, model, isHidden) => {
	expect(chooseStep(SMALL, { entries, model: model as Model<Api> }, now) !== null).toBe(isHidden);
});

test("expects an eighth of the requests so far, and at least 5", () => {
	expect(expectedRequests([])).toBe(5);
	expect(expectedRequests(Array.from({ length: 400 }, () => reply(0)))).toBe(50);
});

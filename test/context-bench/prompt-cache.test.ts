import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type CacheRules, type CacheSurprise, PromptCache } from "../../src/context-bench/prompt-cache.js";

const RULES: CacheRules = { kind: "breakpoints", lifetimeMs: 300_000, minTokens: 1000, lookback: 20 };

/** Sends parts with these ids, of 1,000 tokens each. */
function send(
	cache: PromptCache,
	ids: readonly number[],
	breakpoints: readonly number[],
	time = 0,
	surprise: CacheSurprise = {},
) {
	const sums = [0, ...ids.map((_, at) => 500 * (at + 1))];
	return cache.send({ ids, sums, ratio: 2, breakpoints, time }, () => surprise);
}

describe("a cache with breakpoints", () => {
	test("has what an earlier request marked, and writes the rest", () => {
		const cache = new PromptCache(RULES);
		expect(send(cache, [1, 2], [1, 2], 0)).toEqual({ read: 0, written: 2000, uncached: 0 });
		expect(send(cache, [1, 2, 3, 4], [1, 4], 1000)).toEqual({ read: 2000, written: 2000, uncached: 0 });
	});

	test("finds only what ends at a mark: a changed end makes the earlier mark count", () => {
		const cache = new PromptCache(RULES);
		send(cache, [1, 2, 3], [1, 3], 0);
		expect(send(cache, [1, 2, 9], [1, 3], 0)).toEqual({ read: 1000, written: 2000, uncached: 0 });
	});

	test("looks at most 20 parts before a mark", () => {
		const ids = Array.from({ length: 30 }, (_, id) => id);
		const cache = new PromptCache(RULES);
		send(cache, [...ids.slice(0, 9)], [9], 0);
		expect(send(cache, [...ids], [30], 0).read).toBe(0);
		const second = new PromptCache(RULES);
		send(second, [...ids.slice(0, 10)], [10], 0);
		expect(send(second, [...ids], [30], 0).read).toBe(10_000);
	});

	test("forgets what no request begins with for the lifetime, which each hit extends", () => {
		const cache = new PromptCache(RULES);
		send(cache, [1, 2], [2], 0);
		expect(send(cache, [1, 2], [2], 300_000).read).toBe(2000);
		expect(send(cache, [1, 2], [2], 600_000).read).toBe(2000);
		expect(send(cache, [1, 2], [2], 900_001).read).toBe(0);
	});

	test("keeps nothing that is too small", () => {
		const cache = new PromptCache({ ...RULES, minTokens: 5000 });
		expect(send(cache, [1, 2], [1, 2], 0)).toEqual({ read: 0, written: 0, uncached: 2000 });
		expect(send(cache, [1, 2], [1, 2], 0)).toEqual({ read: 0, written: 0, uncached: 2000 });
	});

	test("follows the recorded usage where its rules do not explain it", () => {
		const cache = new PromptCache(RULES);
		send(cache, [1, 2, 3], [1, 3], 0);
		expect(send(cache, [1, 2, 3], [1, 3], 0, { atMost: 1500 }).read).toBe(1000);
		expect(send(cache, [1, 2, 3], [1, 3], 900_000, { keptLonger: true }).read).toBe(3000);
	});
});

test("a provider that caches every start has the longest shared one", () => {
	const cache = new PromptCache({ ...RULES, kind: "automatic" });
	send(cache, [1, 2, 3], [], 0);
	expect(send(cache, [1, 2, 9, 10], [], 0)).toEqual({ read: 2000, written: 2000, uncached: 0 });
});

test("without a cache, everything is input", () => {
	const cache = new PromptCache({ ...RULES, kind: "none" });
	send(cache, [1, 2], [2], 0);
	expect(send(cache, [1, 2], [2], 0)).toEqual({ read: 0, written: 0, uncached: 2000 });
});

test("every token is read, written or uncached, and nothing is read that no earlier request began with", () => {
	const request = fc.array(fc.integer({ min: 0, max: 3 }), { minLength: 1, maxLength: 12 });
	const kind = fc.constantFrom("breakpoints", "automatic", "none") as fc.Arbitrary<CacheRules["kind"]>;
	fc.assert(
		fc.property(fc.array(request, { maxLength: 12 }), kind, (requests, rule) => {
			const cache = new PromptCache({ ...RULES, kind: rule });
			const earlier: number[][] = [];
			for (const ids of requests) {
				const { read, written, uncached } = send(cache, [...ids], [1, ids.length], 0);
				expect(read + written + uncached).toBe(1000 * ids.length);
				expect(Math.min(read, written, uncached)).toBeGreaterThanOrEqual(0);
				const shared = Math.max(0, ...earlier.map((other) => sharedLength(other, ids)));
				expect(read).toBeLessThanOrEqual(1000 * shared);
				earlier.push(ids);
			}
		}),
	);
});

function sharedLength(a: readonly number[], b: readonly number[]): number {
	const at = a.findIndex((id, index) => id !== b[index]);
	return at < 0 ? a.length : at;
}

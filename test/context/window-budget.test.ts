import fc from "fast-check";
import { expect, test } from "vitest";
import { divideWindow, minReply } from "../../src/context/window-budget.js";

const DEFAULTS = { reserveTokens: 16_384, keepRecentTokens: 20_000 };

test.each([
	[4096, 1500],
	[32_768, 1500],
	[200_000, 1500],
])("a window of %i tokens with a preamble of %i", (window, preamble) => {
	const budget = divideWindow({ window, preamble, ...DEFAULTS });
	expect({ window, ...budget }).toMatchSnapshot();
});

test("after a compaction a request takes at most 60 % of the usable window, or preamble and 15 % of the window", () => {
	const inputs = fc.record({
		window: fc.integer({ min: 4096, max: 2_000_000 }),
		preamble: fc.integer({ min: 0, max: 3000 }),
		reserveTokens: fc.integer({ min: 0, max: 100_000 }),
		keepRecentTokens: fc.integer({ min: 0, max: 100_000 }),
	});
	fc.assert(
		fc.property(inputs, ({ window, preamble, ...settings }) => {
			const { limit, target, max, summary, keepRecent } = divideWindow({ window, preamble, ...settings });
			const reserve = settings.reserveTokens * Math.min(1, window / 65_536);
			expect(target).toBeLessThanOrEqual(Math.max(0.6 * (window - reserve) + 1, preamble + 0.15 * window));
			expect(limit).toBeGreaterThan(target);
			expect(limit).toBeLessThanOrEqual(max);
			expect(max).toBeLessThan(window);
			expect(preamble + summary + keepRecent).toBeLessThanOrEqual(Math.max(target, preamble + 100));
		}),
	);
});

test.each([
	[0, 64],
	[1039, 64],
	[1040, 65],
	[16_384, 1024],
	[200_000, 1024],
])("in a window of %i tokens a reply has room for at least %i", (window, tokens) => {
	expect(minReply(window)).toBe(tokens);
});

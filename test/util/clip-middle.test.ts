import fc from "fast-check";
import { expect, test } from "vitest";
import { clipMiddle } from "../../src/util/clip-middle.js";

test.each([
	["claude-opus-4-8", 20, "claude-opus-4-8"],
	["openrouter/anthropic/claude-opus-5.5", 24, "openroute…laude-opus-5.5"],
	["abc", 1, "…"],
	["abc", 0, ""],
])("%s in %d columns is %s", (text, width, expected) => {
	expect(clipMiddle(text, width)).toBe(expected);
});

test("a shortened text is as wide as possible, and keeps its start and end", () => {
	fc.assert(
		fc.property(fc.stringMatching(/^[a-z0-9/.-]{1,60}$/), fc.integer({ min: 3, max: 60 }), (text, width) => {
			const clipped = clipMiddle(text, width);
			expect(clipped.length).toBe(Math.min(text.length, width));
			const [start = "", end = ""] = clipped.split("…");
			expect([text.startsWith(start), text.endsWith(end)]).toEqual([true, true]);
		}),
	);
});

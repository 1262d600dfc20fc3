import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { textDelta } from "../../src/modes/json-events.js";

/** Applies a change as a reader of JSON mode does. */
function apply(before: string, change: ReturnType<typeof textDelta>): string {
	if (!change) return before;
	const [start, end] = change.keep ?? [0, before.length];
	return before.slice(start, end) + change.delta;
}

describe("the change of a text", () => {
	test.each([
		["", "a", { delta: "a" }],
		["a\n", "a\nb\n", { delta: "b\n" }],
		["a", "a", null],
		["a\n10 %", "a\n20 %", { delta: "20 %", keep: [0, 2] }],
		["one\ntwo\nthree\n", "two\nthree\nfour\n", { delta: "four\n", keep: [4, 14] }],
		["abc", "", { delta: "", keep: [0, 0] }],
		["😀", "😁", { delta: "😁", keep: [0, 0] }],
		["abc", "xyz", { delta: "xyz", keep: [0, 0] }],
	])("from %j to %j is %j", (before, after, change) => {
		expect(textDelta(before, after)).toEqual(change);
	});

	test("gives the next text, never with half of a character", () => {
		const words = fc.array(fc.constantFrom("a", "b", "\n", "😀", "😁", "ab\n"), { maxLength: 12 });
		fc.assert(
			fc.property(words, words, (before, after) => {
				const [from, to] = [before.join(""), after.join("")];
				const change = textDelta(from, to);
				expect(apply(from, change)).toBe(to);
				expect(change?.delta.isWellFormed()).not.toBe(false);
			}),
			{ numRuns: 2000 },
		);
	});

	test("of a window that moves over a long output has only the new lines", () => {
		const lines = Array.from({ length: 5000 }, (_, at) => `line ${at}: ${at * 7}\n`);
		const window = (end: number) => lines.slice(Math.max(0, end - 2000), end).join("");
		let text = "";
		let size = 0;
		for (let end = 100; end <= lines.length; end += 100) {
			const change = textDelta(text, window(end));
			size += change?.delta.length ?? 0;
			text = apply(text, change);
			expect(text).toBe(window(end));
		}
		expect(size).toBe(lines.join("").length);
	});
});

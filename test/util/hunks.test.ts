import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { applyHunks, findHunks, type Hunk, revertHunks, splitLines } from "../../src/util/hunks.js";

const lines = fc.array(fc.constantFrom("a\n", "b\n", "c\r\n", "\n", "d"), { maxLength: 24 });
const texts = fc.tuple(lines, lines).map(([a, b]) => [a.join(""), b.join("")] as const);

const drawn = (hunk: Hunk) =>
	hunk.lines.map(({ kind, number, text }) => `${{ added: "+", removed: "-", context: " " }[kind]}${number} ${text}`);

describe("hunks of two texts", () => {
	test("show changed lines with three unchanged ones on either side; close changes are one hunk", async () => {
		const before = Array.from({ length: 30 }, (_, at) => `line ${at + 1}\n`);
		const after = before.map((line) => (/ (3|6|20)\n/.test(line) ? line.toUpperCase() : line));
		const hunks = await findHunks(before.join(""), after.join(""));
		expect(hunks.map(drawn)).toEqual([
			[
				...[" 1 line 1", " 2 line 2", "-3 line 3", "+3 LINE 3", " 4 line 4", " 5 line 5", "-6 line 6", "+6 LINE 6"],
				...[" 7 line 7", " 8 line 8", " 9 line 9"],
			],
			[
				...[" 17 line 17", " 18 line 18", " 19 line 19", "-20 line 20", "+20 LINE 20"],
				...[" 21 line 21", " 22 line 22", " 23 line 23"],
			],
		]);
	});

	test("an unchanged line between two hunks is shown once", async () => {
		const hunks = await findHunks("a\n1\n2\n3\n4\nb\n", "A\n1\n2\n3\n4\nB\n");
		expect(hunks.map(drawn)).toEqual([
			["-1 a", "+1 A", " 2 1", " 3 2", " 4 3"],
			[" 5 4", "-6 b", "+6 B"],
		]);
	});

	test("a final newline and the ends of lines count", async () => {
		expect((await findHunks("a\n", "a")).length).toBe(1);
		expect((await findHunks("a\r\n", "a\n")).length).toBe(1);
		expect(await findHunks("a", "a")).toEqual([]);
	});

	test("any texts: reverting all hunks gives the old text, applying all gives the new one", async () => {
		await fc.assert(
			fc.asyncProperty(texts, async ([before, after]) => {
				const hunks = await findHunks(before, after);
				expect(revertHunks(before, after, hunks)).toBe(before);
				expect(applyHunks(before, after, hunks)).toBe(after);
				expect(splitLines(before).join("")).toBe(before);
			}),
		);
	});

	test("any texts: what is reverted and what is applied are the two halves of the same change", async () => {
		await fc.assert(
			fc.asyncProperty(
				texts,
				fc.array(fc.boolean(), { minLength: 24, maxLength: 24 }),
				async ([before, after], picks) => {
					const hunks = await findHunks(before, after);
					const picked = hunks.filter((_, at) => picks[at]);
					const others = hunks.filter((_, at) => !picks[at]);
					expect(revertHunks(before, after, picked)).toBe(applyHunks(before, after, others));
				},
			),
		);
	});
});

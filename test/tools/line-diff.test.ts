import fc from "fast-check";
import { expect, test } from "vitest";
import { diffLines } from "../../src/tools/line-diff.js";

const numbered = (last: number) => Array.from({ length: last }, (_, index) => `line ${index + 1}`);

test("changed lines are numbered and have three context lines", async () => {
	const before = numbered(20);
	const after = [...before];
	after[9] = "changed";
	expect(await diffLines(before.join("\n"), after.join("\n"))).toEqual({
		diff: [
			"   7 line 7",
			"   8 line 8",
			"   9 line 9",
			"- 10 line 10",
			"+ 10 changed",
			"  11 line 11",
			"  12 line 12",
			"  13 line 13",
		].join("\n"),
		added: 1,
		removed: 1,
	});
});

test("lines far from changed ones are omitted, with one ellipsis per gap", async () => {
	const before = numbered(30);
	const after = before.filter((_, index) => index !== 4);
	after.splice(20, 0, "new");
	const { diff, added, removed } = await diffLines(before.join("\n"), after.join("\n"));
	expect(diff.split("\n")).toEqual([
		"   2 line 2",
		"   3 line 3",
		"   4 line 4",
		"-  5 line 5",
		"   5 line 6",
		"   6 line 7",
		"   7 line 8",
		" …",
		"  18 line 19",
		"  19 line 20",
		"  20 line 21",
		"+ 21 new",
		"  22 line 22",
		"  23 line 23",
		"  24 line 24",
	]);
	expect({ added, removed }).toEqual({ added: 1, removed: 1 });
});

test("all lines of a new file are added, all lines of an emptied file are removed", async () => {
	expect(await diffLines("", "a\nb\n")).toEqual({ diff: "+ 1 a\n+ 2 b", added: 2, removed: 0 });
	expect(await diffLines("a\nb\n", "")).toEqual({ diff: "- 1 a\n- 2 b", added: 0, removed: 2 });
});

test("carriage returns are not shown", async () => {
	expect((await diffLines("a\r\nb\r\n", "a\r\nc\r\n")).diff).toBe("  1 a\n- 2 b\n+ 2 c");
});

test("a diff over the output limit is cut", async () => {
	const { diff, added } = await diffLines("", numbered(10_000).join("\n"));
	expect(diff.split("\n").length).toBeLessThanOrEqual(2000);
	expect(added).toBe(10_000);
});

test("property: the diff contains the line numbers and lines of both files", async () => {
	const text = fc
		.array(fc.constantFrom("a", "b", "c", ""), { maxLength: 25 })
		.map((lines) => lines.map((line) => `${line}.`));
	await fc.assert(
		fc.asyncProperty(text, text, async (before, after) => {
			const { diff, added, removed } = await diffLines(before.join("\n"), after.join("\n"));
			const lines = diff === "" ? [] : diff.split("\n");
			for (const line of lines) {
				const parsed = /^([-+ ]) *(\d+) (.*)$/.exec(line);
				if (parsed === null) expect(line).toBe(" …");
				else expect((parsed[1] === "-" ? before : after)[Number(parsed[2]) - 1]).toBe(parsed[3]);
			}
			expect(added - removed).toBe(after.length - before.length);
			expect(lines.filter((line) => line.startsWith("+")).length).toBe(added);
		}),
	);
});

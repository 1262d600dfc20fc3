import fc from "fast-check";
import { expect, test } from "vitest";
import { fuzzyFilter, fuzzyMatch, markMatch } from "../../src/tui/fuzzy.js";

test.each([
	["po", ["export", "prompts", "pop"], ["pop", "prompts", "export"]],
	["mt", ["comet", "my-tool", "mat"], ["my-tool", "mat", "comet"]],
	[
		"tui key",
		["src/tui/theme.ts", "src/tui/keymap.ts", "test/tui/keymap.test.ts"],
		["src/tui/keymap.ts", "test/tui/keymap.test.ts"],
	],
	["ZZ", ["a", "b"], []],
	["  ", ["a", "b"], ["a", "b"]],
])("%j ranks %j", (query, items, expected) => {
	expect(fuzzyFilter(items, query, (item) => item)).toEqual(expected);
});

test("the marked letters are the matched ones", () => {
	const match = fuzzyMatch("pr", "src/price.ts");
	expect(markMatch("src/price.ts", match?.positions ?? [], (text) => `<${text}>`)).toBe("src/<pr>ice.ts");
	expect(fuzzyMatch("prt", "price.ts")?.positions).toEqual([0, 1, 6]);
});

test("characters of several UTF-16 units are matched and marked as a whole", () => {
	expect(fuzzyMatch("😀", "😀.md")?.positions).toEqual([0, 1]);
	expect(fuzzyMatch("a😀", "a😁b😀")?.positions).toEqual([0, 4, 5]);
	expect(fuzzyMatch("😀", "😁")).toBeNull();
	expect(markMatch("👩‍💻 x", [0], (text) => `<${text}>`)).toBe("<👩‍💻> x");
});

test("a text matches exactly the queries whose letters it contains in order", () => {
	fc.assert(
		fc.property(
			fc.string({ unit: fc.constantFrom(..."abAB./") }),
			fc.string({ unit: fc.constantFrom(..."abAB./") }),
			(query, text) => {
				const match = fuzzyMatch(query, text);
				let at = 0;
				for (const letter of text.toLowerCase()) if (letter === query.toLowerCase()[at]) at += 1;
				expect(match !== null).toBe(at === query.length);
				const read = match?.positions.map((position) => text.toLowerCase()[position]).join("");
				expect(read ?? query.toLowerCase()).toBe(query.toLowerCase());
				expect(markMatch(text, match?.positions ?? [], (part) => part)).toBe(text);
			},
		),
	);
});

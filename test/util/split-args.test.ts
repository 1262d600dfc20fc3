import fc from "fast-check";
import { expect, test } from "vitest";
import { splitArgs } from "../../src/util/split-args.js";

test.each<[string, string[]]>([
	["", []],
	["   ", []],
	["one two\tthree", ["one", "two", "three"]],
	['"one two" three', ["one two", "three"]],
	["'one \"two' three", ['one "two', "three"]],
	['a"b c"d', ["ab cd"]],
	['""', [""]],
	["one\\ two", ["one two"]],
	["'a\\b'", ["a\\b"]],
	['"a\\"b\\\\c\\d"', ['a"b\\c\\d']],
	["it's fine", ["it's", "fine"]],
	['say "hello', ["say", '"hello']],
	["end\\", ["end\\"]],
])("splits %j", (raw, expected) => {
	expect(splitArgs(raw)).toEqual(expected);
});

test("quoted words are split back unchanged", () => {
	fc.assert(
		fc.property(fc.array(fc.string()), (words) => {
			const raw = words.map((word) => `"${word.replace(/["\\]/g, "\\$&")}"`).join(" ");
			expect(splitArgs(raw)).toEqual(words);
		}),
	);
});

import fc from "fast-check";
import { expect, test } from "vitest";
import { joinLines, nonBlankLines, trimEndOf, trimOf } from "../../src/util/trim.js";

const blanks = fc.string({ unit: fc.constantFrom(" ", "\n", "\t", "\r", "a", "b") });

test("lines are joined as an expression that takes quadratic time would do it", () => {
	fc.assert(
		fc.property(blanks, (text) => {
			expect(joinLines(text, "|")).toBe(text.replace(/\s*\n\s*/g, "|"));
		}),
	);
});

test("blank lines are left out", () => {
	expect(nonBlankLines("\n a \r\n\n\tb\n")).toEqual(["a", "b"]);
});

test("characters are trimmed at both ends, or at the end only", () => {
	expect(trimEndOf("//a//", "/")).toBe("//a");
	expect(trimOf("# **C#**", "#* ", "*")).toBe("C#");
	expect(trimOf("///", "/")).toBe("");
});

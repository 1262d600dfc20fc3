import fc from "fast-check";
import { expect, test } from "vitest";
import { revealInvisible } from "../../src/util/reveal.js";
import { anyText } from "../helpers/any-text.js";

test.each([
	["colors and controls", "\x1b[8mrm -rf\x1b[0m\x07", "␛[8mrm -rf␛[0m^G"],
	["bidi and zero-width characters", "a\u202eb\u200bc\u2060d\ufeff", "a‹U+202E›b‹U+200B›c‹U+2060›d‹U+FEFF›"],
	["tag characters", "ok\u{e0041}", "ok‹U+E0041›"],
	["fillers and soft hyphens", "\u3164\u00ad", "‹U+3164›‹U+00AD›"],
	["emoji are unchanged", "⚠️ 😀 1️⃣", "⚠️ 😀 1️⃣"],
	["joined emoji are unchanged", "👩‍💻 👩🏽‍🚀 🏳️‍🌈 🏃‍♂️", "👩‍💻 👩🏽‍🚀 🏳️‍🌈 🏃‍♂️"],
	["a joiner that joins no emoji", "a\u200db 😀\u200d \u200d😀", "a‹U+200D›b 😀‹U+200D› ‹U+200D›😀"],
	["a variation selector that makes no emoji", "rm\ufe0f ⚠️\ufe0f", "rm‹U+FE0F› ⚠️‹U+FE0F›"],
	["unassigned and format characters", "\ufff0\u{1bca0}\u{13430}\u0600", "‹U+FFF0›‹U+1BCA0›‹U+13430›‹U+0600›"],
	["up to 40 blanks", `a${" ".repeat(40)}b`, `a${" ".repeat(40)}b`],
	["more than 40 blanks", `a${" ".repeat(200)}b`, "a … 200 spaces … b"],
	["up to three blank lines", "a\n\n\n\nb", "a\n\n\n\nb"],
	["more than three blank lines", `a${"\n".repeat(301)}b`, "a\n… 300 blank lines …\nb"],
	["blank lines that contain blanks", "a\n \n\t\n \n \nb", "a\n… 4 blank lines …\nb"],
	["Windows line ends", "a\r\nb\rc", "a\nb^Mc"],
])("%s", (_name, text, expected) => {
	expect(revealInvisible(text)).toBe(expected);
});

test("nothing is cut from a long line", () => {
	const line = `begin${"x".repeat(10_000)}end`;
	expect(revealInvisible(line)).toBe(line);
});

test("no invisible character remains", () => {
	fc.assert(
		fc.property(anyText(), (text) => {
			expect(revealInvisible(text)).not.toMatch(
				/[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b\u200c\u200e\u200f\u202a-\u202e\u2066-\u2069]|\u200d(?!\p{Extended_Pictographic})/u,
			);
		}),
	);
});

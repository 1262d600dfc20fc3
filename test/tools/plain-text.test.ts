import fc from "fast-check";
import { expect, test } from "vitest";
import { dropControls, plainOutput } from "../../src/tools/plain-text.js";

test.each([
	["colours", "\x1b[1;31mred\x1b[0m plain", "red plain"],
	["a title and a link", "\x1b]0;title\x07a \x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\", "a link"],
	["cursor moves and character sets", "\x1b[2K\x1b[1Ga\x1b(Bb\x1b7\x1b=c", "abc"],
	["an unfinished title, up to the end of its line", "\x1b]0;never ends\nnext", "\nnext"],
	["a progress bar, but for its last state", " 10%\r 50%\r100%\r\ndone\r\n", "100%\ndone\n"],
	["bell, backspace, NUL and DEL", "a\x07b\bc\0d\x7fe", "abcde"],
	["C1 controls", "a\x9b31mb\x85c", "abc"],
	["newline and tab: nothing", "a\tb\n", "a\tb\n"],
])("%s are taken out", (_name, text, expected) => {
	expect(plainOutput(text)).toBe(expected);
});

test("property: no control character is left but newline and tab", () => {
	const hostile = fc.array(
		fc.constantFrom("\x1b", "[", "]", "0", ";", "m", "\x07", "\\", "\r", "\n", "\x9b", "a", "\0"),
	);
	fc.assert(
		fc.property(hostile, (parts) => {
			expect(plainOutput(parts.join(""))).not.toMatch(/[\x00-\x08\x0b-\x1f\x7f-\x9f]/);
		}),
	);
});

test("dropControls keeps what follows an escape character", () => {
	expect(dropControls("\x1b[1mx\0\n\t")).toBe("[1mx\n\t");
});

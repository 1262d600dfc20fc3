import fc from "fast-check";
import { expect, test } from "vitest";
import { simpleWidth } from "../../../src/tui/internals/measure-text.js";

test.each([
	["a prompt whose background reaches the end of its line", "\x1b[48;5;236m› look\x1b[K\x1b[m", 6],
	["a link that ends with ST", "see \x1b]8;;https://example.com/\x1b\\the page\x1b]8;;\x1b\\.", 13],
	["a link that ends with BEL", "\x1b]8;id=1;https://example.com/\x07page\x1b]8;;\x07", 4],
])("measures %s without segmenting", (_name, text, width) => {
	expect(simpleWidth(text)).toBe(width);
});

test.each([
	["a sequence that moves the cursor", "\x1b[2A"],
	["a link without an end", "\x1b]8;;https://example.com/"],
	["a sequence without an end", "\x1b[1"],
])("leaves %s to pi-tui", (_name, text) => {
	expect(simpleWidth(text)).toBe(-1);
});

test("sequences add no columns, wherever they are", () => {
	const sequence = fc.constantFrom(
		"\x1b[m",
		"\x1b[38;2;1;2;3m",
		"\x1b[K",
		"\x1b]8;;x:y\x1b\\",
		"\x1b]8;;\x07",
		"\x1b_pi:c\x07",
	);
	const character = fc.constantFrom(["a", 1] as const, ["é", 1] as const, ["│", 1] as const, ["語", 2] as const);
	fc.assert(
		fc.property(fc.array(fc.tuple(character, fc.array(sequence, { maxLength: 2 }))), (parts) => {
			const text = parts.map(([[shown], sequences]) => shown + sequences.join("")).join("");
			expect(simpleWidth(text)).toBe(parts.reduce((sum, [[, width]]) => sum + width, 0));
		}),
	);
});

import fc from "fast-check";
import { expect, test } from "vitest";
import { type RawLine, rawLines } from "../../src/log/raw-lines.js";
import { fileOf } from "./support.js";

const LIMIT = 6;
const read = (text: string, most?: number) => [...rawLines(fileOf(text, most), LIMIT)];
const line = (facts: Partial<RawLine>): RawLine => ({
	...{ number: 1, offset: 0, length: 0, isEnded: true, isBlank: false, bytes: Buffer.from("") },
	...facts,
});

test("lines are read with their number, offset and length, blank ones included", () => {
	expect(read("ab\n\n \t\r\ncde")).toEqual([
		line({ length: 2, bytes: Buffer.from("ab") }),
		line({ number: 2, offset: 3, isBlank: true }),
		line({ number: 3, offset: 4, length: 3, isBlank: true, bytes: Buffer.from(" \t\r") }),
		line({ number: 4, offset: 8, length: 3, isEnded: false, bytes: Buffer.from("cde") }),
	]);
	expect(read("")).toEqual([]);
	expect(read("a\n")).toEqual([line({ length: 1, bytes: Buffer.from("a") })]);
});

test("of a line longer than the limit only the position is read", () => {
	expect(read("123456\n1234567\n89\n")).toEqual([
		line({ length: 6, bytes: Buffer.from("123456") }),
		line({ number: 2, offset: 7, length: 7, bytes: null }),
		line({ number: 3, offset: 15, length: 2, bytes: Buffer.from("89") }),
	]);
});

test("a line that begins with blanks is not blank, wherever a read ends", () => {
	for (const most of [1, 2, 3]) expect(read("  a  \n", most).map(({ isBlank }) => isBlank)).toEqual([false]);
});

test("the lines do not depend on the number of bytes that each read returns", () => {
	const text = fc.array(fc.constantFrom("\n", "a", " ", "é"), { maxLength: 60 }).map((parts) => parts.join(""));
	fc.assert(
		fc.property(text, fc.integer({ min: 1, max: 20 }), (contents, most) => {
			expect(read(contents, most)).toEqual(read(contents));
		}),
		{ numRuns: 50 },
	);
});

import { expect, test } from "vitest";
import { MarkedStream } from "../../../src/tools/machine/marked-stream.js";

const MARK = "0123abcd";

test.each([
	["out\0M:0\nrest\0M:.\n", "outrest", "0", true],
	["out\0M:N.\n", "out", "N", true],
	["out\0M:143\n", "out", "143", false],
	// A program that was ended has no status: its connection was lost.
	["out\0M:.\n", "out", null, true],
	["out\0M:0", "out", null, false],
	["out\0M:0.\nfrom the login shell", "out", "0", true],
])("%j is read in pieces of any size", (text, output, status, isLast) => {
	const begin = `NOISE\0\0M\0M:0.\nmore\0M\n`;
	const bytes = Buffer.from((begin + text).replaceAll("M", MARK).replaceAll(`NOISE`, "\x1b[31mnoise"));
	for (let size = 1; size <= bytes.length; size++) {
		const stream = new MarkedStream(MARK);
		let read = "";
		for (let at = 0; at < bytes.length; at += size) read += stream.add(bytes.subarray(at, at + size)).toString();
		expect([read, stream.status, stream.isLast]).toEqual([output, status, isLast]);
		expect(stream.before).toBe(`\x1b[31mnoise\0\0${MARK}\0${MARK}:0.\nmore`);
	}
});

test("nothing is output before its mark, of which only the end is kept", () => {
	const stream = new MarkedStream(MARK);
	for (let at = 0; at < 100; at++) expect(stream.add(Buffer.alloc(100_000, "x"))).toHaveLength(0);
	expect(stream.add(Buffer.from("last line"))).toHaveLength(0);
	expect([stream.hasBegun, stream.before.length, stream.before.endsWith("xlast line")]).toEqual([false, 4000, true]);
});

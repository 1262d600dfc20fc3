import { expect, test } from "vitest";
import { MarkedStream } from "../../../src/tools/host/marked-stream.js";

const MARK = "0123abcd";

test.each([
	["out\0M:0\nrest\0M:.\n", "outrest", "0", true],
	["out\0M:N.\n", "out", "N", true],
	["out\0M:143\n", "out", "143", false],
	// A program that was ended has no status: its connection was lost.
	["out\0M:.\n", "out", null, true],
	["out\0M:0", "out", null, false],
])("%j is read in pieces of any size", (text, output, status, isLast) => {
	const bytes = Buffer.from(text.replaceAll("M:", `${MARK}:`));
	for (let size = 1; size <= bytes.length; size++) {
		const stream = new MarkedStream(MARK);
		let read = "";
		for (let at = 0; at < bytes.length; at += size) read += stream.add(bytes.subarray(at, at + size)).toString();
		expect([read, stream.status, stream.isLast]).toEqual([output, status, isLast]);
	}
});

import { expect, test } from "vitest";
import {
	displayPath,
	formatCost,
	formatDuration,
	formatElapsed,
	formatTokens,
	homePath,
	plural,
} from "../../src/modes/format.js";

test.each([
	[0, "0"],
	[41, "41"],
	[999, "999"],
	[1200, "1.2k"],
	[14_200, "14.2k"],
	[31_000, "31k"],
	[99_949, "99.9k"],
	[200_000, "200k"],
	[999_499, "999k"],
	[999_500, "1M"],
	[1_500_000, "1.5M"],
])("%i tokens are formatted as %s", (tokens, text) => expect(formatTokens(tokens)).toBe(text));

test.each([
	[0, "0.0 s"],
	[2400, "2.4 s"],
	[9949, "9.9 s"],
	[9950, "10 s"],
	[12_400, "12 s"],
	[59_600, "1 min 00 s"],
	[185_000, "3 min 05 s"],
	[7_800_000, "2 h 10 min"],
])("%i ms are formatted as %s", (ms, text) => expect(formatDuration(ms)).toBe(text));

test("elapsed time is shown in full seconds", () => {
	expect([0, 999, 1000, 59_999, 61_000].map(formatElapsed)).toEqual(["0 s", "0 s", "1 s", "59 s", "1 min 01 s"]);
});

test("a nonzero cost is never shown as zero", () => {
	expect([0, 0.0004, 0.126, 12].map(formatCost)).toEqual(["$0.00", "$0.0004", "$0.13", "$12.00"]);
});

test("paths are shown relative to the working directory, else to home", () => {
	const places = { cwd: "/home/ada/shop", home: "/home/ada" };
	const shown = ["/home/ada/shop", "/home/ada/shop/a.ts", "/home/ada/shopping", "/etc/hosts", "b.ts"];
	expect(shown.map((path) => displayPath(path, places))).toEqual([".", "a.ts", "~/shopping", "/etc/hosts", "b.ts"]);
	expect(homePath("/home/ada", "/home/ada")).toBe("~");
	expect(homePath("/srv", "/")).toBe("/srv");
});

test("nouns are singular or plural according to their number", () => {
	expect([plural(1, "line"), plural(0, "line"), plural(2, "entry", "entries")]).toEqual([
		"1 line",
		"0 lines",
		"2 entries",
	]);
});

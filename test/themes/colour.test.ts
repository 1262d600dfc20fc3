import fc from "fast-check";
import { expect, test } from "vitest";
import { COLOUR_NAMES, colourRgb, parseColour, reduceColour } from "../../src/themes/colour.js";

test.each([
	["#7aa2f7", { kind: "rgb", rgb: [122, 162, 247] }],
	["brightBlack", { kind: "named", index: 8 }],
	[9, { kind: "named", index: 9 }],
	[246, { kind: "indexed", index: 246 }],
	["default", { kind: "default" }],
	["#fff", null],
	["puce", null],
	["7", null],
	[256, null],
	[-1, null],
	[1.5, null],
	[true, null],
	[null, null],
])("the colour %j is read as %j", (value, colour) => {
	expect(parseColour(value)).toEqual(colour);
});

test.each([
	["#ff0000", 196, "red"],
	["#0a6b0a", 22, "green"],
	["#8a5500", 94, "yellow"],
	["#00607f", 24, "cyan"],
	["#86208f", 90, "magenta"],
	["#fefefe", 231, "brightWhite"],
	["#767676", 243, "brightBlack"],
	[246, 246, "white"],
	["cyan", "cyan", "cyan"],
])("%s comes down to %s of 256 colours and %s of sixteen", (value, of256, of16) => {
	const colour = parseColour(value);
	if (!colour) throw new Error(`${value} is no colour`);
	expect(reduceColour(colour, 2)).toEqual(parseColour(of256));
	expect(reduceColour(colour, 1)).toEqual(parseColour(of16));
	expect(reduceColour(colour, 0)).toEqual({ kind: "default" });
	expect(reduceColour(colour, 3)).toEqual(colour);
});

test("of 256 colours the nearest is never one that the user may have changed, and it is near", () => {
	const part = fc.integer({ min: 0, max: 255 });
	fc.assert(
		fc.property(part, part, part, (...rgb) => {
			const reduced = reduceColour({ kind: "rgb", rgb }, 2);
			if (reduced.kind !== "indexed") return false;
			// The cube's widest step is 95: half of it in each direction at most.
			return reduced.index >= 16 && colourRgb(reduced).every((value, at) => Math.abs(value - (rgb[at] ?? 0)) <= 95);
		}),
	);
});

test("there are sixteen names", () => {
	expect(new Set(COLOUR_NAMES).size).toBe(16);
});

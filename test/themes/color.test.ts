import fc from "fast-check";
import { expect, test } from "vitest";
import { COLOR_NAMES, colorRgb, parseColor, reduceColor } from "../../src/themes/color.js";

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
])("the color %j is parsed as %j", (value, color) => {
	expect(parseColor(value)).toEqual(color);
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
])("%s is reduced to %s with 256 colors and to %s with sixteen", (value, of256, of16) => {
	const color = parseColor(value);
	if (!color) throw new Error(`${value} is not a color`);
	expect(reduceColor(color, 2)).toEqual(parseColor(of256));
	expect(reduceColor(color, 1)).toEqual(parseColor(of16));
	expect(reduceColor(color, 0)).toEqual({ kind: "default" });
	expect(reduceColor(color, 3)).toEqual(color);
});

test("with 256 colors, a color is reduced to a near one outside the sixteen that users configure", () => {
	const channel = fc.integer({ min: 0, max: 255 });
	fc.assert(
		fc.property(channel, channel, channel, (...rgb) => {
			const reduced = reduceColor({ kind: "rgb", rgb }, 2);
			if (reduced.kind !== "indexed") return false;
			// The widest step of the cube is 95.
			return reduced.index >= 16 && colorRgb(reduced).every((value, at) => Math.abs(value - (rgb[at] ?? 0)) <= 95);
		}),
	);
});

test("the sixteen color names are unique", () => {
	expect(new Set(COLOR_NAMES).size).toBe(16);
});

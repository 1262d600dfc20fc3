import { expect, test } from "vitest";
import { type Background, type BuiltInTheme, builtInStyles } from "../../src/themes/built-in.js";
import { type Rgb, rgbOf } from "../../src/themes/color.js";
import { type ColorValue, ROLE_NAMES, type StyleSpec } from "../../src/themes/roles.js";
import { contrast } from "../helpers/contrast.js";

const PAGE: Record<Background, Rgb> = { dark: [0, 0, 0], light: [255, 255, 255] };
/** Lines and bars, which contain no text. */
const LINES = new Set(["quoteBorder", "rule"]);

/** Roles whose text has less than the given contrast, with their contrast. */
function hardToRead(name: BuiltInTheme, background: Background, least: number): string[] {
	const styles = builtInStyles(name, background);
	const rgb = (value: ColorValue | undefined, other: Rgb) => (value === undefined ? other : (rgbOf(value) ?? other));
	return ROLE_NAMES.filter((role) => !LINES.has(role) && !role.startsWith("border")).flatMap((role) => {
		const style: StyleSpec = styles[role];
		// A highlighted word keeps the color of its line.
		const line = role === "addedWord" ? styles.added : role === "removedWord" ? styles.removed : style;
		const text = rgb(style.color ?? line.color, PAGE[background === "dark" ? "light" : "dark"]);
		const ratio = contrast(text, rgb(style.background, PAGE[background]));
		return ratio < least ? [`${role} ${ratio.toFixed(2)}`] : [];
	});
}

test("high-contrast has at least 7:1 for all text on both backgrounds, and no dim text", () => {
	expect(hardToRead("high-contrast", "dark", 7)).toEqual([]);
	expect(hardToRead("high-contrast", "light", 7)).toEqual([]);
	for (const background of ["dark", "light"] as const) {
		const faint = Object.values(builtInStyles("high-contrast", background)).filter(({ dim }) => dim);
		expect(faint).toEqual([]);
	}
});

test("all text of the light theme is readable on white", () => {
	expect(hardToRead("light", "light", 4.5)).toEqual([]);
});

test("the three gutter marks differ in every theme with colors", () => {
	for (const name of ["dark", "light", "high-contrast"] as const) {
		const { gutterIn, gutterOut, gutterSummary } = builtInStyles(name, "dark");
		expect(gutterIn.color, name).toBeDefined();
		expect(new Set([gutterIn, gutterOut, gutterSummary].map((style) => JSON.stringify(style))).size, name).toBe(3);
	}
});

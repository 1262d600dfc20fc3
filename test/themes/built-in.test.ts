import { expect, test } from "vitest";
import { type Background, type BuiltInTheme, builtInStyles } from "../../src/themes/built-in.js";
import { luminance, type Rgb, rgbOf } from "../../src/themes/colour.js";
import { type ColourValue, ROLE_NAMES, type StyleSpec } from "../../src/themes/roles.js";

const PAGE: Record<Background, Rgb> = { dark: [0, 0, 0], light: [255, 255, 255] };
/** Lines and bars, which nobody reads. */
const LINES = new Set(["quoteBorder", "rule"]);

/** WCAG: 1 for the same colour, 21 for black on white. */
function contrast(a: Rgb, b: Rgb): number {
	const [bright = 0, dark = 0] = [luminance(a), luminance(b)].sort((x, y) => y - x);
	return (bright + 0.05) / (dark + 0.05);
}

/** Text that is hard to read: its role and how it stands out from what is behind it. */
function hardToRead(name: BuiltInTheme, background: Background, least: number): string[] {
	const styles = builtInStyles(name, background);
	const rgb = (value: ColourValue | undefined, other: Rgb) => (value === undefined ? other : (rgbOf(value) ?? other));
	return ROLE_NAMES.filter((role) => !LINES.has(role) && !role.startsWith("border")).flatMap((role) => {
		const style: StyleSpec = styles[role];
		// A marked word keeps the colour of its line.
		const line = role === "addedWord" ? styles.added : role === "removedWord" ? styles.removed : style;
		const text = rgb(style.color ?? line.color, PAGE[background === "dark" ? "light" : "dark"]);
		const ratio = contrast(text, rgb(style.background, PAGE[background]));
		return ratio < least ? [`${role} ${ratio.toFixed(2)}`] : [];
	});
}

test("high contrast means 7 : 1 for everything, on dark and on light, and nothing faint", () => {
	expect(hardToRead("high-contrast", "dark", 7)).toEqual([]);
	expect(hardToRead("high-contrast", "light", 7)).toEqual([]);
	for (const background of ["dark", "light"] as const) {
		const faint = Object.values(builtInStyles("high-contrast", background)).filter(({ dim }) => dim);
		expect(faint).toEqual([]);
	}
});

test("all text of the light theme can be read on white", () => {
	expect(hardToRead("light", "light", 4.5)).toEqual([]);
});

test("the three signs of the gutter differ by colour in every theme that has any", () => {
	for (const name of ["dark", "light", "high-contrast"] as const) {
		const { gutterIn, gutterOut, gutterSummary } = builtInStyles(name, "dark");
		expect(gutterIn.color, name).toBeDefined();
		expect(new Set([gutterIn, gutterOut, gutterSummary].map((style) => JSON.stringify(style))).size, name).toBe(3);
	}
});

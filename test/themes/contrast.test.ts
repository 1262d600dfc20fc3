import fc from "fast-check";
import { expect, test } from "vitest";
import { BUILT_IN_THEMES, builtInStyles } from "../../src/themes/built-in.js";
import type { ColorLevel } from "../../src/themes/color.js";
import { readableStyles } from "../../src/themes/contrast.js";
import { ROLE_NAMES, type StyleSpec, type ThemeRole, type ThemeStyles } from "../../src/themes/roles.js";

const LEVELS: readonly ColorLevel[] = [0, 1, 2, 3];
const with_ = (changes: Partial<Record<ThemeRole, StyleSpec>>): ThemeStyles => ({
	...builtInStyles("dark", "dark"),
	...changes,
});

test.each(LEVELS)("the built-in themes are readable with colors of level %s", (level) => {
	for (const background of ["dark", "light"] as const) {
		for (const name of Object.keys(BUILT_IN_THEMES) as (keyof typeof BUILT_IN_THEMES)[]) {
			if (name !== background && name !== "high-contrast") continue;
			const styles = builtInStyles(name, background);
			expect(readableStyles(styles, background, level)).toEqual(styles);
		}
	}
});

test.each<[string, Partial<Record<ThemeRole, StyleSpec>>]>([
	["text in the color of the background", { removed: { color: "#010101" }, muted: { color: "black" } }],
	["text on a background of its color", { removed: { color: "#ff8080", background: "#ff7f80" } }],
	[
		"words on a background in the color of their line",
		{ added: { color: "#909090" }, addedWord: { background: "#8f8f8f" } },
	],
	["a background like the text of the terminal", { removedWord: { background: "#d0d0d0" } }],
])("%s is replaced", (_, changes) => {
	expect(readableStyles(with_(changes), "dark", 3)).toEqual(builtInStyles("dark", "dark"));
});

test("colors that differ, but not on this terminal, are replaced", () => {
	const changes = { removed: { color: "#7a7a7a", background: "#303030" } };
	expect(readableStyles(with_(changes), "dark", 3)).toEqual(with_(changes));
	expect(readableStyles(with_(changes), "dark", 1)).toEqual(builtInStyles("dark", "dark"));
});

test("whatever a theme says, its styles are readable, and readable ones stay", () => {
	const color = fc.oneof(fc.nat({ max: 255 }), fc.constantFrom("default", "red", "black"));
	const style = fc.record({ color, background: color }, { requiredKeys: [] });
	const colors = fc.dictionary(fc.constantFrom(...ROLE_NAMES), style);
	fc.assert(
		fc.property(
			colors,
			fc.constantFrom("dark" as const, "light" as const),
			fc.constantFrom(...LEVELS),
			(theme, on, level) => {
				const readable = readableStyles({ ...builtInStyles(on, on), ...theme }, on, level);
				expect(readableStyles(readable, on, level)).toEqual(readable);
			},
		),
	);
});

import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { BUILT_IN_THEMES } from "../../src/themes/built-in.js";
import { type Rgb, rgbOf } from "../../src/themes/color.js";
import { ROLE_NAMES, type StyleSpec, type ThemeRole } from "../../src/themes/roles.js";
import { checkTheme } from "../../src/themes/theme-file.js";
import { contrast } from "../helpers/contrast.js";

const THEMES = fileURLToPath(new URL("../../themes/", import.meta.url));
/** The backgrounds of these color schemes, on which their users see them. */
const BACKGROUNDS: Readonly<Record<string, string>> = {
	"catppuccin-latte": "#eff1f5",
	"catppuccin-mocha": "#1e1e2e",
	gruvbox: "#282828",
	nord: "#2e3440",
	"solarized-dark": "#002b36",
	"solarized-light": "#fdf6e3",
};
const NAMES = readdirSync(THEMES).map((file) => file.replace(/\.json$/, ""));
/** Roles without text. */
const LINES: readonly ThemeRole[] = ["quoteBorder", "rule", "userBand"];
/** The text on a background of its own. */
const TEXT_ON: Partial<Record<ThemeRole, ThemeRole>> = { addedWord: "added", removedWord: "removed" };

function load(name: string) {
	return checkTheme(JSON.parse(readFileSync(`${THEMES}${name}.json`, "utf8")));
}

function rgb(color: StyleSpec["color"]): Rgb {
	const found = color === undefined ? null : rgbOf(color);
	if (!found) throw new Error(`No fixed color: ${color}`);
	return found;
}

test("ten themes come with pi", () => {
	expect(NAMES).toEqual(Object.keys(BACKGROUNDS));
	expect(NAMES.length + Object.keys(BUILT_IN_THEMES).length).toBe(10);
});

test.each(NAMES)("%s is valid, has a title, and styles every role itself", (name) => {
	const { theme, problems } = load(name);
	expect(problems).toEqual([]);
	expect(theme.title).toBeTruthy();
	expect(Object.keys(theme.colors).sort()).toEqual([...ROLE_NAMES].sort());
});

test.each(NAMES)("all text of %s has at least 4.5:1 on the scheme's background, and on black or white", (name) => {
	const { colors, base } = load(name).theme;
	const pages = [BACKGROUNDS[name], base === "dark" ? "#000000" : "#ffffff"].map(rgb);
	const hardToRead = ROLE_NAMES.filter((role) => !LINES.includes(role) && !role.startsWith("border")).flatMap(
		(role) => {
			const style = colors[role] ?? {};
			const behind = role === "userText" ? colors.userBand?.background : style.background;
			const ink = rgb(style.color ?? colors[TEXT_ON[role] ?? role]?.color);
			const least = Math.min(...(behind === undefined ? pages : [rgb(behind)]).map((page) => contrast(ink, page)));
			return least < 4.5 ? [`${role} ${least.toFixed(2)}`] : [];
		},
	);
	expect(hardToRead).toEqual([]);
});

test.each(NAMES)("the gutter marks of %s differ, and so do added and removed lines", (name) => {
	const { gutterIn, gutterOut, gutterSummary, added, removed } = load(name).theme.colors;
	expect(new Set([gutterIn, gutterOut, gutterSummary].map((style) => JSON.stringify(style))).size).toBe(3);
	expect(added).not.toEqual(removed);
});

import { expect, test } from "vitest";
import { builtInStyles } from "../../src/themes/built-in.js";
import { checkTheme, themeStyles } from "../../src/themes/theme-file.js";
import { themeSchema } from "../../src/themes/theme-schema.js";

test("a theme overrides the roles it names and inherits the others", () => {
	const { theme, problems } = checkTheme({
		$schema: "https://example.org/theme.schema.json",
		name: "Dusk",
		base: "light",
		colors: { accent: "#7aa2f7", heading: { color: "magenta", bold: true }, dim: 244 },
	});
	expect(problems).toEqual([]);
	expect(themeStyles(theme, "dark")).toEqual({
		...builtInStyles("light", "dark"),
		accent: { color: "#7aa2f7" },
		heading: { color: "magenta", bold: true },
		dim: { color: 244 },
	});
});

test("a theme without a base and a high-contrast theme depend on the terminal's background", () => {
	expect(themeStyles(checkTheme({}).theme, "light")).toEqual(builtInStyles("light", "light"));
	expect(themeStyles(checkTheme({}).theme, "dark")).toEqual(builtInStyles("dark", "dark"));
	const { theme } = checkTheme({ base: "high-contrast" });
	expect(themeStyles(theme, "light")).toEqual(builtInStyles("high-contrast", "light"));
});

test("invalid values are reported by key and ignored, the rest applies", () => {
	const { theme, problems } = checkTheme({
		name: 7,
		base: "neon",
		colours: {},
		colors: {
			accent: "puce",
			acent: "red",
			dim: 244,
			error: { color: 999, background: "blue", bold: "yes", blink: true },
			code: [],
		},
	});
	const forms = "#rrggbb, 0 to 255, default, or a name such as red or brightRed";
	expect(problems).toEqual([
		"name must be a string",
		"base must be one of dark, light, high-contrast",
		`colors.accent must be a color (${forms}) or an object of color, background and attributes`,
		`colors.error.color must be a color (${forms})`,
		"colors.error.bold must be true or false",
		`colors.code must be a color (${forms}) or an object of color, background and attributes`,
		'unknown "colours", "colors.acent", "colors.error.blink"; ignored',
	]);
	expect(theme).toEqual({ colors: { dim: { color: 244 }, error: { background: "blue" } } });
});

test("names of Object.prototype are not roles", () => {
	const { theme, problems } = checkTheme(JSON.parse('{"colors": {"__proto__": "red", "toString": "red"}}'));
	expect(problems).toEqual(['unknown "colors.__proto__", "colors.toString"; ignored']);
	expect(Object.keys(theme.colors)).toEqual([]);
});

test("docs/theme.schema.json is the generated schema", async () => {
	await expect(`${JSON.stringify(themeSchema(), null, "\t")}\n`).toMatchFileSnapshot("../../schemas/theme.json");
});

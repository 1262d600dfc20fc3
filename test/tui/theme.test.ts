import { expect, test } from "vitest";
import { builtInStyles } from "../../src/themes/built-in.js";
import type { ColorLevel } from "../../src/themes/color.js";
import { createTheme } from "../../src/tui/theme.js";
import { loadHighlighter } from "../../src/util/highlight.js";

test("the plain theme has no escape sequences", async () => {
	await loadHighlighter();
	const theme = createTheme("plain");
	const styled = [
		theme.accent("x"),
		theme.dim("x"),
		theme.error("x"),
		theme.addedWord("x"),
		theme.thinking("x"),
		theme.gutterSummary("x"),
		theme.thinkingBorder("high")("x"),
		theme.markdown.heading("x"),
		theme.selectList.selectedText("x"),
	];
	expect(styled).toEqual(styled.map(() => "x"));
	expect(theme.markdown.highlightCode?.("const a = 1;", "ts")).toEqual(["const a = 1;"]);
});

test("the outer style continues after an inner one", () => {
	const theme = createTheme("dark");
	expect(theme.error(`a${theme.accent("b")}c`)).toBe("\x1b[31ma\x1b[36mb\x1b[39m\x1b[31mc\x1b[39m");
});

test("code is highlighted line by line; unknown languages and very long code stay plain", async () => {
	await loadHighlighter();
	const highlight = createTheme("dark").markdown.highlightCode;
	expect(highlight?.("/* a\nb */ x < 1 && `y`", "ts")).toEqual([
		"\x1b[2m/* a\x1b[22m",
		"\x1b[2mb */\x1b[22m x < \x1b[33m1\x1b[39m && \x1b[32m`y`\x1b[39m",
	]);
	expect(highlight?.("x\n<b>", "nonsense")).toEqual(["x", "<b>"]);
	expect(highlight?.("let x;\n".repeat(20_000), "ts")).toHaveLength(20_001);
	expect(highlight?.("let x;\n".repeat(20_000), "ts")[0]).toBe("let x;");
});

test("a theme's custom colors are reduced to those of the terminal", () => {
	const theme = (level: ColorLevel) =>
		createTheme(
			{
				name: "own",
				styles: {
					...builtInStyles("dark", "dark"),
					accent: { color: "#ff8700", bold: true },
					addedWord: { background: "#005f00" },
					error: { color: "brightRed", background: "black" },
					dim: { color: "default" },
				},
			},
			level,
		);
	const drawn = ([1, 2, 3] as const).map((level) => {
		const { accent, addedWord, error, dim, muted } = theme(level);
		return [accent, addedWord, error, dim, muted].map((style) => style("x").replaceAll("\x1b", ""));
	});
	expect(drawn).toEqual([
		["[33m[1mx[22m[39m", "[7mx[27m", "[40m[91mx[39m[49m", "x", "[37mx[39m"],
		["[38;5;208m[1mx[22m[39m", "[48;5;22mx[49m", "[40m[91mx[39m[49m", "x", "[38;5;246mx[39m"],
		["[38;2;255;135;0m[1mx[22m[39m", "[48;2;0;95;0mx[49m", "[40m[91mx[39m[49m", "x", "[38;5;246mx[39m"],
	]);
	expect(theme(0).accent("x")).toBe("x");
	expect(theme(0).name).toBe("plain");
});

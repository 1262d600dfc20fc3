import { visibleWidth } from "@mariozechner/pi-tui";
import { expect, test } from "vitest";
import { drawMarkdown } from "../../src/tui/draw-markdown.js";
import { createTheme } from "../../src/tui/theme.js";

const theme = createTheme("dark");

function plain(source: string, width: number): string[] {
	return drawMarkdown(source, width, theme).map((line) => line.replace(/\x1b\[[\d;]*m/g, ""));
}

test("wrapped lines of a list stand below its text, at every depth", () => {
	const source = [
		"- one two three four five",
		"  six seven eight",
		"  - a list **in a list that** goes on and on",
		"",
		"10. ten eleven twelve thirteen",
	].join("\n");
	expect(plain(source, 24)).toEqual([
		"- one two three four",
		"  five",
		"  six seven eight",
		"  - a list in a list",
		"    that goes on and on",
		"",
		"10. ten eleven twelve",
		"    thirteen",
	]);
});

test("a line break within an item stands below its text too, however short the lines are", () => {
	expect(plain("- one\n  two\n- [ ] three\n  four", 40)).toEqual(["- one", "  two", "- [ ] three", "  four"]);
});

test("a style goes on in the lines below, and the indent has none", () => {
	const [, second] = drawMarkdown("- **bold text that does not fit**", 20, theme);
	expect(second).toBe("  \x1b[1mdoes not fit\x1b[22m");
});

test("lists in a quote hang too, and where there is no room for it nothing hangs", () => {
	expect(plain("> - one two three four five six", 20)).toEqual(["│ - one two three", "│   four five six"]);
	expect(plain("- one two three", 10)).toEqual(["- one two", "three"]);
});

test("a code block shows its language when it has one, and never its fences", () => {
	const source = "text\n\n```ts\nlet a;\n\nlet b;\n```\n\n~~~\nplain\n~~~\n- item\n\n  ```sh\n  ls\n  ```\nend";
	expect(plain(source, 40)).toEqual([
		"text",
		"",
		"ts",
		"  let a;",
		"",
		"  let b;",
		"",
		"  plain",
		"",
		"- item",
		"  sh",
		"    ls",
		"end",
	]);
});

test("items of a to-do list keep their boxes, at every depth", () => {
	const source = "- [ ] one\n- [x] two `code`\n  - [x] three\n- four\n1. [ ] five";
	expect(plain(source, 40)).toEqual(["- [ ] one", "- [x] two code", "  - [x] three", "- four", "1. [ ] five"]);
});

test("a long line of code goes on further in than it begins", () => {
	expect(plain("```ts\n  return one + two + three + four;\n```", 24)).toEqual([
		"ts",
		"    return one + two +",
		"      three + four;",
	]);
});

test("no line is wider than the screen", () => {
	const source = "- one `two` [three](http://example.org/four) **five six**\n  1. seven\n\n> quote\n\n```\ncode\n```";
	for (let width = 1; width < 40; width += 1) {
		for (const line of drawMarkdown(source, width, theme)) expect(visibleWidth(line)).toBeLessThanOrEqual(width);
	}
});

import { visibleWidth } from "@mariozechner/pi-tui";
import { expect, test } from "vitest";
import { drawMarkdown } from "../../src/tui/draw-markdown.js";
import { createTheme } from "../../src/tui/theme.js";

const theme = createTheme("dark");

function plain(source: string, width: number): string[] {
	return drawMarkdown(source, width, theme).map((line) => line.replace(/\x1b\[[\d;]*m/g, ""));
}

test("wrapped lines of a list item align with its text at every depth", () => {
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

test("text after a line break in a list item aligns with the item's text", () => {
	expect(plain("- one\n  two\n- [ ] three\n  four", 40)).toEqual(["- one", "  two", "- [ ] three", "  four"]);
});

test("a style continues in wrapped lines but not in their indent", () => {
	const [, second] = drawMarkdown("- **bold text that does not fit**", 20, theme);
	expect(second).toBe("  \x1b[1mdoes not fit\x1b[22m");
});

test("lists in a quote are indented too, except on a screen that is too narrow", () => {
	expect(plain("> - one two three four five six", 20)).toEqual(["│ - one two three", "│   four five six"]);
	expect(plain("- one two three", 10)).toEqual(["- one two", "three"]);
});

test("a code block shows its language, if it has one, and never its fences", () => {
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

test("to-do items keep their boxes at every depth", () => {
	const source = "- [ ] one\n- [x] two `code`\n  - [x] three\n- four\n1. [ ] five";
	expect(plain(source, 40)).toEqual(["- [ ] one", "- [x] two code", "  - [x] three", "- four", "1. [ ] five"]);
});

test("a long line of code continues with a deeper indent", () => {
	expect(plain("```ts\n  return one + two + three + four;\n```", 24)).toEqual([
		"ts",
		"    return one + two +",
		"      three + four;",
	]);
});

test("dollar signs and escaped brackets are text, not formulas", () => {
	expect(drawMarkdown("Set $(CC) to $HOME/bin and **run** it", 60, theme)).toEqual([
		"Set $(CC) to $HOME/bin and \x1b[1mrun\x1b[22m it",
	]);
	expect(plain("a\\[i\\] and \\(b\\) in $$x^2$$", 60)).toEqual(["a[i] and (b) in $$x^2$$"]);
	expect(plain("~/a and ~/b, ~~c~~", 60)).toEqual(["~/a and ~/b, c"]);
});

test("headings of every level have no hashes", () => {
	const levels = ["#", "##", "###", "####", "#####", "######"];
	expect(plain(levels.map((hashes) => `${hashes} A *b* \`c\``).join("\n"), 40)).toEqual(
		levels.flatMap((_, at) => (at > 0 ? ["", "A b c"] : ["A b c"])),
	);
	expect(plain("- # Title\n- > ### Quoted", 40)).toEqual(["- Title", "- │ Quoted"]);
});

test("paragraphs, code and tables in nested lists align with the text of their item", () => {
	const source = [
		"10. one",
		"",
		"    two",
		"    - three",
		"",
		"      four",
		"",
		"      ```sh",
		"      ls",
		"      ```",
		"",
		"      | a | b |",
		"      |---|---|",
		"      | 1 | 2 |",
		"11. five",
	].join("\n");
	expect(plain(source, 40)).toEqual([
		"10. one",
		"",
		"    two",
		"    - three",
		"",
		"      four",
		"      sh",
		"        ls",
		"      a  b",
		"      ────",
		"      1  2",
		"",
		"11. five",
	]);
});

test("the columns of a table are aligned as its source says, with one rule under the head", () => {
	const source =
		"| Left | Right | Center | None |\n|:--|--:|:-:|---|\n| a | 1 | x | *y* |\n| bbbbbb | 12.5 | xyz | `z` |\n\nend";
	expect(plain(source, 40)).toEqual([
		"Left    Right  Center  None",
		"───────────────────────────",
		"a           1    x     y",
		"bbbbbb   12.5   xyz    z",
		"",
		"end",
	]);
	expect(plain("> | a | b |\n> |---|--:|\n> | 1 | 22 |", 40)).toEqual(["│ a   b", "│ ─────", "│ 1  22"]);
});

test("a table that is too wide wraps its cells, and becomes a list when its words do not fit", () => {
	const source = "| Name | Meaning |\n|---|--:|\n| alpha | one two three four |\n| beta | five |";
	expect(plain(source, 18)).toEqual([
		"Name       Meaning",
		"──────────────────",
		"alpha      one two",
		"        three four",
		"beta          five",
	]);
	expect(plain("| Name | |\n|---|---|\n| alphabet | one two |\n| b | |", 12)).toEqual([
		"Name:",
		"alphabet",
		"one two",
		"────────────",
		"Name: b",
	]);
});

test("the style of a wrapped cell ends at its edge", () => {
	const [, , first] = drawMarkdown("| a | b |\n|---|---|\n| **one two three** | plain |", 16, theme);
	expect(first).toBe("\x1b[1mone two\x1b[0m    plain");
});

test("no line is wider than the screen", () => {
	const source =
		"| table | with |\n|:-:|--:|\n| `some` | **wide words** |\n\n- one `two` [three](http://example.org/four) **five six**\n  1. seven\n\n> quote\n\n```\ncode\n```";
	for (let width = 1; width < 40; width += 1) {
		for (const line of drawMarkdown(source, width, theme)) expect(visibleWidth(line)).toBeLessThanOrEqual(width);
	}
});

test("nested lists have the same indent in every theme, and bullets in the theme's color", () => {
	const source = "- one\n  - two\n    1. three";
	const light = drawMarkdown(source, 20, createTheme("light"));
	expect(light).toEqual(
		[0, 2, 4].map(
			(indent, at) =>
				`${" ".repeat(indent)}${createTheme("light").markdown.listBullet(at < 2 ? "- " : "1. ")}${["one", "two", "three"][at]}`,
		),
	);
	expect(drawMarkdown(source, 20, createTheme("plain"))).toEqual(["- one", "  - two", "    1. three"]);
});

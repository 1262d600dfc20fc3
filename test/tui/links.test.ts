import { visibleWidth } from "@mariozechner/pi-tui";
import fc from "fast-check";
import { beforeEach, expect, onTestFinished, test } from "vitest";
import { drawMarkdown } from "../../src/tui/draw-markdown.js";
import { linkAddress, showLinks, withoutLinks } from "../../src/tui/links.js";
import { createTheme } from "../../src/tui/theme.js";
import { anyText } from "../helpers/any-text.js";

beforeEach(() => {
	showLinks(true);
	onTestFinished(() => showLinks(false));
});

/** Lines with links as `<address|text>` and without styles. */
function drawn(source: string, width = 60): string[] {
	return drawMarkdown(source, width, createTheme("plain")).map((line) =>
		line
			.replace(/\x1b\]8;;([^\x1b\x07]+)(?:\x1b\\|\x07)/g, "<$1|")
			.replace(/\x1b\]8;;(?:\x1b\\|\x07)/g, ">")
			.replace(/\x1b\[[\d;]*m/g, ""),
	);
}

test("a link's text is clickable and its address is not shown", () => {
	expect(drawn("see [the docs](https://example.org/a?b=1#c) and <me@example.org>")).toEqual([
		"see <https://example.org/a?b=1#c|the docs> and <mailto:me@example.org|me@example.org>",
	]);
});

test("a link continues in wrapped lines, also in lists, tables and quotes, and ends at each line end", () => {
	expect(drawn("[one two three four](http://a.b/)", 10)).toEqual(["<http://a.b/|one two>", "<http://a.b/|three four>"]);
	expect(drawn("- [one two three four](http://a.b/)", 14)).toEqual([
		"- <http://a.b/|one two>",
		"  <http://a.b/|three four>",
	]);
	const source = "> [one two three four](http://a.b/) five\n\n| a |\n|---|\n| [one two three](http://a.b/) |";
	for (const line of drawn(source, 14)) expect(line.split("<").length).toBe(line.split(">").length);
});

test("without clickable links the address follows the text", () => {
	showLinks(false);
	expect(drawn("[the docs](https://example.org)")).toEqual(["the docs (https://example.org)"]);
});

test("a link with a forbidden address is text followed by the address", () => {
	expect(drawn("[run me](javascript:alert) [app](vscode://x) [x](./rel.md)")).toEqual([
		"run me (javascript:alert) app (vscode://x) x (./rel.md)",
	]);
});

test("a link whose text is another address shows its real address", () => {
	expect(drawn("[https://bank.example](https://evil.example/x)\n[www.a.example](https://www.a.example/)", 80)).toEqual([
		"<https://evil.example/x|https://bank.example> (https://evil.example/x)",
		"<https://www.a.example/|www.a.example>",
	]);
});

test.each([
	["https://example.org", "https://example.org/"],
	["HTTP://ex\u00e4mple.org/\u202e", "http://xn--exmple-cua.org/%E2%80%AE"],
	["file:///tmp/a b", "file:///tmp/a%20b"],
	["mailto:a@b.c", "mailto:a@b.c"],
	["https://example.org/\x1b\\\x07/", "https://example.org/%1B/%07/"],
	["mailto:a b", null],
	["javascript:alert(1)", null],
	["data:text/html,x", null],
	["relative/path", null],
])("the address %j becomes %j", (address, safe) => expect(linkAddress(address)).toBe(safe));

test("no address contains control characters or is longer than a terminal accepts", () => {
	expect(linkAddress(`https://example.org/${"x".repeat(2_000)}`)).toBeNull();
	fc.assert(
		fc.property(fc.constantFrom("http://a.b/", "mailto:", "file://"), anyText(), (start, rest) => {
			expect(linkAddress(start + rest) ?? "x").toMatch(/^[\x21-\x7e]{1,2000}$/);
		}),
	);
});

test("removing links keeps their text, and links have no width", () => {
	const [line = ""] = drawMarkdown("a [b](http://x.y) c", 40, createTheme("plain"));
	expect(visibleWidth(line)).toBe(5);
	expect(withoutLinks(line)).toBe("a b c");
});

import { visibleWidth } from "@mariozechner/pi-tui";
import fc from "fast-check";
import { beforeEach, expect, onTestFinished, test } from "vitest";
import { drawMarkdown } from "../../src/tui/draw-markdown.js";
import { linkAddress, showLinks, withoutLinks } from "../../src/tui/links.js";
import { createTheme } from "../../src/tui/theme.js";

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

test("the text of a link leads to its address, which is not written out", () => {
	expect(drawn("see [the docs](https://example.org/a?b=1#c) and <me@example.org>")).toEqual([
		"see <https://example.org/a?b=1#c|the docs> and <mailto:me@example.org|me@example.org>",
	]);
});

test("a link goes on in the lines below, in lists, tables and quotes too, and is closed at the end of each", () => {
	expect(drawn("[one two three four](http://a.b/)", 10)).toEqual(["<http://a.b/|one two>", "<http://a.b/|three four>"]);
	expect(drawn("- [one two three four](http://a.b/)", 14)).toEqual([
		"- <http://a.b/|one two>",
		"  <http://a.b/|three four>",
	]);
	const source = "> [one two three four](http://a.b/) five\n\n| a |\n|---|\n| [one two three](http://a.b/) |";
	for (const line of drawn(source, 14)) expect(line.split("<").length).toBe(line.split(">").length);
});

test("where links cannot be clicked the address stands behind the text", () => {
	showLinks(false);
	expect(drawn("[the docs](https://example.org)")).toEqual(["the docs (https://example.org)"]);
});

test("what must not be opened is text, its address written out", () => {
	expect(drawn("[run me](javascript:alert) [app](vscode://x) [x](./rel.md)")).toEqual([
		"run me (javascript:alert) app (vscode://x) x (./rel.md)",
	]);
});

test("a text that names another address does not hide where it leads", () => {
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

test("no address holds what a terminal would take for a command, and none is longer than a terminal takes", () => {
	expect(linkAddress(`https://example.org/${"x".repeat(2_000)}`)).toBeNull();
	fc.assert(
		fc.property(fc.constantFrom("http://a.b/", "mailto:", "file://"), fc.string({ unit: "binary" }), (start, rest) => {
			expect(linkAddress(start + rest) ?? "x").toMatch(/^[\x21-\x7e]{1,2000}$/);
		}),
	);
});

test("taking links out leaves their text, and links count nothing into the width", () => {
	const [line = ""] = drawMarkdown("a [b](http://x.y) c", 40, createTheme("plain"));
	expect(visibleWidth(line)).toBe(5);
	expect(withoutLinks(line)).toBe("a b c");
});

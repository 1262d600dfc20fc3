import { join } from "node:path";
import { expect, test } from "vitest";
import { readMarkdown, textField } from "../../src/resources/front-matter.js";
import { tempDir, writeFiles } from "../helpers/temp.js";

/** Reads a Markdown file with this text. */
function read(text: string) {
	const directory = tempDir();
	writeFiles(directory, { "a.md": text });
	return readMarkdown(join(directory, "a.md"));
}

test.each([
	["no front matter", "# Title\ntext\n", { fields: {}, body: "# Title\ntext" }],
	["front matter", "---\nname: a\nlist: [1]\n---\n\ntext\n", { fields: { name: "a", list: [1] }, body: "text" }],
	[
		"Windows line endings and a byte order mark",
		"\ufeff---\r\nname: a\r\n---\r\ntext",
		{ fields: { name: "a" }, body: "text" },
	],
	["an empty block", "---\n---\ntext", { fields: {}, body: "text" }],
	[
		"an unclosed block",
		"---\nname: a\ntext",
		{ fields: {}, body: "---\nname: a\ntext", problem: "1: the front matter has no closing --- line" },
	],
	["a horizontal rule at its start", "---\n\ntext", { fields: {}, body: "---\n\ntext" }],
	[
		"a list instead of fields",
		"---\n- a\n---\ntext",
		{ fields: {}, body: "text", problem: "2: the front matter must consist of fields such as name: value" },
	],
	["a horizontal rule after text", "text\n---\nmore", { fields: {}, body: "text\n---\nmore" }],
])("a file with %s is parsed", async (_name, text, expected) => {
	const { lines: _, ...rest } = await read(text);
	expect(rest).toEqual(expected);
});

test("the line of each field is that in the file", async () => {
	const { lines } = await read('---\n# note\nname: a\n\nmetadata:\n  x: 1\n  "y": 2\nlist: [1]\n---\ntext');
	expect([...lines]).toEqual(Object.entries({ name: 3, metadata: 5, "metadata.x": 6, "metadata.y": 7, list: 8 }));
});

test("the problem of an invalid block names the line in the file", async () => {
	const { problem, body } = await read('---\nname: a\nother: "x\n---\ntext');
	expect(body).toBe("text");
	expect(problem).toMatch(/^\d: /);
});

test("aliases that multiply are not expanded", async () => {
	const bomb = `---\na: &a [x,x,x,x,x,x,x,x,x]\n${"bcdefgh"
		.split("")
		.map((name, index) => `${name}: &${name} [${Array(9).fill(`*${"abcdefgh"[index]}`).join(",")}]`)
		.join("\n")}\n---\n`;
	expect((await read(bomb)).fields).toEqual({});
});

test("textField returns one line", () => {
	const fields = { a: " x\n y ", b: 3, c: "", d: true };
	expect(["a", "b", "c", "d", "toString"].map((name) => textField(fields, name))).toEqual([
		"x y",
		"3",
		undefined,
		undefined,
		undefined,
	]);
});

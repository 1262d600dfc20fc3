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
	["an unclosed block", "---\nname: a\ntext", { fields: {}, body: "---\nname: a\ntext" }],
	["a list instead of fields", "---\n- a\n---\ntext", { fields: {}, body: "text" }],
	["a horizontal rule after text", "text\n---\nmore", { fields: {}, body: "text\n---\nmore" }],
])("a file with %s is parsed", async (_name, text, expected) => {
	expect(await read(text)).toEqual(expected);
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

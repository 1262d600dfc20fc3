import { expect, test } from "vitest";
import { parseFrontMatter, textField } from "../../src/resources/front-matter.js";

test.each([
	["none", "# Title\ntext\n", { fields: {}, body: "# Title\ntext" }],
	["some", "---\nname: a\nlist: [1]\n---\n\ntext\n", { fields: { name: "a", list: [1] }, body: "text" }],
	[
		"Windows line ends and a byte order mark",
		"\ufeff---\r\nname: a\r\n---\r\ntext",
		{ fields: { name: "a" }, body: "text" },
	],
	["an empty block", "---\n---\ntext", { fields: {}, body: "text" }],
	["a block that is not closed", "---\nname: a\ntext", { fields: {}, body: "---\nname: a\ntext" }],
	["a list in place of fields", "---\n- a\n---\ntext", { fields: {}, body: "text" }],
	["a rule further down", "text\n---\nmore", { fields: {}, body: "text\n---\nmore" }],
])("%s", async (_name, text, expected) => {
	expect(await parseFrontMatter(text)).toEqual(expected);
});

test("a broken block is named with the line in the file", async () => {
	const { problem, body } = await parseFrontMatter('---\nname: a\nother: "x\n---\ntext');
	expect(body).toBe("text");
	expect(problem).toMatch(/^line \d: /);
});

test("aliases that multiply are not expanded", async () => {
	const bomb = `---\na: &a [x,x,x,x,x,x,x,x,x]\n${"bcdefgh"
		.split("")
		.map((name, index) => `${name}: &${name} [${Array(9).fill(`*${"abcdefgh"[index]}`).join(",")}]`)
		.join("\n")}\n---\n`;
	expect((await parseFrontMatter(bomb)).fields).toEqual({});
});

test("a text field is one line", () => {
	const fields = { a: " x\n y ", b: 3, c: "", d: true };
	expect(["a", "b", "c", "d", "toString"].map((name) => textField(fields, name))).toEqual([
		"x y",
		"3",
		undefined,
		undefined,
		undefined,
	]);
});

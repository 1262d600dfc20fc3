import { chmod, lstat, readdir, readFile, stat, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { editTool } from "../../src/tools/edit.js";
import { textOf, toolContext } from "./context.js";

/** Runs one call on a file with this content. @returns the result and the content afterwards */
async function edit(content: string | Buffer, args: Omit<Parameters<typeof editTool.run>[0], "path">) {
	const context = await toolContext();
	const file = join(context.cwd, "a.txt");
	await writeFile(file, content);
	const result = await editTool.run({ path: "a.txt", ...args }, context);
	return { result, text: textOf(result), after: await readFile(file, "utf8"), dir: await readdir(context.cwd) };
}

test("the text is replaced, the result names the line, and the details contain the diff", async () => {
	const { result, after, dir } = await edit("one\ntwo\nthree\n", { oldText: "two", newText: "2\n2b" });
	expect(after).toBe("one\n2\n2b\nthree\n");
	expect(dir).toEqual(["a.txt"]);
	expect(result).toEqual({
		content: [{ type: "text", text: "Edited a.txt: 1 place (line 2), 2 lines added, 1 removed." }],
		details: { diff: "  1 one\n- 2 two\n+ 2 2\n+ 3 2b\n  4 three", added: 2, removed: 1 },
	});
});

test("several edits are matched against the unchanged file", async () => {
	const { after, text } = await edit("a\nb\nc\n", {
		edits: [
			{ oldText: "c", newText: "a" },
			{ oldText: "a", newText: "b" },
			{ oldText: "b", newText: "c" },
		],
	});
	expect(after).toBe("b\nc\na\n");
	expect(text).toContain("3 places (lines 1, 2, 3)");
});

test("overlapping edits are rejected, and the file is unchanged", async () => {
	const { result, text, after } = await edit("one\ntwo\nthree\n", {
		edits: [
			{ oldText: "two\nthree", newText: "x" },
			{ oldText: "one\ntwo", newText: "y" },
		],
	});
	expect(result.isError).toBe(true);
	expect(text).toBe("a.txt was not changed: Edits 1 and 2 overlap at line 2. Combine them into one edit.");
	expect(after).toBe("one\ntwo\nthree\n");
});

test("adjacent edits are made", async () => {
	const { after } = await edit("ab", {
		edits: [
			{ oldText: "a", newText: "1" },
			{ oldText: "b", newText: "2" },
		],
	});
	expect(after).toBe("12");
});

test("if one of several edits fails, none is made", async () => {
	const { text, after } = await edit("one\ntwo\n", {
		edits: [
			{ oldText: "one", newText: "1" },
			{ oldText: "three", newText: "3" },
		],
	});
	expect(text).toContain("oldText of edit 2 was not found.");
	expect(after).toBe("one\ntwo\n");
});

test("an ambiguous text is rejected with the lines of its matches", async () => {
	const { result, text } = await edit("x = 1\ny\nx = 1\nx = 1\n", { oldText: "x = 1", newText: "x = 2" });
	expect(result.isError).toBe(true);
	expect(text).toContain("oldText matches 3 places (lines 1, 3, 4). Add surrounding lines");
});

test("replaceAll changes every place, and the result names the first ten lines", async () => {
	const { text, after } = await edit("x = 1\ny\nx = 1\n", { oldText: "x", newText: "z", replaceAll: true });
	expect(after).toBe("z = 1\ny\nz = 1\n");
	expect(text).toContain("2 places (lines 1, 3), 2 lines added, 2 removed.");
	const many = await edit("a\n".repeat(12), { oldText: "a", newText: "b", replaceAll: true });
	expect(many.text).toContain("12 places (lines 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, …)");
	const several = [
		{ oldText: "y", newText: "Y" },
		{ oldText: "x", newText: "z", replaceAll: true },
	];
	expect((await edit("x y x\n", { edits: several })).after).toBe("z Y z\n");
	const unclear = await edit("x y x\n", { edits: several, replaceAll: true });
	expect(unclear.text).toBe("Give replaceAll in those edits that it is for.");
	expect(unclear.after).toBe("x y x\n");
});

test("overlapping matches also make a text ambiguous", async () => {
	expect((await edit("aaa", { oldText: "aa", newText: "b" })).text).toContain("matches 2 places");
});

test.each([
	["carriage returns", "one\r\ntwo\r\nthree\r\n", "one\ntwo", "1\n2", "1\r\n2\r\nthree\r\n"],
	["carriage returns in the call only", "one\ntwo\n", "one\r\ntwo", "1\r\n2", "1\n2\n"],
	["a byte order mark", "\uFEFFone\ntwo\n", "one", "1", "\uFEFF1\ntwo\n"],
	["mixed line endings on other lines", "a\r\nb\nc\r\nd\r\n", "c", "C", "a\r\nb\nC\r\nd\r\n"],
	["a missing newline at the end", "one\ntwo", "two", "2", "one\n2"],
])("edits preserve %s", async (_name, before, oldText, newText, expected) => {
	expect((await edit(before, { oldText, newText })).after).toBe(expected);
});

test.each([
	["trailing whitespace in the file", "if (a) {  \n\tb();\t\n}\n", "if (a) {\n\tb();\n}", "c();", "c();\n"],
	["trailing whitespace in the call", "one\ntwo\n", "one  \ntwo  ", "1\n2", "1\n2\n"],
	["typographic quotes", "say(“hi”, ‘x’)\n", "say(\"hi\", 'x')", "say()", "say()\n"],
	["dashes and no-break spaces", "a\u00A0–\u202Fb\n", "a - b", "c", "c\n"],
	["control characters that the read tool does not show", "a\x1b[1mb\n", "a[1mb", "plain", "plain\n"],
])("a match ignores %s", async (_name, before, oldText, newText, expected) => {
	const { after, text } = await edit(before, { oldText, newText });
	expect(after).toBe(expected);
	expect(text).toContain("matched only after ignoring");
});

test("an exact match takes precedence over a tolerant one", async () => {
	const { after } = await edit('“a”\n"a"\n', { oldText: '"a"', newText: "b" });
	expect(after).toBe("“a”\nb\n");
});

test("lines that a tolerant match only quotes keep their spelling", async () => {
	const { after } = await edit("“first”  \nsecond\n‘third’\n", {
		oldText: "\"first\"\nsecond\n'third'",
		newText: "\"first\"\n2\n'third'",
	});
	expect(after).toBe("“first”  \n2\n‘third’\n");
});

test("trailing whitespace in oldText matches only at the end of a line", async () => {
	expect((await edit("ab\nabc\n", { oldText: "ab \n", newText: "x\n" })).after).toBe("x\nabc\n");
	expect((await edit("ab\nabc\n", { oldText: "ab ", newText: "x" })).after).toBe("x\nabc\n");
});

test("indentation must match, and the error names the lines", async () => {
	const { result, text } = await edit("\t\tif (a)\n\t\t\tb();\n", { oldText: "if (a)\n    b();", newText: "c();" });
	expect(result.isError).toBe(true);
	expect(text).toContain("Lines 1-2 differ only in whitespace");
});

test("the error for a text that matches partly names the first different line", async () => {
	const { text } = await edit("one\ntwo\nthree\n", { oldText: "one\ntwo\n3", newText: "x" });
	expect(text).toContain('Lines 1-3 are the nearest place, but line 3 is "three", not "3".');
});

test.each([
	[
		"whose first line differs",
		"function a(x) {\n\treturn x + 1;\n}\n",
		"function b(x) {\n\treturn x + 1;\n}",
		'Lines 1-3 are the nearest place, but line 1 is "function a(x) {", not "function b(x) {".',
	],
	[
		"of one line",
		"const total = sum(items, 2);\n",
		"const total = sum(items);",
		"Line 1 is the nearest place, but line 1 is",
	],
	["that resembles nothing", "one\ntwo\n", "completely(different)", "Read the file again"],
])("the error for a text %s names the nearest place", async (_, content, oldText, words) => {
	const { text, after } = await edit(content, { oldText, newText: "x" });
	expect(text).toContain(words);
	expect(after).toBe(content);
});

test.each([
	["complete lines", "a\nb\nc\n", "b", "a\nc\n"],
	["several lines", "a\r\nb\r\nc\r\nd\r\n", "b\nc", "a\r\nd\r\n"],
	["the last line without a line end", "a\nb", "b", "a\n"],
	["lines with their line end", "a\nb\nc\n", "b\n", "a\nc\n"],
	["a part of a line", "a\nb c\nd\n", " c", "a\nb\nd\n"],
	["the start of a line", "a\nb c\nd\n", "b ", "a\nc\nd\n"],
])("an empty newText deletes %s and leaves no empty line", async (_, content, oldText, expected) => {
	expect((await edit(content, { oldText, newText: "" })).after).toBe(expected);
});

test("an edit that was already made is recognized", async () => {
	const { text } = await edit("const answer = 42;\n", { oldText: "const answer = 41;", newText: "const answer = 42;" });
	expect(text).toContain("newText is already in the file, at line 1");
});

test.each([
	[{}, "Missing oldText and newText."],
	[{ oldText: "a" }, "Missing newText."],
	[{ newText: "a" }, "Missing oldText."],
	[{ edits: [] }, "Missing oldText and newText."],
	[{ oldText: "a", newText: "b", edits: [{ oldText: "a", newText: "b" }] }, "not both."],
	[{ oldText: "", newText: "b" }, "oldText is empty."],
	[{ oldText: "a", newText: "a" }, "nothing would change."],
])("the arguments %j are rejected", async (args, message) => {
	const { result, text, after } = await edit("a\n", args);
	expect(result.isError).toBe(true);
	expect(text).toContain(message);
	expect(after).toBe("a\n");
});

test.each([
	["a binary file", Buffer.from([0, 1, 2])],
	["not UTF-8 text", Buffer.from("h\xe4llo", "latin1")],
	["not UTF-8 text", Buffer.from("\uFEFFhi", "utf16le")],
])("a file that is %s is not changed", async (kind, content) => {
	const { result, text } = await edit(content, { oldText: "h", newText: "x" });
	expect(result.isError).toBe(true);
	expect(text).toContain(`a.txt is ${kind}`);
});

test("link and mode are preserved, and missing files and pi's own files are mentioned", async () => {
	const context = await toolContext();
	const file = join(context.cwd, "run.sh");
	await writeFile(file, "echo old\n");
	await chmod(file, 0o711);
	await symlink("run.sh", join(context.cwd, "link"));
	await editTool.run({ path: "link", oldText: "old", newText: "new" }, context);
	expect(await readFile(file, "utf8")).toBe("echo new\n");
	expect((await stat(file)).mode & 0o777).toBe(0o711);
	expect((await lstat(join(context.cwd, "link"))).isSymbolicLink()).toBe(true);
	const missing = await editTool.run({ path: "rum.sh", oldText: "a", newText: "b" }, context);
	expect(textOf(missing)).toBe("rum.sh does not exist. In .: Did you mean run.sh?");
});

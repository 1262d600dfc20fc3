import { chmod, lstat, readdir, readFile, stat, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { editTool } from "../../src/tools/edit.js";
import { textOf, toolContext } from "./context.js";

/** Runs one call on a file with this content; gives the result and what the file holds then. */
async function edit(content: string | Buffer, args: Omit<Parameters<typeof editTool.run>[0], "path">) {
	const context = await toolContext();
	const file = join(context.cwd, "a.txt");
	await writeFile(file, content);
	const result = await editTool.run({ path: "a.txt", ...args }, context);
	return { result, text: textOf(result), after: await readFile(file, "utf8"), dir: await readdir(context.cwd) };
}

test("a piece is replaced, the result says where, the diff shows it", async () => {
	const { result, after, dir } = await edit("one\ntwo\nthree\n", { oldText: "two", newText: "2\n2b" });
	expect(after).toBe("one\n2\n2b\nthree\n");
	expect(dir).toEqual(["a.txt"]);
	expect(result).toEqual({
		content: [{ type: "text", text: "Edited a.txt: 1 place (line 2), 2 lines added, 1 removed." }],
		details: { diff: "  1 one\n- 2 two\n+ 2 2\n+ 3 2b\n  4 three", added: 2, removed: 1 },
	});
});

test("several edits are matched against the file as it was", async () => {
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

test("edits that overlap are refused and nothing is changed", async () => {
	const { result, text, after } = await edit("one\ntwo\nthree\n", {
		edits: [
			{ oldText: "two\nthree", newText: "x" },
			{ oldText: "one\ntwo", newText: "y" },
		],
	});
	expect(result.isError).toBe(true);
	expect(text).toBe("a.txt was not changed: Edits 1 and 2 overlap at line 2. Make them one edit.");
	expect(after).toBe("one\ntwo\nthree\n");
});

test("edits that touch are made", async () => {
	const { after } = await edit("ab", {
		edits: [
			{ oldText: "a", newText: "1" },
			{ oldText: "b", newText: "2" },
		],
	});
	expect(after).toBe("12");
});

test("when one edit of several fails none is made", async () => {
	const { text, after } = await edit("one\ntwo\n", {
		edits: [
			{ oldText: "one", newText: "1" },
			{ oldText: "three", newText: "3" },
		],
	});
	expect(text).toContain("oldText of edit 2 was not found.");
	expect(after).toBe("one\ntwo\n");
});

test("an ambiguous text is refused with the lines where it stands", async () => {
	const { result, text } = await edit("x = 1\ny\nx = 1\nx = 1\n", { oldText: "x = 1", newText: "x = 2" });
	expect(result.isError).toBe(true);
	expect(text).toContain("oldText matches 3 places (lines 1, 3, 4). Add lines around it");
});

test("places that overlap make a text ambiguous too", async () => {
	expect((await edit("aaa", { oldText: "aa", newText: "b" })).text).toContain("matches 2 places");
});

test.each([
	["carriage returns", "one\r\ntwo\r\nthree\r\n", "one\ntwo", "1\n2", "1\r\n2\r\nthree\r\n"],
	["carriage returns in the call only", "one\ntwo\n", "one\r\ntwo", "1\r\n2", "1\n2\n"],
	["a byte order mark", "\uFEFFone\ntwo\n", "one", "1", "\uFEFF1\ntwo\n"],
	["mixed line ends where nothing is changed", "a\r\nb\nc\r\nd\r\n", "c", "C", "a\r\nb\nC\r\nd\r\n"],
	["a missing newline at the end", "one\ntwo", "two", "2", "one\n2"],
])("%s: kept", async (_name, before, oldText, newText, expected) => {
	expect((await edit(before, { oldText, newText })).after).toBe(expected);
});

test.each([
	["trailing whitespace in the file", "if (a) {  \n\tb();\t\n}\n", "if (a) {\n\tb();\n}", "c();", "c();\n"],
	["trailing whitespace in the call", "one\ntwo\n", "one  \ntwo  ", "1\n2", "1\n2\n"],
	["typographic quotes", "say(“hi”, ‘x’)\n", "say(\"hi\", 'x')", "say()", "say()\n"],
	["dashes and no-break blanks", "a\u00A0–\u202Fb\n", "a - b", "c", "c\n"],
	["control characters that reading leaves out", "a\x1b[1mb\n", "a[1mb", "plain", "plain\n"],
])("%s do not hinder a match", async (_name, before, oldText, newText, expected) => {
	const { after, text } = await edit(before, { oldText, newText });
	expect(after).toBe(expected);
	expect(text).toContain("set aside");
});

test("an exact match is preferred to a tolerant one", async () => {
	const { after } = await edit('“a”\n"a"\n', { oldText: '"a"', newText: "b" });
	expect(after).toBe("“a”\nb\n");
});

test("lines that a tolerant match only quotes stay as they are", async () => {
	const { after } = await edit("“first”  \nsecond\n‘third’\n", {
		oldText: "\"first\"\nsecond\n'third'",
		newText: "\"first\"\n2\n'third'",
	});
	expect(after).toBe("“first”  \n2\n‘third’\n");
});

test("whitespace at the end of oldText stands for the end of a line, not for any place", async () => {
	expect((await edit("ab\nabc\n", { oldText: "ab \n", newText: "x\n" })).after).toBe("x\nabc\n");
	expect((await edit("ab\nabc\n", { oldText: "ab ", newText: "x" })).after).toBe("x\nabc\n");
});

test("indentation must agree, and the error points at the line", async () => {
	const { result, text } = await edit("\t\tif (a)\n\t\t\tb();\n", { oldText: "if (a)\n    b();", newText: "c();" });
	expect(result.isError).toBe(true);
	expect(text).toContain("Lines 1-2 differ only in blanks");
});

test("the error for a text that differs later on says where", async () => {
	const { text } = await edit("one\ntwo\nthree\n", { oldText: "one\ntwo\n3", newText: "x" });
	expect(text).toContain('Its first 2 lines stand at line 1, but then line 3 is "three", not "3".');
});

test("an edit that was made before is recognised", async () => {
	const { text } = await edit("const answer = 42;\n", { oldText: "const answer = 41;", newText: "const answer = 42;" });
	expect(text).toContain("newText is in the file already, at line 1");
});

test.each([
	[{}, "oldText and newText missing."],
	[{ oldText: "a" }, "newText missing."],
	[{ newText: "a" }, "oldText missing."],
	[{ edits: [] }, "oldText and newText missing."],
	[{ oldText: "a", newText: "b", edits: [{ oldText: "a", newText: "b" }] }, "not both."],
	[{ oldText: "", newText: "b" }, "oldText is empty."],
	[{ oldText: "a", newText: "a" }, "nothing would change."],
])("the arguments %j are refused", async (args, message) => {
	const { result, text, after } = await edit("a\n", args);
	expect(result.isError).toBe(true);
	expect(text).toContain(message);
	expect(after).toBe("a\n");
});

test.each([
	["a binary file", Buffer.from([0, 1, 2])],
	["not UTF-8 text", Buffer.from("h\xe4llo", "latin1")],
	["not UTF-8 text", Buffer.from("\uFEFFhi", "utf16le")],
])("a file that is %s is left alone", async (kind, content) => {
	const { result, text } = await edit(content, { oldText: "h", newText: "x" });
	expect(result.isError).toBe(true);
	expect(text).toContain(`a.txt is ${kind}`);
});

test("link and mode are kept, missing files and pi's own files are told", async () => {
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

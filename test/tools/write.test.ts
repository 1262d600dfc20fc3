import { chmod, lstat, mkdir, readdir, readFile, stat, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { writeTool } from "../../src/tools/write.js";
import { textOf, toolContext } from "./context.js";

test("a new file is created with its directories", async () => {
	const context = await toolContext();
	const result = await writeTool.run({ path: "a/b/c.txt", content: "one\ntwo\n" }, context);
	expect(result).toEqual({
		content: [{ type: "text", text: "Created a/b/c.txt (2 lines, 8 bytes)." }],
		details: { created: true, lines: 2 },
	});
	expect(await readFile(join(context.cwd, "a/b/c.txt"), "utf8")).toBe("one\ntwo\n");
	expect(await readdir(join(context.cwd, "a/b"))).toEqual(["c.txt"]);
});

test("replacing a file through a link preserves the link and the mode", async () => {
	const context = await toolContext();
	const target = join(context.cwd, "run.sh");
	await writeFile(target, "old");
	await chmod(target, 0o750);
	await symlink("run.sh", join(context.cwd, "link"));
	const result = await writeTool.run({ path: "link", content: "new" }, context);
	expect(textOf(result)).toBe("Replaced link (1 line, 3 bytes).");
	expect(await readFile(target, "utf8")).toBe("new");
	expect((await stat(target)).mode & 0o777).toBe(0o750);
	expect((await lstat(join(context.cwd, "link"))).isSymbolicLink()).toBe(true);
});

test("a directory is not overwritten, and a failed write leaves no file behind", async () => {
	const context = await toolContext();
	await mkdir(join(context.cwd, "dir"));
	await writeFile(join(context.cwd, "file"), "");
	expect(textOf(await writeTool.run({ path: "dir", content: "" }, context))).toBe(
		"Cannot write dir: it is a directory.",
	);
	for (const path of ["file/below", "file/far/below"]) {
		const below = await writeTool.run({ path, content: "" }, context);
		expect(below.isError).toBe(true);
		// Other machines report only the kind of the error.
		const reason =
			context.host.name === "" ? `${context.cwd}/file is a regular file, not a directory` : "not a directory";
		expect(textOf(below)).toBe(`Cannot write ${path}: ${reason}.`);
	}
	expect((await readdir(context.cwd)).sort()).toEqual(["dir", "file"]);
});

test("writing one of pi's own files adds a warning", async () => {
	const result = await writeTool.run({ path: ".pi/hooks/x.ts", content: "x" }, await toolContext());
	expect(textOf(result)).toContain("\nWarning: .pi/hooks/x.ts is one of pi's own files");
});

test("nothing is written after an abort", async () => {
	const context = await toolContext({ signal: AbortSignal.abort() });
	await expect(writeTool.run({ path: "a", content: "x" }, context)).rejects.toThrow();
	expect(await readdir(context.cwd)).toEqual([]);
});

test("the details of a replaced text file contain the changes, those of other files do not", async () => {
	const context = await toolContext();
	const write = async (path: string, content: string) => (await writeTool.run({ path, content }, context)).details;
	const isLocal = context.host.name === "";
	expect(await write("a.txt", "one\ntwo\n")).toEqual({ created: true, lines: 2 });
	expect(await write("a.txt", "one\n2\n")).toEqual({
		...{ created: false, lines: 2 },
		// On another machine, the old content is not read.
		...(isLocal ? { diff: "  1 one\n- 2 two\n+ 2 2", added: 1, removed: 1 } : {}),
	});
	await writeFile(join(context.cwd, "image"), Buffer.from([0xff, 0xfe, 0x00]));
	expect(await write("image", "x")).toEqual({ created: false, lines: 1 });
	await writeFile(join(context.cwd, "large"), "x".repeat(1024 * 1024 + 1));
	expect(await write("large", "x")).toEqual({ created: false, lines: 1 });
});

test.each([
	["CRLF line endings", "one\r\ntwo\r\n", "one\n2\n", "one\r\n2\r\n", "line endings (CRLF)"],
	["the byte order mark", "\uFEFFone\n", "1\n", "\uFEFF1\n", "byte order mark"],
	["both", "\uFEFFone\r\n", "1\n2", "\uFEFF1\r\n2", "byte order mark and line endings (CRLF)"],
])("replacing a text file preserves %s", async (_, before, content, after, kept) => {
	const context = await toolContext();
	const file = join(context.cwd, "a.txt");
	await writeFile(file, before);
	const result = await writeTool.run({ path: "a.txt", content }, context);
	expect(await readFile(file, "utf8")).toBe(after);
	expect(textOf(result)).toContain(`, with the ${kept} of the old content.`);
	if (context.host.name === "") expect(result.details?.diff).not.toContain("\r");
});

test.each([
	["content with CRLF of its own", "a\r\nb\r\n", "a\nb\r\n", "a\nb\r\n"],
	["mostly LF in the file", "a\r\nb\nc\n", "a\nb\n", "a\nb\n"],
	["a binary file", "\0\r\n\r\n", "a\n", "a\n"],
	["no content", "\uFEFFa\r\n", "", ""],
])("content is written unchanged: %s", async (_, before, content, after) => {
	const context = await toolContext();
	const file = join(context.cwd, "a.txt");
	await writeFile(file, before);
	const result = await writeTool.run({ path: "a.txt", content }, context);
	expect(await readFile(file, "utf8")).toBe(after);
	expect(textOf(result)).not.toContain("old content");
});

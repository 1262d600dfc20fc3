import { randomUUID } from "node:crypto";
import { chmod, mkdir, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { expect, onTestFinished, type TestContext, test } from "vitest";
import { findTool } from "../../src/tools/find.js";
import { grepTool } from "../../src/tools/grep.js";
import { lsTool } from "../../src/tools/ls.js";
import type { ToolHost } from "../../src/tools/machine/machine.js";
import { NO_RIPGREP } from "../helpers/tool-hosts.js";
import { textOf, toolContext } from "./context.js";

/** Files that `.gitignore` excludes outside a repository, and patterns that POSIX tools do not know. */
const needsRipgrep = ({ skip }: TestContext) => skip(NO_RIPGREP !== null, NO_RIPGREP ?? "");

/** The text of a result, without the note of hosts where ignore files do not count. */
const resultText = (result: Parameters<typeof textOf>[0]) =>
	textOf(result).replace(/\n\n\[Includes files that .*\]$/, "");

async function project(files: Record<string, string>) {
	const context = await toolContext();
	for (const [path, content] of Object.entries(files)) {
		await mkdir(dirname(join(context.cwd, path)), { recursive: true });
		await writeFile(join(context.cwd, path), content);
	}
	return context;
}

const PROJECT = {
	".gitignore": "*.log\nnode_modules\n",
	".git/config": "needle",
	".hidden/a.ts": "needle\n",
	"node_modules/x/index.ts": "needle\n",
	"debug.log": "needle\n",
	"src/a.ts": "one\nfoo(needle)\nthree\n",
	"src/deep/b.ts": "Needle\n",
	"src/deep/b.test.ts": "needle\n",
	"docs/guide.md": "needle\n",
};

const found = async (args: Parameters<typeof grepTool.run>[0], files: Record<string, string> = PROJECT) =>
	resultText(await grepTool.run(args, await project(files)));

test.each([
	[{ after: 1 }, "src/a.ts:2: foo(needle)\nsrc/a.ts-3- three"],
	[{ before: 1 }, "src/a.ts-1- one\nsrc/a.ts:2: foo(needle)"],
	[{ context: 1, after: 0 }, "src/a.ts-1- one\nsrc/a.ts:2: foo(needle)"],
])("grep shows the lines around a match with %j", async (args, text) => {
	expect(await found({ pattern: "foo", path: "src", ...args })).toBe(text);
});

test("grep lists only files, or counts the matches of each", async () => {
	const files = { "a.ts": "needle\nneedle\n", "b.md": "needle\n", "c.ts": "x\n" };
	expect(await found({ pattern: "needle", output: "files" }, files)).toBe("a.ts\nb.md");
	expect(await found({ pattern: "needle", output: "count" }, files)).toBe("a.ts: 2\nb.md: 1");
	expect(await found({ pattern: "needle", output: "files", limit: 1 }, files)).toContain("[First 1 file found;");
});

test("grep searches the files of a language", async () => {
	const files = { "a.ts": "needle\n", "b.tsx": "needle\n", "c.md": "needle\n" };
	expect(await found({ pattern: "needle", type: "ts", output: "files" }, files)).toBe("a.ts\nb.tsx");
	expect(await found({ pattern: "needle", type: "cobol" }, files)).toMatch(
		/^Unknown type "cobol". Use glob, or one of c, cpp/,
	);
	expect(await found({ pattern: "needle", type: "ts", glob: "*.md" }, files)).toBe(
		"Give either glob or type, not both.",
	);
	expect(await found({ pattern: "missing", type: "ts" }, files)).toBe(
		"No matches in the working directory (ts files).",
	);
});

test("grep searches hidden files, excludes ignored ones and git's own, and sorts by path", async (context) => {
	needsRipgrep(context);
	const result = await grepTool.run({ pattern: "needle" }, await project(PROJECT));
	expect(resultText(result).split("\n")).toEqual([
		".hidden/a.ts:1: needle",
		"docs/guide.md:1: needle",
		"src/a.ts:2: foo(needle)",
		"src/deep/b.test.ts:1: needle",
	]);
	expect(result.details).toEqual({ matches: 4, files: 4 });
});

test.for<[string, Parameters<typeof grepTool.run>[0], string[]]>([
	[
		"case",
		{ pattern: "NEEDLE", ignoreCase: true, path: "src/deep" },
		["src/deep/b.test.ts:1: needle", "src/deep/b.ts:1: Needle"],
	],
	["literal text", { pattern: "foo(needle)", literal: true }, ["src/a.ts:2: foo(needle)"]],
	[
		"context lines",
		{ pattern: "foo", context: 1 },
		["src/a.ts-1- one", "src/a.ts:2: foo(needle)", "src/a.ts-3- three"],
	],
	["a name glob", { pattern: "needle", glob: "*.md" }, ["docs/guide.md:1: needle"]],
	[
		"a path glob",
		{ pattern: "needle", glob: "src/**/*.{ts,md}" },
		["src/a.ts:2: foo(needle)", "src/deep/b.test.ts:1: needle"],
	],
	[
		"a path glob from cwd below path",
		{ pattern: "needle", path: "src", glob: "src/*.ts" },
		["src/a.ts:2: foo(needle)"],
	],
	["a negated glob", { pattern: "needle", glob: "!*.ts" }, ["docs/guide.md:1: needle"]],
	["one file", { pattern: "needle", path: "src/a.ts" }, ["src/a.ts:2: foo(needle)"]],
	["an ignored file named as path", { pattern: "needle", path: "debug.log" }, ["debug.log:1: needle"]],
	["a match over two lines", { pattern: "one\\nfoo" }, ["src/a.ts:1: one", "src/a.ts:2: foo(needle)"]],
	["lookahead", { pattern: "foo(?=\\()" }, ["src/a.ts:2: foo(needle)"]],
	["a pattern that looks like an option", { pattern: "--files" }, ["No matches in the working directory."]],
])("grep: %s", async ([name, args, lines], context) => {
	if (["a negated glob", "a match over two lines", "lookahead"].includes(name)) needsRipgrep(context);
	expect((await found(args)).split("\n")).toEqual(lines);
});

test("a glob does not include files that .gitignore excludes", async (context) => {
	needsRipgrep(context);
	expect(await found({ pattern: "needle", glob: "*.log" })).toBe("No matches in the working directory (files *.log).");
	expect(await found({ pattern: "needle", glob: "**/*" })).not.toContain("node_modules");
});

test("grep returns at most limit matches and notes that there are more", async () => {
	const result = await grepTool.run({ pattern: "x", limit: 3 }, await project({ "a.txt": "x\n".repeat(10) }));
	expect(resultText(result)).toBe(
		"a.txt:1: x\na.txt:2: x\na.txt:3: x\n\n[First 3 matches found; there are more. Narrow the search, or raise limit.]",
	);
	const all = await grepTool.run({ pattern: "x", limit: 10 }, await project({ "a.txt": "x\n".repeat(10) }));
	expect(resultText(all)).not.toContain("there are more");
});

test("grep cuts long lines and long results", async () => {
	const long = await found({ pattern: "x" }, { "min.js": `${"x".repeat(100_000)}\n` });
	expect(long.length).toBeLessThan(700);
	const many = await grepTool.run(
		{ pattern: "x", limit: 5000 },
		await project({ "a.txt": `${"x".repeat(90)}\n`.repeat(4000) }),
	);
	expect(Buffer.byteLength(resultText(many))).toBeLessThan(52_000);
	expect(many.details).toMatchObject({ matches: 4000, truncation: { truncated: true } });
});

test.each(["foo(", "[z-a]", "*"])("the error for the invalid pattern %s explains it", async (pattern) => {
	const result = await grepTool.run({ pattern }, await project(PROJECT));
	expect(result.isError).toBe(true);
	expect(resultText(result)).toMatch(
		/^The pattern is not a valid regular expression: [^\n]+\. Escape special characters/,
	);
});

test("file names with special characters are not confused with line numbers", async () => {
	const files = { "a:1:b-2-c.txt": "needle\n", "ümlaut 😀.txt": "needle\n" };
	expect((await found({ pattern: "needle" }, files)).split("\n")).toEqual([
		"a:1:b-2-c.txt:1: needle",
		"ümlaut 😀.txt:1: needle",
	]);
});

test.for([
	["the end of a line", "bar$", ["a.txt:1: foo bar"]],
	["an empty line", "^$", ["a.txt:2: "]],
	["the carriage return itself", "bar\\r$", ["a.txt:1: foo bar"]],
] as const)("grep finds %s in a file with CRLF line endings", async ([, pattern, lines], context) => {
	if (pattern.includes("\\r")) needsRipgrep(context);
	expect((await found({ pattern }, { "a.txt": "foo bar\r\n\r\nend\r\n" })).split("\n")).toEqual(lines);
});

test("grep says that the file it was asked to search is binary", async () => {
	const files = { "a.db": "SQLite format 3\0\x01 needle", "b.bin": "needle\0\x01\n", "c.txt": "text" };
	expect(await found({ pattern: "needle", path: "a.db" }, files)).toBe(
		"a.db is an SQLite database, which grep does not search. Use bash with a program that reads such files.",
	);
	expect(await found({ pattern: "x", path: "b.bin" }, files)).toContain("b.bin is a binary file, which grep");
	expect(await found({ pattern: "y", path: "c.txt" }, files)).toBe("No matches in c.txt.");
	expect(await found({ pattern: "y" }, files)).toBe("No matches in the working directory.");
});

test.each([
	["[ab", "in [ab, [ is not closed and matches only itself"],
	["*.{ts,js", "in *.{ts,js, { is not closed and matches only itself"],
	["[z-a].ts", "in [z-a].ts, the range z-a is empty"],
	["", "an empty glob matches no file"],
])("a search without results explains the malformed glob %j", async (glob, problem) => {
	const context = await project(PROJECT);
	const note = `\n\n[Malformed glob: ${problem}.]`;
	expect(resultText(await findTool.run({ pattern: glob }, context))).toBe(
		`No matching files in the working directory.${note}`,
	);
	const grepped = resultText(await grepTool.run({ pattern: "needle", glob }, context));
	expect(grepped).toBe(`No matches in the working directory (files ${glob}).${note}`);
});

test("an abort ends a search", async () => {
	const context = await project(PROJECT);
	const aborted = { ...context, signal: AbortSignal.abort() };
	expect(resultText(await grepTool.run({ pattern: "x" }, aborted))).toBe("Aborted by the user.");
	const controller = new AbortController();
	const running = grepTool.run({ pattern: "x", path: "/" }, { ...context, signal: controller.signal });
	controller.abort();
	expect(await running).toMatchObject({ isError: true });
});

test("a missing search directory is reported", async () => {
	const context = await project(PROJECT);
	expect(resultText(await grepTool.run({ pattern: "x", path: "sr" }, context))).toContain("Did you mean src");
	expect(resultText(await findTool.run({ pattern: "x", path: "docs/guide.md" }, context))).toContain("is a file");
	expect(resultText(await lsTool.run({ path: "scr" }, context))).toContain("Did you mean src?");
});

test.for<[string, { path?: string }, string[]]>([
	["*.ts", {}, [".hidden/a.ts", "src/a.ts", "src/deep/b.test.ts", "src/deep/b.ts"]],
	["src/*.ts", {}, ["src/a.ts"]],
	["deep/*.ts", { path: "src" }, ["src/deep/b.test.ts", "src/deep/b.ts"]],
	["**/b.{ts,js}", {}, ["src/deep/b.ts"]],
	["*.log", {}, ["No matching files in the working directory."]],
	["**/*", { path: "src" }, ["src/a.ts", "src/deep/b.test.ts", "src/deep/b.ts"]],
])("find %s in %j", async ([pattern, place, paths], context) => {
	if (["*.ts", "*.log"].includes(pattern)) needsRipgrep(context);
	const result = await findTool.run({ pattern, ...place }, await project(PROJECT));
	expect(resultText(result).split("\n")).toEqual(paths);
});

test("find returns absolute paths outside the working directory", async () => {
	const context = await project(PROJECT);
	const { host } = context;
	// Through the host: a sandbox has temporary files of its own.
	const outside = join(host.tmpDir, `pi-find-${randomUUID()}`);
	await host.writeFile(join(outside, "docs/guide.md"), "");
	onTestFinished(async () => void (await host.exec(["rm", "-r", outside])));
	const result = await findTool.run({ pattern: "*.md", path: outside }, context);
	expect(resultText(result)).toBe(join(outside, "docs/guide.md"));
});

test("find returns at most limit files and notes the total", async () => {
	const files = Object.fromEntries(Array.from({ length: 12 }, (_, index) => [`f${index}.txt`, ""]));
	const result = await findTool.run({ pattern: "f*", limit: 2 }, await project(files));
	expect(resultText(result)).toBe("f0.txt\nf1.txt\n\n[First 2 of 12 files. Narrow the pattern, or raise limit.]");
	expect(result.details).toEqual({ files: 12 });
});

test("ls lists names, marks directories and shows the targets of links", async () => {
	const context = await project({ "b.txt": "", ".env": "", "a/x": "" });
	await symlink("b.txt", join(context.cwd, "link"));
	const result = await lsTool.run({}, context);
	expect(result).toEqual({
		content: [{ type: "text", text: ".env\na/\nb.txt\nlink -> b.txt" }],
		details: { entries: 4 },
	});
	expect(resultText(await lsTool.run({ limit: 1 }, context))).toBe(
		".env\n\n[First 1 of 4 entries. Raise limit, or use find.]",
	);
	await mkdir(join(context.cwd, "empty"));
	expect(resultText(await lsTool.run({ path: "empty" }, context))).toBe("(empty directory)");
	expect(resultText(await lsTool.run({ path: "b.txt" }, context))).toContain("is a file. Use read");
});

test("grep says why it cannot search a file or a directory, instead of finding nothing", async ({ skip }) => {
	const context = await project({ "secret.txt": "needle\n", "closed/a.txt": "needle\n" });
	for (const name of ["secret.txt", "closed"]) await chmod(join(context.cwd, name), 0);
	const isRoot = (await context.host.openFile(join(context.cwd, "secret.txt")).catch(() => null)) !== null;
	skip(isRoot, "this user reads everything");
	const grep = async (path: string) => {
		const result = await grepTool.run({ pattern: "needle", path }, context);
		return [result.isError, resultText(result)];
	};
	expect(await grep("secret.txt")).toEqual([true, expect.stringMatching(/secret\.txt: permission denied/)]);
	expect(await grep("closed")).toEqual([true, expect.stringMatching(/permission denied/i)]);
	const found = await findTool.run({ pattern: "*", path: "closed" }, context);
	expect([found.isError, resultText(found)]).toEqual([true, expect.stringMatching(/permission denied/i)]);
	await chmod(join(context.cwd, "closed"), 0o700);
});

test("grep reports a file that can be searched, but not read", async () => {
	const context = await project({ "a.txt": "needle\n" });
	const openFile = () =>
		Promise.reject(Object.assign(new Error("Cannot read a.txt: permission denied"), { code: "EACCES" }));
	const { name, cwd, home, tmpDir, platform } = context.host;
	const host: ToolHost = {
		...{ name, cwd, home, tmpDir, platform, openFile },
		exec: (command, options) => context.host.exec(command, options),
		writeFile: (path, data, options) => context.host.writeFile(path, data, options),
		stat: (path, options) => context.host.stat(path, options),
		list: (path, options) => context.host.list(path, options),
		realPath: (path) => context.host.realPath(path),
		search: (request) => context.host.search(request),
		dispose: () => context.host.dispose(),
	};
	const result = await grepTool.run({ pattern: "no such text", path: "a.txt" }, { ...context, host });
	expect([result.isError, resultText(result)]).toEqual([true, "Cannot read a.txt: permission denied."]);
});

test("grep does not wait for a FIFO", async () => {
	const context = await project({ "a.txt": "needle\n" });
	const path = join(context.cwd, "pipe");
	expect(await context.host.exec(["mkfifo", path])).toMatchObject({ exitCode: 0 });
	const result = await grepTool.run({ pattern: "needle", path: "pipe" }, context);
	expect([result.isError, resultText(result)]).toEqual([true, expect.stringMatching(/pipe: it is a FIFO/)]);
});

test("find and grep say so if ignore files do not count", async ({ skip }) => {
	skip(NO_RIPGREP === null, "ripgrep knows them");
	const context = await project({ ".gitignore": "*.log\n", "a.log": "needle\n" });
	const note = `[Includes files that .gitignore excludes, because ripgrep is not installed on ${context.host.name} and this is no work tree of git.]`;
	expect(textOf(await findTool.run({ pattern: "*.log" }, context))).toBe(`a.log\n\n${note}`);
	expect(textOf(await grepTool.run({ pattern: "needle" }, context))).toBe(`a.log:1: needle\n\n${note}`);
	expect(textOf(await grepTool.run({ pattern: "needle", output: "files", limit: 1 }, context))).toBe(
		`a.log\n\n${note}`,
	);
});

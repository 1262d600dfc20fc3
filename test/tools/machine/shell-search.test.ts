import { execFileSync } from "node:child_process";
import { mkdirSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import type { SearchRequest, ToolHost } from "../../../src/tools/machine/machine.js";
import type { ShellEngine } from "../../../src/tools/machine/shell-engine.js";
import { createShellHost } from "../../../src/tools/machine/shell-machine.js";
import { findProgram } from "../../helpers/programs.js";
import { tempDir, writeFiles } from "../../helpers/temp.js";
import { localShell, withoutRipgrep, withRipgrep } from "../../helpers/tool-hosts.js";

const never = new AbortController().signal;

async function start(cwd = tempDir(), engine: ShellEngine = localShell()): Promise<ToolHost> {
	const host = await createShellHost(engine, { cwd });
	onTestFinished(() => host.dispose());
	return host;
}

async function found(host: ToolHost, request: Omit<SearchRequest, "signal">): Promise<string[]> {
	const lines: string[] = [];
	const result = await host.search({
		...request,
		signal: never,
		onFile: (path) => lines.push(path) > 0,
		onLine: ({ path, number, isMatch, text }) => lines.push(`${path}${isMatch ? ":" : "-"}${number} ${text}`) > 0,
	});
	return result.status === "done" ? lines.sort() : [result.status === "failed" ? result.problem : result.status];
}

const line = { literal: false, ignoreCase: false, before: 0, after: 0, maxColumns: 500 };

test.each(["with ripgrep", "without ripgrep"])("a search %s finds files and lines", async (kind) => {
	const cwd = tempDir();
	execFileSync("git", ["init", "-q", cwd]);
	writeFiles(cwd, {
		".gitignore": "*.log\n",
		"a.ts": "one\nfoo(needle)\nthree\n",
		"b.log": "needle\n",
		".hidden/c=d.md": "Needle 42\n",
		binary: "needle\0\x01\n",
	});
	const host = await start(cwd, localShell({ path: kind === "with ripgrep" ? withRipgrep() : withoutRipgrep() }));
	expect(await found(host, { path: cwd })).toEqual([".gitignore", ".hidden/c=d.md", "a.ts", "binary"]);
	expect(await found(host, { path: cwd, names: ["*.ts"] })).toEqual(["a.ts"]);
	expect(await found(host, { path: cwd, lines: { ...line, pattern: "needle\\)?" } })).toEqual(["a.ts:2 foo(needle)"]);
	expect(await found(host, { path: cwd, lines: { ...line, pattern: "NEEDLE \\d+", ignoreCase: true } })).toEqual([
		".hidden/c=d.md:1 Needle 42",
	]);
	expect(
		await found(host, { path: cwd, lines: { ...line, pattern: "foo(", literal: true, before: 1, after: 1 } }),
	).toEqual(["a.ts-1 one", "a.ts-3 three", "a.ts:2 foo(needle)"]);
	expect(await found(host, { path: join(cwd, "b.log"), lines: { ...line, pattern: "needle" } })).toEqual([":1 needle"]);
	expect(await found(host, { path: cwd, exclude: "*.md", lines: { ...line, pattern: "eedle" } })).toEqual([
		"a.ts:2 foo(needle)",
	]);
	expect((await found(host, { path: cwd, lines: { ...line, pattern: "foo(" } }))[0]).toMatch(
		/^The pattern is not a valid regular expression: .*\. Escape special/,
	);
	await expect(found(host, { path: join(cwd, "none") })).rejects.toMatchObject({ code: "ENOENT" });
	await expect(found(host, { path: join(cwd, "a.ts") })).rejects.toMatchObject({ code: "ENOTDIR" });
});

/** Directories of programs that searches without ripgrep use. */
const TOOLS = ["sh", "uname", "sleep", "cat", "ls", "env", "find", "xargs", "awk", "head", "tr", "wc"];
const withBusybox = test.skipIf(findProgram("busybox") === undefined);

describe.each(["ripgrep", "the programs of this machine", "busybox"])("a search with %s", (kind) => {
	const run = kind === "busybox" ? withBusybox : test;
	const path = () => {
		if (kind === "ripgrep") return withRipgrep();
		return kind === "busybox" ? pathTo(findProgram("busybox") ?? "", TOOLS, ["git"]) : withoutRipgrep();
	};

	run(
		"finds what git does not ignore, in repositories in a repository too, and no links and binary files",
		async () => {
			const cwd = tempDir();
			for (const dir of ["", "nested", "nested/deep", "it's"]) execFileSync("git", ["init", "-q", join(cwd, dir)]);
			writeFiles(cwd, {
				".gitignore": "*.log\nnode_modules/\n",
				"a.ts": "needle\n",
				"b.log": "needle\n",
				"zeros.bin": "needle\n\0\0",
				"node_modules/x/c.ts": "needle\n",
				"nested/d.ts": "needle\n",
				"nested/.gitignore": "*.tmp\n",
				"nested/e.tmp": "needle\n",
				"nested/deep/f 'g\".ts": "needle\n",
				"it's/h.ts": "needle\n",
			});
			symlinkSync("a.ts", join(cwd, "link.ts"));
			symlinkSync("nested", join(cwd, "linked"));
			const host = await start(cwd, localShell({ path: path() }));
			const files = ["a.ts", "it's/h.ts", "nested/d.ts", "nested/deep/f 'g\".ts"];
			expect((await found(host, { path: cwd })).filter((name) => !name.endsWith("ignore"))).toEqual(
				[...files, "zeros.bin"].sort(),
			);
			const search = { path: cwd, lines: { ...line, pattern: "needle" } };
			expect(await found(host, search)).toEqual(files.map((name) => `${name}:1 needle`));
			expect(await host.search({ ...search, signal: never })).toEqual({ status: "done", complete: true });
			expect(await found(host, { path: join(cwd, "node_modules") })).toEqual(["x/c.ts"]);
			expect(await found(host, { path: join(cwd, "zeros.bin"), lines: search.lines })).toEqual([]);
		},
	);

	run("says whether ignore files count in a directory without a repository", async () => {
		const cwd = tempDir();
		writeFiles(cwd, { ".gitignore": "*.log\n", "a.log": "needle\n", "b.ts": "needle\n" });
		const host = await start(cwd, localShell({ path: path() }));
		const result = await host.search({ path: cwd, signal: never, lines: { ...line, pattern: "needle" } });
		const done = { status: "done", complete: true };
		expect(result).toEqual(kind === "ripgrep" ? done : { ...done, includesIgnored: true });
		const files = (await found(host, { path: cwd })).filter((name) => name !== ".gitignore");
		expect(files).toEqual(kind === "ripgrep" ? ["b.ts"] : ["a.log", "b.ts"]);
		writeFiles(cwd, { "sub/c.ts": "needle\n" });
		const below = await host.search({ path: join(cwd, "sub"), signal: never, onFile: () => true });
		expect(below, "an ignore file above counts too").toEqual(result);
		rmSync(join(cwd, ".gitignore"));
		expect(await host.search({ path: cwd, signal: never, onFile: () => true })).toEqual(done);
		const one = await host.search({ path: join(cwd, "a.log"), signal: never, lines: { ...line, pattern: "needle" } });
		expect(one).toEqual(done);
	});
});

test("without ripgrep and git, a search finds all files but those of git, and names what it cannot do", async () => {
	const cwd = tempDir();
	writeFiles(cwd, { ".git/config": "x", "a.ts": "x", "-b\nc": "x" });
	const host = await start(cwd, localShell({ path: withoutRipgrep() }));
	expect(await found(host, { path: cwd })).toEqual(["-b\nc", "a.ts"]);
	expect(await found(host, { path: cwd, lines: { ...line, pattern: "a(?=b)" } })).toEqual([
		"ripgrep is not installed on sh here, and without it grep does not support (?= in a pattern. Use a simpler pattern, or bash.",
	]);
});

/** A PATH with links to a program by other names, and to further programs. */
function pathTo(program: string, names: readonly string[], others: readonly string[]): string {
	const bin = pathWith(...others);
	for (const name of names) symlinkSync(program, join(bin, name));
	return bin;
}

/** A PATH with links to these programs only. */
function pathWith(...programs: string[]): string {
	const bin = join(tempDir(), "bin");
	mkdirSync(bin);
	for (const name of programs) symlinkSync(findProgram(name) ?? expect.fail(`${name} is missing`), join(bin, name));
	return bin;
}

test("a search on a host without ripgrep and POSIX tools names what is missing, instead of finding nothing", async () => {
	const cwd = tempDir();
	writeFiles(cwd, { "a.ts": "needle\n" });
	const bare = ["sh", "uname", "sleep", "cat", "ls", "env"];
	const search = { path: cwd, lines: { ...line, pattern: "needle" } };
	const withoutAwk = await start(cwd, localShell({ path: pathWith(...bare, "find", "xargs") }));
	expect(await found(withoutAwk, search)).toEqual([
		"Cannot search on sh here: ripgrep is not installed there, and awk, used without it, is missing too. Use bash with the tools that it has.",
	]);
	expect(await found(withoutAwk, { path: cwd })).toEqual(["a.ts"]);
	const withNothing = await start(cwd, localShell({ path: pathWith(...bare) }));
	const problem = (names: string) => expect.stringContaining(`ripgrep is not installed there, and ${names}, used`);
	expect(await found(withNothing, { path: cwd })).toEqual([problem("find and xargs")]);
	expect(await found(withNothing, search)).toEqual([problem("find and xargs and awk")]);
});

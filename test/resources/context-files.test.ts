import { execFileSync } from "node:child_process";
import { mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { loadContextFiles } from "../../src/resources/context-files.js";
import { tempDir, writeFiles } from "../helpers/temp.js";

function tree(files: Record<string, string>, cwd: string) {
	const root = tempDir();
	writeFiles(root, files);
	mkdirSync(join(root, cwd), { recursive: true });
	const load = () =>
		loadContextFiles({ agentDir: join(root, "agent"), cwd: join(root, cwd), home: join(root, "home") });
	const paths = async () => (await load()).files.map(({ path }) => path.slice(root.length + 1));
	return { root, load, paths };
}

test("the file of the agent directory comes first, then those of the repository from its root down", async () => {
	const { paths } = tree(
		{
			"agent/AGENTS.md": "a",
			"home/AGENTS.md": "above the repository",
			"home/repo/.git/HEAD": "",
			"home/repo/AGENTS.md": "b",
			"home/repo/src/CLAUDE.md": "c",
			"home/repo/src/deep/other.md": "",
		},
		"home/repo/src/deep",
	);
	expect(await paths()).toEqual(["agent/AGENTS.md", "home/repo/AGENTS.md", "home/repo/src/CLAUDE.md"]);
});

test("outside a repository, files are read from the home directory down, or only in the working directory", async () => {
	const files = {
		"AGENTS.md": "not read",
		"home/AGENTS.md": "a",
		"home/x/AGENTS.md": "b",
		"other/AGENTS.md": "c",
		"other/x/AGENTS.md": "d",
	};
	expect(await tree(files, "home/x").paths()).toEqual(["home/AGENTS.md", "home/x/AGENTS.md"]);
	expect(await tree(files, "other/x").paths()).toEqual(["other/x/AGENTS.md"]);
});

test("AGENTS.md overrides CLAUDE.md next to it, and duplicate and empty files are omitted", async () => {
	const { root, paths } = tree(
		{ "home/AGENTS.md": "a", "home/CLAUDE.md": "b", "home/x/CLAUDE.md": " \n", "home/x/y/z.md": "" },
		"home/x/y",
	);
	symlinkSync(join(root, "home/AGENTS.md"), join(root, "home/x/y/AGENTS.md"));
	expect(await paths()).toEqual(["home/AGENTS.md"]);
});

test("carriage returns and a byte order mark are removed from contents", async () => {
	const { load } = tree({ "home/AGENTS.md": "\ufeffa\r\nb\r\n" }, "home");
	expect((await load()).files.map(({ content }) => content)).toEqual(["a\nb\n"]);
});

test("an unreadable file causes a warning and does not block", async () => {
	const { root, load } = tree({ "home/x/a": "" }, "home/x");
	execFileSync("mkfifo", [join(root, "home/x/AGENTS.md")]);
	const path = `${root}/home/x/AGENTS.md`;
	expect(await load()).toEqual({ files: [], warnings: [`Cannot read ${path}: it is a FIFO`], broken: new Set([path]) });
});

import { execFileSync } from "node:child_process";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { toolCall } from "../helpers/loopback-provider.js";
import { startSession } from "../helpers/session.js";
import { tempDir, writeFiles } from "../helpers/temp.js";
import { example } from "./example.js";

const HOOK = example("auto-commit.ts");

/** A repository with one commit: `kept.txt`, `mine.txt` and `src/deep.txt` tracked, `*.log` ignored. */
function repository() {
	const cwd = tempDir();
	const git = (...args: string[]) => execFileSync("git", args, { cwd, encoding: "utf8" }).trimEnd();
	writeFiles(cwd, { "kept.txt": "one\n", "mine.txt": "mine\n", "src/deep.txt": "deep\n", ".gitignore": "*.log\n" });
	git("init", "--quiet", "-b", "main");
	git("config", "user.name", "Someone");
	git("config", "user.email", "someone@example.org");
	git("add", ".");
	git("commit", "--quiet", "-m", "first");
	return { cwd, git };
}

async function start(cwd: string) {
	const shown: string[] = [];
	const test = await startSession({ hookFiles: [HOOK], cwd, ui: { notify: (message) => void shown.push(message) } });
	const header = test.session.entries[0];
	const ref = `refs/pi/auto/${header && "id" in header ? String(header.id) : ""}`;
	/** Lets the agent run a command. */
	const work = async (prompt: string, command: string) => {
		test.provider.reply([toolCall("bash", { command })], "done");
		await test.session.prompt(prompt);
	};
	return { ...test, shown, ref, work };
}

const CHANGES = "echo two > kept.txt; rm -r src; echo new > 'made here.txt'; echo noise > x.log";

describe("when a session ends", () => {
	test("its changes are committed to a separate ref; index, branches, stash and files are unchanged", async () => {
		const { cwd, git } = repository();
		writeFiles(cwd, { "mine.txt": "staged\n" });
		git("add", "mine.txt");
		writeFiles(cwd, { "mine.txt": "and changed again\n", "untracked.txt": "mine too\n" });
		const { session, ref, work } = await start(cwd);
		await work("Make it two", CHANGES);
		const state = () => [
			git("ls-files", "--stage"),
			git("stash", "list"),
			git("for-each-ref", "refs/heads", "refs/tags"),
			git("status", "--porcelain"),
		];
		const before = state();
		await session.dispose();
		expect(state()).toEqual(before);
		expect(git("log", "--format=%s <%an>", ref)).toBe(
			"Make it two <pi>\npi: files before the session <pi>\nfirst <Someone>",
		);
		expect(git("diff", "--name-status", `${ref}~`, ref).split("\n")).toEqual([
			"M\tkept.txt",
			"A\tmade here.txt",
			"D\tsrc/deep.txt",
		]);
	});

	test("nothing is committed without changes or without a repository", async () => {
		const { cwd, git } = repository();
		writeFiles(cwd, { "mine.txt": "changed\n" });
		const { session, work } = await start(cwd);
		await work("Look", "ls; echo noise > x.log");
		await session.dispose();
		expect(git("for-each-ref", "refs/pi")).toBe("");

		const outside = await start(tempDir());
		await outside.work("Write", "echo x > y");
		await outside.session.dispose();
		expect(outside.notices()).toEqual([]);
	});

	test("changes made by the user after the last run are not committed", async () => {
		const { cwd, git } = repository();
		const { session, ref, work } = await start(cwd);
		await work("Make it two", "echo two > kept.txt");
		writeFileSync(join(cwd, "mine.txt"), "later\n");
		await session.dispose();
		expect(git("diff", "--name-only", `${ref}~`, ref)).toBe("kept.txt");
		expect(git("rev-parse", `${ref}~`)).toBe(git("rev-parse", "main"));
	});

	test("a new session or a reload also commits, and the next commit follows it", async () => {
		const { cwd, git } = repository();
		const { session, ref, work } = await start(cwd);
		await work("First", "echo two > kept.txt");
		await session.reload();
		await work("Second", "echo three > kept.txt");
		await session.newSession();
		expect(git("log", "--format=%s", ref)).toBe("First\nFirst\nfirst");
		await work("Elsewhere", "echo four > kept.txt");
		await session.dispose();
		expect(git("for-each-ref", "refs/pi/auto").split("\n")).toHaveLength(2);
		expect(git("show", `${ref}:kept.txt`)).toBe("three");
	});

	test("a repository without a commit gets one on the ref", async () => {
		const cwd = tempDir();
		const git = (...args: string[]) => execFileSync("git", args, { cwd, encoding: "utf8" }).trim();
		git("init", "--quiet");
		const { session, ref, work } = await start(cwd);
		await session.prompt("/auto-commit on");
		await work("Begin", "echo x > y");
		await session.dispose();
		expect(git("show", `${ref}:y`)).toBe("x");
	});
});

describe("/auto-commit on", () => {
	test("commits to the current branch, with the first prompt as its message", async () => {
		const { cwd, git } = repository();
		const { session, work } = await start(cwd);
		expect(await session.prompt("/auto-commit on")).toMatchObject({
			status: "Changes of this session are committed to the current branch when you leave it",
		});
		await work(`Make it two\n\n${"for it is time ".repeat(6)}`, CHANGES);
		await work("And more", "echo more >> kept.txt");
		await session.dispose();
		expect(git("log", "--format=%s <%an>", "main")).toMatch(
			/^Make it two for it is time .{40,46}… <Someone>\nfirst <Someone>$/,
		);
		expect(git("log", "-1", "--format=%b").trim()).toMatch(/^Make it two\n\nfor it is time/);
		expect(git("show", "--format=", "--name-status").split("\n")).toEqual([
			"M\tkept.txt",
			"A\tmade here.txt",
			"D\tsrc/deep.txt",
		]);
		expect(git("status", "--porcelain")).toBe("");
		expect(git("for-each-ref", "refs/pi")).toBe("");
	});

	test("excludes files with uncommitted changes of the user, with a notice", async () => {
		const { cwd, git } = repository();
		writeFiles(cwd, { "mine.txt": "staged\n", "untracked.txt": "mine too\n" });
		git("add", "mine.txt");
		const { session, work, shown } = await start(cwd);
		await session.prompt("/auto-commit on");
		await work("Change all", "for f in *.txt; do echo agent >> $f; done");
		await session.dispose();
		expect(git("show", "--format=", "--name-only")).toBe("kept.txt");
		expect(git("show", ":mine.txt")).toBe("staged");
		expect(git("status", "--porcelain").split("\n")).toEqual(["MM mine.txt", "?? untracked.txt"]);
		expect(shown).toEqual([
			"Not committed, because they had uncommitted changes before the session: mine.txt, untracked.txt",
		]);
	});

	test("does not commit changes that the agent has committed already", async () => {
		const { cwd, git } = repository();
		const { session, work } = await start(cwd);
		await session.prompt("/auto-commit on");
		await work("Commit it", "echo two > kept.txt; git commit -qam theirs; echo new > made.txt");
		await session.dispose();
		expect(git("log", "--format=%s")).toBe("Commit it\ntheirs\nfirst");
		expect(git("show", "--format=", "--name-only")).toBe("made.txt");
		expect(git("status", "--porcelain")).toBe("");
	});

	test("commits a file that a directory has replaced", async () => {
		const { cwd, git } = repository();
		const { session, work } = await start(cwd);
		await session.prompt("/auto-commit on");
		await work("Turn it", "rm kept.txt; mkdir kept.txt; echo in > kept.txt/a; rm -r src; echo file > src");
		await session.dispose();
		expect(git("ls-tree", "-r", "--name-only", "HEAD").split("\n")).toEqual([
			".gitignore",
			"kept.txt/a",
			"mine.txt",
			"src",
		]);
		expect(git("status", "--porcelain")).toBe("");
	});

	test.each([
		["no branch is checked out", ["checkout", "--quiet", "--detach"]],
		["a merge is in progress", ["update-ref", "MERGE_HEAD", "HEAD"]],
	])("uses the ref when %s", async (_, command) => {
		const { cwd, git } = repository();
		git(...command);
		const { session, work, ref } = await start(cwd);
		await session.prompt("/auto-commit on");
		await work("Make it two", "echo two > kept.txt");
		await session.dispose();
		expect(git("log", "--format=%s", "main")).toBe("first");
		expect(git("show", `${ref}:kept.txt`)).toBe("two");
	});

	test("off reverts it, and other arguments are rejected", async () => {
		const { cwd, git } = repository();
		const { session, work, ref } = await start(cwd);
		await work("Make it two", "echo two > kept.txt");
		await session.prompt("/auto-commit on");
		expect(await session.prompt("/auto-commit off")).toMatchObject({
			status: `Changes of this session are committed to ${ref} when you leave it`,
		});
		expect(await session.prompt("/auto-commit maybe")).toMatchObject({
			status: "Usage: /auto-commit [on | off]",
		});
		expect(await session.completeArguments("auto-commit", "of")).toEqual([{ value: "off" }]);
		await session.dispose();
		expect(git("log", "--format=%s", "main")).toBe("first");
		expect(git("log", "-1", "--format=%s", ref)).toBe("Make it two");
	});
});

test("a filter in the repository's configuration is not run: nothing is committed, and one line says why", async () => {
	const { cwd, git } = repository();
	git("config", "filter.f.clean", "touch ran; cat");
	writeFiles(cwd, { ".gitattributes": "* filter=f\n" });
	const { session, shown, work } = await start(cwd);
	await work("Make it two", CHANGES);
	await work("Again", "echo three > kept.txt");
	await session.dispose();
	expect(existsSync(join(cwd, "ran"))).toBe(false);
	expect(git("for-each-ref", "refs/pi")).toBe("");
	expect(shown).toEqual([
		"Changes of this session are not committed: git could run programs of the repository, because its configuration has filter.f.clean",
	]);
});

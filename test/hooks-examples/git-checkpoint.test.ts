import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { SessionUI } from "../../src/hooks/session-ui.js";
import { toolCall } from "../helpers/loopback-provider.js";
import { startSession } from "../helpers/session.js";
import { tempDir, writeFiles } from "../helpers/temp.js";
import { example } from "./example.js";

const HOOK = example("git-checkpoint.ts");
const RESTORED =
	"Restored the files from before turn 1 · /rewind undo reverts this · /branch 1 returns the conversation there too";

/** A repository with one commit: `kept.txt` and `gone.txt` tracked, `*.log` ignored. */
function repository() {
	const cwd = tempDir();
	const git = (...args: string[]) =>
		execFileSync("git", ["-c", "user.name=t", "-c", "user.email=t@t", ...args], { cwd, encoding: "utf8" }).trim();
	writeFiles(cwd, {
		"kept.txt": "one\n",
		"gone.txt": "still here\n",
		"src/deep.txt": "deep\n",
		".gitignore": "*.log\n",
	});
	git("init", "--quiet", "-b", "main");
	git("add", ".");
	git("commit", "--quiet", "-m", "first");
	return { cwd, git, read: (name: string) => readFileSync(join(cwd, name), "utf8") };
}

/** Changes of the model in one turn, to every kind of file. */
const CHANGES = toolCall("bash", {
	command:
		"echo two > kept.txt; rm gone.txt; rm -r src; echo new > made.txt; echo noise > x.log; mkdir n; echo m > n/m",
});

/** A person who chooses a turn, and then accepts or refuses the changes. */
function answering(
	answer: string | null,
	isConfirmed = true,
): { offered: string[][]; asked: string[][]; ui: Partial<SessionUI> } {
	const offered: string[][] = [];
	const select = async (_: string, options: readonly (string | { label: string })[]) => {
		offered.push(options.map((option) => (typeof option === "string" ? option : option.label)));
		return answer;
	};
	const asked: string[][] = [];
	const confirm = async (question: string, text?: string) => {
		asked.push([question, ...(text ?? "").split("\n")]);
		return isConfirmed;
	};
	return { offered, asked, ui: { select: select as SessionUI["select"], confirm: confirm as SessionUI["confirm"] } };
}

describe("/rewind", () => {
	test("restores changed and deleted files, deletes new ones, and undo reverts that", async () => {
		const { cwd, git, read } = repository();
		writeFileSync(join(cwd, "untracked.txt"), "mine\n");
		const { session, provider } = await startSession({ hookFiles: [HOOK], cwd });
		provider.reply([CHANGES, toolCall("bash", { command: "rm untracked.txt" })], "done", "a2");
		await session.prompt("first");
		await session.prompt("second");
		expect(read("kept.txt")).toBe("two\n");
		const status = git("status", "--porcelain");

		expect(await session.prompt("/rewind 1")).toEqual({
			kind: "command",
			status: RESTORED,
		});
		expect([read("kept.txt"), read("gone.txt"), read("src/deep.txt"), read("untracked.txt"), read("x.log")]).toEqual([
			"one\n",
			"still here\n",
			"deep\n",
			"mine\n",
			"noise\n",
		]);
		expect([existsSync(join(cwd, "made.txt")), existsSync(join(cwd, "n"))]).toEqual([false, false]);
		expect(git("status", "--porcelain")).toBe("?? untracked.txt");

		expect(await session.prompt("/rewind undo")).toEqual({
			kind: "command",
			status: "Undid the rewind · /rewind undo reverts this",
		});
		expect(git("status", "--porcelain")).toBe(status);
		expect([read("kept.txt"), read("made.txt"), read("n/m")]).toEqual(["two\n", "new\n", "m\n"]);
	});

	test("does not change index, stash, branches and HEAD", async () => {
		const { cwd, git } = repository();
		writeFileSync(join(cwd, "kept.txt"), "staged\n");
		git("add", "kept.txt");
		writeFileSync(join(cwd, "kept.txt"), "and changed again\n");
		const state = () => [
			git("ls-files", "--stage"),
			git("stash", "list"),
			git("for-each-ref"),
			git("log", "--all", "--format=%s"),
			git("rev-parse", "HEAD"),
			git("status", "--porcelain"),
		];
		const before = state();
		const { session, provider } = await startSession({ hookFiles: [HOOK], cwd });
		provider.reply([CHANGES], "done");
		await session.prompt("go");
		await session.prompt("/rewind 1");
		expect(state()).toEqual(before);
	});

	test("runs no git hook and needs no user name", async () => {
		const { cwd, git } = repository();
		const marker = join(cwd, "ran.log");
		for (const name of ["reference-transaction", "post-index-change", "pre-commit"]) {
			writeFiles(cwd, { [`.git/hooks/${name}`]: `#!/bin/sh\ntouch ${marker}\n` });
			execFileSync("chmod", ["+x", join(cwd, ".git/hooks", name)]);
		}
		git("config", "user.useConfigOnly", "true");
		git("config", "commit.gpgSign", "true");
		rmSync(marker, { force: true });
		const { session, provider, notices } = await startSession({ hookFiles: [HOOK], cwd });
		provider.reply([CHANGES], "done");
		await session.prompt("go");
		await session.prompt("/rewind 1");
		expect(notices()).toEqual([RESTORED]);
		expect(existsSync(marker)).toBe(false);
	});

	test("counts turns as /pop does, in its list, its argument and its answers", async () => {
		const { cwd, read } = repository();
		const { offered, ui } = answering("2");
		const { session, provider } = await startSession({ hookFiles: [HOOK], cwd, ui });
		const write = (text: string) => toolCall("bash", { command: `echo ${text} > kept.txt` });
		provider.reply([write("two")], "a1", [write("three")], "a2", "a3");
		for (const prompt of ["first", "second", "third"]) await session.prompt(prompt);
		await session.prompt("/rewind");
		expect(offered).toEqual([["3  third", "2  second", "1  first"]]);
		expect(read("kept.txt")).toBe("two\n");
		expect((await session.completeArguments("rewind", "")).map(({ value }) => value)).toEqual(["3", "2", "1"]);
		// The entry on the screen says what happened.
		expect(await session.prompt("/rewind 3")).toMatchObject({ status: null });
		expect(read("kept.txt")).toBe("three\n");
		expect(session.entries.at(-1)).toMatchObject({ type: "git_rewind", turnNumber: 3 });
		expect(await session.prompt("/rewind 4")).toMatchObject({
			status: "Turn 4 has no checkpoint · turns: 3, 2, 1",
		});
	});

	test("shows the changes first; without a yes nothing changes", async () => {
		const { cwd, read } = repository();
		const { asked, ui } = answering("1", false);
		const { session, provider } = await startSession({ hookFiles: [HOOK], cwd, ui });
		provider.reply([CHANGES], "done");
		await session.prompt("go");
		expect(await session.prompt("/rewind")).toMatchObject({ status: "No file was changed" });
		expect(asked).toEqual([
			[
				"Restore these 5 files as of before turn 1?",
				"created gone.txt",
				"changed kept.txt",
				"deleted made.txt",
				"deleted n/m",
				"created src/deep.txt",
			],
		]);
		expect(read("kept.txt")).toBe("two\n");
	});

	test("a checkpoint survives git gc", async () => {
		const { cwd, git, read } = repository();
		const { session, provider } = await startSession({ hookFiles: [HOOK], cwd });
		writeFileSync(join(cwd, "untracked.txt"), "mine\n");
		provider.reply([toolCall("bash", { command: "rm untracked.txt; echo two > kept.txt" })], "done");
		await session.prompt("go");
		git("gc", "--quiet", "--prune=now");
		expect(await session.prompt("/rewind 1")).toMatchObject({ status: RESTORED });
		expect([read("kept.txt"), read("untracked.txt")]).toEqual(["one\n", "mine\n"]);
		expect(await session.prompt("/rewind 1")).toMatchObject({ status: "The files are as they were before turn 1" });
	});

	test("works from a directory below the top and in a repository without commits", async () => {
		const { cwd } = repository();
		rmSync(join(cwd, ".git"), { recursive: true });
		execFileSync("git", ["init", "--quiet"], { cwd });
		const { session, provider } = await startSession({ hookFiles: [HOOK], cwd: join(cwd, "src") });
		provider.reply([toolCall("bash", { command: "rm deep.txt ../kept.txt" })], "done");
		await session.prompt("go");
		await session.prompt("/rewind 1");
		expect([existsSync(join(cwd, "kept.txt")), existsSync(join(cwd, "src/deep.txt"))]).toEqual([true, true]);
	});

	test("changes nothing if an ignored file would be lost", async () => {
		const { cwd, git, read } = repository();
		const { session, provider } = await startSession({ hookFiles: [HOOK], cwd });
		provider.reply(
			[toolCall("bash", { command: "rm gone.txt; echo gone.txt >> .gitignore; git rm -q --cached gone.txt" })],
			"done",
		);
		await session.prompt("go");
		writeFileSync(join(cwd, "gone.txt"), "precious and ignored\n");
		const status = git("status", "--porcelain");
		expect(await session.prompt("/rewind 1")).toEqual({
			kind: "command",
			status: "No file was changed: gone.txt is ignored by git and would be overwritten; move it first",
		});
		expect(read("gone.txt")).toBe("precious and ignored\n");
		expect(git("status", "--porcelain")).toBe(status);
	});

	test.each([
		[
			"a folder with an ignored file replaced a file",
			"rm gone.txt; mkdir gone.txt; echo precious > gone.txt/x.log",
			"gone.txt/x.log",
		],
		["an ignored file replaced a folder", "rm -r src; echo /src >> .gitignore; echo precious > src", "src"],
	])("changes nothing when %s", async (_, command, lost) => {
		const { cwd, read } = repository();
		const { session, provider } = await startSession({ hookFiles: [HOOK], cwd });
		provider.reply([toolCall("bash", { command })], "done");
		await session.prompt("go");
		expect(await session.prompt("/rewind 1")).toMatchObject({
			status: expect.stringContaining(`${lost} is ignored by git`),
		});
		expect(read(lost)).toBe("precious\n");
	});

	test("replaces folders with files and files with folders", async () => {
		const { cwd, read } = repository();
		const { session, provider } = await startSession({ hookFiles: [HOOK], cwd });
		const command = "rm gone.txt; mkdir gone.txt; echo x > gone.txt/x; rm -r src; echo flat > src";
		provider.reply([toolCall("bash", { command })], "done");
		await session.prompt("go");
		await session.prompt("/rewind 1");
		expect([read("gone.txt"), read("src/deep.txt")]).toEqual(["still here\n", "deep\n"]);
	});

	test("offers the turns newest first; escape changes nothing", async () => {
		const { cwd, read } = repository();
		const { offered, ui } = answering(null);
		const { session, provider } = await startSession({ hookFiles: [HOOK], cwd, ui });
		provider.reply([CHANGES], "done", "a2");
		await session.prompt("first");
		await session.prompt("second");
		expect(await session.prompt("/rewind")).toEqual({ kind: "command", status: null });
		expect(offered).toEqual([["2  second", "1  first"]]);
		expect(read("kept.txt")).toBe("two\n");
		expect((await session.completeArguments("rewind", "")).map(({ value }) => value)).toEqual(["2", "1"]);
		expect(await session.prompt("/rewind 4")).toMatchObject({
			status: "Turn 4 has no checkpoint · turns: 2, 1",
		});
		expect(await session.prompt("/rewind undo")).toMatchObject({ status: "There is no rewind to undo" });
	});

	test("is rejected while the agent is running", async () => {
		const { cwd } = repository();
		let release = () => {};
		const hold = new Promise<void>((resolve) => {
			release = resolve;
		});
		const { session, provider } = await startSession({ hookFiles: [HOOK], cwd });
		provider.reply({ hold });
		const run = session.prompt("go");
		await provider.request(1);
		expect(await session.prompt("/rewind 1")).toMatchObject({
			status: expect.stringContaining("Stop the agent before"),
		});
		release();
		await session.abort();
		await run;
	});

	test("uses only commit ids from the session file", async () => {
		const { cwd } = repository();
		const { session } = await startSession({
			hookFiles: [HOOK],
			cwd,
			hooks: {
				"forge.ts": `export default (pi) => pi.command("forge", { handler: (ctx) =>
					ctx.saveEntry({ type: "git_checkpoint", turn: 1, commit: "--output=x" }).then(() => {}) });`,
			},
		});
		await session.prompt("/forge");
		expect(await session.prompt("/rewind 1")).toMatchObject({ status: "There is no checkpoint yet" });
	});
});

describe("/branch", () => {
	async function branched(answer: string | null) {
		const { cwd, read } = repository();
		const { offered, ui } = answering(answer);
		const test = await startSession({ hookFiles: [HOOK], cwd, ui });
		test.provider.reply("a1", [CHANGES], "done");
		await test.session.prompt("first");
		await test.session.prompt("second");
		const text = await test.session.branch(4);
		return { ...test, offered, read, text };
	}

	test("restores conversation and files", async () => {
		const { offered, read, text, session } = await branched("conversation and files");
		expect(offered).toEqual([["conversation only", "conversation and files", "files only"]]);
		expect([text, read("kept.txt"), read("gone.txt")]).toEqual(["second", "one\n", "still here\n"]);
		expect(session.entries.map(({ type }) => type)).toEqual([
			"session",
			"message",
			"git_checkpoint",
			"message",
			"git_rewind",
		]);
	});

	test("keeps the files on request", async () => {
		const { read, session } = await branched("conversation only");
		expect(read("kept.txt")).toBe("two\n");
		expect(session.entries).toHaveLength(4);
	});

	test("restores only the files on request", async () => {
		const { read, session } = await branched("files only");
		expect(read("kept.txt")).toBe("one\n");
		expect(session.entries.filter(({ type }) => type === "message")).toHaveLength(6);
	});

	test("escape cancels the branch", async () => {
		const { read, session, text } = await branched(null);
		expect([text, read("kept.txt")]).toEqual([null, "two\n"]);
		expect(session.entries.filter(({ type }) => type === "message")).toHaveLength(6);
	});

	test("without a screen the files are unchanged", async () => {
		const { cwd, read } = repository();
		const { session, provider } = await startSession({ hookFiles: [HOOK], cwd });
		provider.reply([CHANGES], "done");
		await session.prompt("first");
		expect(await session.branch(1)).toBe("first");
		expect(read("kept.txt")).toBe("two\n");
	});
});

test("deletes checkpoints older than a month at the start, and no other ref", async () => {
	const { cwd, git } = repository();
	const old = execFileSync("git", ["commit-tree", "-m", "old", "HEAD^{tree}"], {
		cwd,
		encoding: "utf8",
		env: {
			PATH: process.env.PATH,
			GIT_AUTHOR_NAME: "t",
			GIT_AUTHOR_EMAIL: "t",
			GIT_COMMITTER_NAME: "t",
			GIT_COMMITTER_EMAIL: "t",
			GIT_COMMITTER_DATE: "2001-01-01T00:00:00Z",
		},
	}).trim();
	git("update-ref", "refs/pi/some/turn-1", old);
	git("update-ref", "refs/heads/old", old);
	git("update-ref", "refs/pi/some/turn-2", "HEAD");
	writeFiles(cwd, { ".git/pi/objects/aa/old": "", ".git/pi/objects/aa/new": "" });
	utimesSync(join(cwd, ".git/pi/objects/aa/old"), 1e9, 1e9);
	await startSession({ hookFiles: [HOOK], cwd });
	expect(readdirSync(join(cwd, ".git/pi/objects/aa"))).toEqual(["new"]);
	expect(git("for-each-ref", "--format=%(refname)")).toBe("refs/heads/main\nrefs/heads/old\nrefs/pi/some/turn-2");
});

test("outside a repository nothing is saved, and /rewind explains why", async () => {
	const { session, provider, notices } = await startSession({ hookFiles: [HOOK] });
	provider.reply("a1");
	await session.prompt("go");
	expect(session.entries).toHaveLength(3);
	expect(notices()).toEqual([]);
	expect(await session.prompt("/rewind")).toMatchObject({
		status: "Not a git work tree: checkpoints are not available",
	});
});

test("without git nothing is saved, and /rewind explains why", async () => {
	// The unchanged hook on a machine without git.
	const wrapper = `import checkpoint from ${JSON.stringify(HOOK)};
		const hide = (ctx) => Object.create(ctx, { exec: { value: (_, ...rest) => ctx.exec("git-is-not-here", ...rest) } });
		export default (pi) => checkpoint({
			...pi,
			on: (name, handler) => pi.on(name, (event, ctx) => handler(event, hide(ctx))),
			command: (name, options) => pi.command(name, { ...options, handler: (ctx) => options.handler(hide(ctx)) }),
		});`;
	const { session, provider, notices } = await startSession({
		hooks: { "wrapper.ts": wrapper },
		cwd: repository().cwd,
	});
	provider.reply("a1");
	await session.prompt("go");
	expect(session.entries).toHaveLength(3);
	expect(notices()).toEqual([]);
	expect(await session.prompt("/rewind")).toMatchObject({
		status: "git is not installed: checkpoints are not available",
	});
});

/** The unchanged hook in a session whose tools work in a sandbox. */
const ELSEWHERE = `import checkpoint from ${JSON.stringify(HOOK)};
	const move = (ctx) => Object.create(ctx, { toolHost: { value: { name: "sandbox", cwd: ctx.cwd } } });
	export default (pi) => checkpoint({
		...pi,
		on: (name, handler) => pi.on(name, (event, ctx) => handler(event, move(ctx))),
		command: (name, options) => pi.command(name, { ...options, handler: (ctx) => options.handler(move(ctx)) }),
	});`;

describe("git runs no program of the repository", () => {
	const BLOCKED = "Checkpoints are not available: git could run programs of the repository, because ";

	test("a filter in its configuration turns checkpoints off", async () => {
		const { cwd, git } = repository();
		git("config", "filter.f.clean", "touch ran; cat");
		writeFiles(cwd, { ".gitattributes": "* filter=f\n", "kept.txt": "two\n" });
		const { session, provider } = await startSession({ hookFiles: [HOOK], cwd });
		provider.reply("a1");
		await session.prompt("go");
		expect(await session.prompt("/rewind")).toMatchObject({
			status: `${BLOCKED}its configuration has filter.f.clean`,
		});
		expect([existsSync(join(cwd, "ran")), session.entries.length]).toEqual([false, 3]);
	});

	test("in a sandbox, neither a repository of the model nor configuration in the work tree is used", async () => {
		const cwd = tempDir();
		const made = await startSession({ hooks: { "wrapper.ts": ELSEWHERE }, cwd });
		made.provider.reply([toolCall("bash", { command: "git init --quiet" })], "a1", "a2");
		await made.session.prompt("go");
		await made.session.prompt("on");
		expect(await made.session.prompt("/rewind")).toMatchObject({ status: `${BLOCKED}it was made during this session` });

		const { cwd: other, git } = repository();
		const { session, provider } = await startSession({ hooks: { "wrapper.ts": ELSEWHERE }, cwd: other });
		provider.reply("a1", "a2");
		await session.prompt("go");
		expect(session.entries.filter(({ type }) => type === "git_checkpoint")).toHaveLength(1);
		git("config", "include.path", "../team.config");
		writeFiles(other, { "team.config": "[core]\n\tabbrev = 7\n" });
		await session.prompt("on");
		expect(session.entries.filter(({ type }) => type === "git_checkpoint")).toHaveLength(1);
	});
});

import { execFileSync, spawn } from "node:child_process";
import { existsSync, mkdirSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { describeWorktree, listWorktrees, openWorktree, removeWorktree } from "../../src/resources/git-worktrees.js";
import { tempDir } from "../helpers/temp.js";

/** A repository with a file in `src`. */
function repository() {
	const top = join(realpathSync(tempDir()), "shop");
	mkdirSync(join(top, "src"), { recursive: true });
	const git = (...args: string[]) =>
		execFileSync("git", ["-c", "user.name=a", "-c", "user.email=a@b", ...args], { cwd: top, encoding: "utf8" }).trim();
	git("init", "-q", "-b", "main");
	writeFileSync(join(top, "src/a.ts"), "1");
	git("add", ".");
	git("commit", "-qm", "one");
	return { top, git, trees: `${top}.worktrees` };
}

test("a worktree is made from HEAD with a branch of its name, and opened again the next time", async () => {
	const { top, git, trees } = repository();
	const made = await openWorktree(join(top, "src"), "price-fix");
	expect(made.directory).toBe(join(trees, "price-fix/src"));
	expect(made.description).toBe(
		`Worktree ${join(trees, "price-fix")}: new branch price-fix at ${git("rev-parse", "HEAD").slice(0, 8)}`,
	);
	const again = await openWorktree(top, "price-fix");
	expect(again).toEqual({ directory: join(trees, "price-fix"), description: made.description.replace("new ", "") });
	// Also from inside another worktree.
	expect((await openWorktree(made.directory, "price-fix")).directory).toBe(made.directory);
	expect((await openWorktree(made.directory, "other")).directory).toBe(join(trees, "other/src"));
	expect(await listWorktrees(top)).toEqual([
		{ name: "other", path: join(trees, "other"), branch: "other", changes: 0, ownCommits: 0, usedBy: null },
		{ name: "price-fix", path: join(trees, "price-fix"), branch: "price-fix", changes: 0, ownCommits: 0, usedBy: null },
	]);
});

test("a branch that exists is checked out; a slash in its name is a dash in the path", async () => {
	const { top, git, trees } = repository();
	git("branch", "feature/x");
	expect(await openWorktree(top, "feature/x")).toMatchObject({
		directory: join(trees, "feature-x"),
		description: expect.stringContaining(": branch feature/x at"),
	});
	await expect(openWorktree(top, "feature-x")).rejects.toThrow(`feature-x is the worktree of the branch feature/x`);
	await expect(openWorktree(top, "main")).rejects.toThrow(`The branch main is checked out in ${top}`);
});

test("a worktree whose directory is gone is made again", async () => {
	const { top, trees } = repository();
	await openWorktree(top, "gone");
	rmSync(join(trees, "gone"), { recursive: true });
	const [tree] = await listWorktrees(top);
	expect(tree && describeWorktree(tree)).toBe(`gone · its directory is gone · ${join(trees, "gone")}`);
	expect((await openWorktree(top, "gone")).directory).toBe(join(trees, "gone"));
});

test("commits that no branch has, and another pi that works in a worktree, are named", async () => {
	const { top, git, trees } = repository();
	const path = join(trees, "loose");
	git("worktree", "add", "-q", "--detach", path);
	execFileSync("git", ["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "--allow-empty", "-m", "two"], {
		cwd: path,
	});
	const { pid } = spawnPaused();
	const gitDir = join(top, ".git/worktrees/loose");
	writeFileSync(
		join(gitDir, `pi-${pid}.lock`),
		JSON.stringify({ pid, startTime: null, bootId: null, host: hostname() }),
	);
	// Of a process that has ended.
	writeFileSync(
		join(gitDir, "pi-4194000.lock"),
		JSON.stringify({ pid: 4194000, startTime: null, bootId: null, host: hostname() }),
	);
	const [tree] = await listWorktrees(top);
	expect(tree && describeWorktree(tree)).toBe(
		`loose · no branch · 1 commit that no branch has · used by process ${pid} · ${path}`,
	);
	expect(existsSync(join(gitDir, "pi-4194000.lock"))).toBe(false);
	await openWorktree(top, "mine");
	// A session does not count itself.
	expect((await listWorktrees(top)).find(({ name }) => name === "mine")?.usedBy).toBe(null);
	expect(existsSync(join(top, `.git/worktrees/mine/pi-${process.pid}.lock`))).toBe(true);
});

function spawnPaused() {
	const child = spawn("sleep", ["60"], { stdio: "ignore" });
	onTestFinished(() => void child.kill());
	return { pid: child.pid };
}

test("one with changed or untracked files is removed only by force, and its branch stays", async () => {
	const { top, git, trees } = repository();
	await openWorktree(top, "fix");
	writeFileSync(join(trees, "fix/new.txt"), "x");
	const [tree] = await listWorktrees(top);
	if (!tree) throw new Error("no worktree");
	expect(describeWorktree(tree)).toBe(`fix · 1 changed file · ${join(trees, "fix")}`);
	await expect(removeWorktree(top, tree, false)).rejects.toThrow(/git worktree remove failed: .*modified or untracked/);
	expect(existsSync(join(trees, "fix/new.txt"))).toBe(true);
	await removeWorktree(top, tree, true);
	expect(existsSync(join(trees, "fix"))).toBe(false);
	expect(git("branch", "--list", "fix").trim()).toBe("fix");
});

test.each(["", "a b", "-x", "../up", "a/../b", "a..b", "x.lock", "a/", "\u001b[31m"])(
	"the name %j is refused",
	async (name) => {
		const { top, trees } = repository();
		await expect(openWorktree(top, name)).rejects.toMatchObject({ code: "bad_arguments" });
		expect(existsSync(trees)).toBe(false);
	},
);

test("outside a repository, and in one without a commit, the error says why", async () => {
	await expect(openWorktree(tempDir(), "fix")).rejects.toThrow("is not in a git repository");
	const empty = tempDir();
	execFileSync("git", ["init", "-q"], { cwd: empty });
	await expect(openWorktree(empty, "fix")).rejects.toThrow("the repository has no commit yet");
});

test("no program of the repository runs: neither hooks nor filters of its configuration", async () => {
	const { top, git, trees } = repository();
	const ran = join(top, "ran");
	writeFileSync(join(top, ".git/hooks/post-checkout"), `#!/bin/sh\ntouch ${ran}\n`, { mode: 0o755 });
	await openWorktree(top, "hooked");
	git("config", "filter.evil.smudge", `touch ${ran}`);
	writeFileSync(join(top, ".git/info/attributes"), "* filter=evil\n");
	await expect(openWorktree(top, "filtered")).rejects.toMatchObject({
		message: expect.stringContaining("its configuration names a program (filter.evil.smudge)"),
		hint: expect.stringContaining("git worktree add -b filtered"),
	});
	expect([ran, join(trees, "filtered")].filter(existsSync)).toEqual([]);
});

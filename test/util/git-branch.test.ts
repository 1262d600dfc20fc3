import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { readGitBranch, watchGitBranch } from "../../src/util/git-branch.js";

function tempDir(): string {
	const dir = mkdtempSync(join(tmpdir(), "pi-branch-"));
	onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
	return dir;
}

function repository(head: string): string {
	const dir = tempDir();
	mkdirSync(join(dir, ".git"));
	mkdirSync(join(dir, "src", "deep"), { recursive: true });
	writeFileSync(join(dir, ".git", "HEAD"), head);
	return dir;
}

test("the branch is found from any folder of the repository", () => {
	const dir = repository("ref: refs/heads/feature/tax\n");
	expect(readGitBranch(dir)).toBe("feature/tax");
	expect(readGitBranch(join(dir, "src", "deep"))).toBe("feature/tax");
});

test("a detached HEAD returns the commit", () => {
	expect(readGitBranch(repository("4f1c09ab22d1a03e7755c0de4f1c09ab22d1a03e\n"))).toBe("4f1c09a");
});

test("a work tree refers to its repository", () => {
	const dir = tempDir();
	mkdirSync(join(dir, "main", ".git", "worktrees", "w"), { recursive: true });
	mkdirSync(join(dir, "w"));
	writeFileSync(join(dir, "main", ".git", "worktrees", "w", "HEAD"), "ref: refs/heads/side\n");
	writeFileSync(join(dir, "w", ".git"), "gitdir: ../main/.git/worktrees/w\n");
	expect(readGitBranch(join(dir, "w"))).toBe("side");
});

test("there is no branch outside a repository or in a damaged one", () => {
	expect(readGitBranch(tempDir())).toBeNull();
	expect(readGitBranch(repository("nonsense"))).toBeNull();
	expect(readGitBranch(repository("x".repeat(10_000)))).toBeNull();
});

test("a .git that cannot be read counts as missing", () => {
	const dir = repository("ref: refs/heads/main");
	const nested = join(dir, "src");
	symlinkSync(".git", join(nested, ".git"));
	expect(readGitBranch(nested)).toBe("main");
	watchGitBranch(nested, () => {})();
});

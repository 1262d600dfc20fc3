import { execFile } from "node:child_process";
import { readdirSync, realpathSync, statSync } from "node:fs";
import { basename, join, relative } from "node:path";
import { PiError } from "../errors.js";
import { acquireLock, isLocked, lockOwner } from "../util/file-lock.js";
import { plural } from "../util/format-amounts.js";
import { tryUnlink } from "../util/fs.js";
import { stripAll } from "../util/sanitize.js";

/** A git worktree besides the main one. */
export interface Worktree {
	/** The last part of its path. */
	name: string;
	/** Absolute. */
	path: string;
	/** null if no branch is checked out. */
	branch: string | null;
	/** Changed and untracked files, without ignored ones; null if git cannot tell, as for a directory that is gone. */
	changes: number | null;
	/** Commits that no branch, remote branch or tag contains. */
	ownCommits: number;
	/** A pi that was started with `--on worktree:` and works there; null for none. */
	usedBy: number | null;
}

/** A worktree that a session starts in. */
export interface OpenedWorktree {
	/** The directory in it that corresponds to the one in which pi was started. */
	directory: string;
	/** What was found or made, in one line. */
	description: string;
}

interface ListedWorktree {
	path: string;
	head: string;
	branch: string | null;
}

/** Neither hooks nor a file system monitor of the repository run. */
const GIT = ["-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false"];
const NAME = /^[\p{L}\p{N}_][\p{L}\p{M}\p{N}_.-]*(\/[\p{L}\p{N}_][\p{L}\p{M}\p{N}_.-]*)*$/u;
/** Maximum duration of a run of git that only reads, ms. A checkout takes as long as it takes. */
const MAX_READ_MS = 10_000;
const MAX_OUTPUT_BYTES = 64 * 1024 * 1024;
/** Lock files of the processes that work in a worktree, in the directory that git keeps for it. */
const USER = /^(pi-(\d+))\.lock$/;
/** Programs that the configuration of the repository itself names would run at the checkout. */
const FILTERS = ["config", "--local", "--name-only", "--get-regexp", "^filter\\..*\\.(smudge|process)$"];

/**
 * Finds or makes a worktree of the repository that contains a directory: `../<repository>.worktrees/<name>` with the branch `<name>`,
 * which begins at HEAD unless it exists.
 * @throws PiError `bad_arguments` outside a repository, or for a name that cannot be used
 */
export async function openWorktree(cwd: string, name: string): Promise<OpenedWorktree> {
	if (!NAME.test(name) || name.endsWith(".lock") || name.includes("..")) {
		throw new PiError("bad_arguments", `--on worktree:${stripAll(name)}: the name must be one that a branch can have`, {
			hint: "for example --on worktree:price-fix",
		});
	}
	const top = await topOf(cwd);
	const [main, ...others] = await listed(cwd);
	const head = await read(cwd, ["rev-parse", "--verify", "HEAD"]).catch(() => {
		throw new PiError("bad_arguments", `Cannot make a worktree of ${top}: the repository has no commit yet`);
	});
	const path = join(`${main?.path ?? top}.worktrees`, name.replaceAll("/", "-"));
	const inside = join(path, relative(top, realpathSync(cwd)));
	const opened = async (tree: ListedWorktree, what?: string): Promise<OpenedWorktree> => {
		await markUsed(path);
		const isInside = statSync(inside, { throwIfNoEntry: false })?.isDirectory();
		return { directory: isInside ? inside : path, description: described(tree, what) };
	};
	const known = others.find((tree) => tree.path === path);
	if (known && statSync(path, { throwIfNoEntry: false })) {
		if (known.branch === name || known.branch === null) return opened(known);
		throw new PiError("bad_arguments", `${path} is the worktree of the branch ${known.branch}`, {
			hint: "choose another name",
		});
	}
	const holder = [main, ...others].find((tree) => tree?.branch === name && tree !== known);
	if (holder) {
		throw new PiError("bad_arguments", `The branch ${name} is checked out in ${holder.path}`, {
			hint: "start pi there, or choose another name",
		});
	}
	const filters = await read(cwd, FILTERS).catch(() => "");
	if (filters !== "") {
		const [filter] = filters.split("\n");
		throw new PiError(
			"bad_arguments",
			`Cannot make a worktree of ${top}: its configuration names a program (${filter})`,
			{
				hint: `git worktree add -b ${name} ${path} makes it, and pi then opens it`,
			},
		);
	}
	const exists = await read(cwd, ["rev-parse", "--verify", `refs/heads/${name}`]).catch(() => null);
	// Its directory is gone.
	if (known) await git(cwd, ["worktree", "prune"]);
	const branch = exists === null ? ["-b", name, path, "HEAD"] : [path, name];
	await git(cwd, ["worktree", "add", ...branch]);
	return opened({ path, head: exists ?? head, branch: name }, exists === null ? "new branch" : "branch");
}

/**
 * The worktrees of the repository that contains a directory, without the main one.
 * @throws PiError `bad_arguments` outside a repository
 */
export async function listWorktrees(cwd: string): Promise<Worktree[]> {
	await topOf(cwd);
	const [, ...others] = await listed(cwd);
	return Promise.all(
		others.map(async ({ path, branch }) => ({
			...{ name: basename(path), path, branch },
			changes: await read(path, ["status", "--porcelain", "-z", "--no-renames"]).then(
				(output) => output.split("\0").filter(Boolean).length,
				() => null,
			),
			ownCommits: Number(await read(path, OWN_COMMITS).catch(() => 0)),
			usedBy: (await usersOf(path))[0] ?? null,
		})),
	);
}

const OWN_COMMITS = ["rev-list", "--count", "HEAD", "--not", "--branches", "--remotes", "--tags"];

/** A worktree in one line. */
export function describeWorktree(tree: Worktree): string {
	const { name, path, branch, usedBy } = tree;
	const place = branch === null ? "no branch" : branch === name ? "" : `branch ${branch}`;
	const state = tree.changes === null ? "its directory is gone" : (describeLoss(tree) ?? "clean");
	const user = usedBy === null ? "" : `used by process ${usedBy}`;
	return [name, place, state, user, path].filter(Boolean).join(" · ");
}

/** What is lost with a worktree, such as `2 changed files`; null for nothing. */
export function describeLoss({ changes, ownCommits }: Worktree): string | null {
	const lost = [
		...(changes ? [plural(changes, "changed file")] : []),
		...(ownCommits > 0 ? [`${plural(ownCommits, "commit")} that no branch has`] : []),
	];
	return lost.length > 0 ? lost.join(", ") : null;
}

/**
 * Removes a worktree with its directory, ignored files included. Its branch stays.
 * @param force also with changed and untracked files
 * @throws PiError `command_failed` if git refuses
 */
export async function removeWorktree(cwd: string, { path }: Worktree, force: boolean): Promise<void> {
	const [main] = await listed(cwd);
	await git(main?.path ?? cwd, ["worktree", "remove", ...(force ? ["--force"] : []), path]);
}

/** Notes that this process works in a worktree, until it ends. */
async function markUsed(path: string): Promise<void> {
	await usersOf(path);
	const file = join(await gitDirOf(path), `pi-${process.pid}`);
	if (!isLocked(file)) acquireLock(file);
}

/** The other processes that work in a worktree; forgets those that have ended. */
async function usersOf(path: string): Promise<number[]> {
	const dir = await gitDirOf(path).catch(() => null);
	if (dir === null) return [];
	return readdirSync(dir).flatMap((file) => {
		const [, name, pid] = USER.exec(file) ?? [];
		if (name === undefined || Number(pid) === process.pid) return [];
		if (lockOwner(join(dir, name))) return [Number(pid)];
		tryUnlink(join(dir, file));
		return [];
	});
}

function gitDirOf(path: string): Promise<string> {
	return read(path, ["rev-parse", "--absolute-git-dir"]);
}

function described({ path, head, branch }: ListedWorktree, what = "branch"): string {
	const place = branch === null ? "no branch" : `${what} ${branch}`;
	return `Worktree ${path}: ${place} at ${head.slice(0, 8)}`;
}

/** All worktrees, the main one first. */
async function listed(cwd: string): Promise<ListedWorktree[]> {
	const output = await read(cwd, ["worktree", "list", "--porcelain"]);
	return output
		.split("\n\n")
		.filter((block) => block !== "")
		.map((block) => {
			const lines = new Map(block.split("\n").map((line) => [line.split(" ", 1)[0], line.replace(/^\S+ ?/, "")]));
			return {
				...{ path: lines.get("worktree") ?? "", head: lines.get("HEAD") ?? "" },
				branch: lines.get("branch")?.replace(/^refs\/heads\//, "") ?? null,
			};
		});
}

/** Top directory of the worktree that contains a directory. @throws PiError `bad_arguments` outside a repository */
async function topOf(cwd: string): Promise<string> {
	return read(cwd, ["rev-parse", "--show-toplevel"]).catch((error: unknown) => {
		if (error instanceof PiError && error.code === "bad_arguments") throw error;
		throw new PiError("bad_arguments", `${cwd} is not in a git repository, so there are no worktrees`, {
			cause: error,
		});
	});
}

async function read(cwd: string, args: readonly string[]): Promise<string> {
	return (await git(cwd, args, MAX_READ_MS)).replace(/\n$/, "");
}

/** @throws PiError `bad_arguments` without git, `command_failed` with what git says */
function git(cwd: string, args: readonly string[], timeout = 0): Promise<string> {
	return new Promise((resolve, reject) => {
		execFile("git", [...GIT, ...args], { cwd, timeout, maxBuffer: MAX_OUTPUT_BYTES }, (error, stdout, stderr) => {
			if (!error) return resolve(stdout);
			if (error.code === "ENOENT" && statSync(cwd, { throwIfNoEntry: false })) {
				return reject(new PiError("bad_arguments", "Worktrees need git, which is not in PATH"));
			}
			const lines = stripAll(stderr)
				.split("\n")
				.filter((line) => line !== "" && !line.startsWith("Preparing "));
			const said = lines.join(" ").replace(/^\w+: /, "") || error.message;
			reject(new PiError("command_failed", `git ${args.slice(0, 2).join(" ")} failed: ${said}`));
		});
	});
}

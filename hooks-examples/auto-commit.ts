/**
 * Commits the changes of a session when you leave it, to a separate ref: refs/pi/auto/<session>. `/auto-commit on` commits
 * to the current branch instead; `/auto-commit off` returns to the ref.
 *
 * The commit contains the difference between the files before the first run and after the last one, without ignored files.
 * Show it with `git log -p refs/pi/auto/<session>`. The hook uses a temporary index: your index, stash and branches do not
 * change, and no git hook runs. A commit to the branch includes only files that had no uncommitted changes when the
 * session started, and updates only those files in your index. If the branch cannot be committed to (detached HEAD, merge
 * or rebase in progress), the commit goes to the ref. Without changes there is no commit.
 */
import { access, copyFile, mkdtemp, rm, stat, utimes } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve, sep } from "node:path";
import {
	type HookAPI,
	type HookEventContext,
	isSessionHeader,
	isUserMessageEntry,
	promptText,
	type SessionEntry,
} from "@mariozechner/pi-coding-agent/hooks";

/** The state of one session. `before` and `after` are git trees of the work tree. */
interface Work {
	session: string;
	/** First prompt of the session. */
	prompt: string;
	/** The commit that was checked out before the first run; null in a repository without commits. */
	head: string | null;
	before: string;
	after: string;
	toBranch: boolean;
}

type Git = (args: readonly string[], options?: { env?: Record<string, string> }) => Promise<string>;

/** The configuration of a repository must not run programs, and nothing is fetched: see `findDanger` for filters. */
const QUIET = ["-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false", "-c", "submodule.recurse=false"];
const NO_FETCH = { GIT_ALLOW_PROTOCOL: "none", GIT_NO_LAZY_FETCH: "1" };
const PI = {
	GIT_AUTHOR_NAME: "pi",
	GIT_AUTHOR_EMAIL: "pi@localhost",
	GIT_COMMITTER_NAME: "pi",
	GIT_COMMITTER_EMAIL: "pi@localhost",
};
/** Files and directories in .git that mark an operation in progress. */
const IN_PROGRESS = ["MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD", "rebase-merge", "rebase-apply"];

/** Maximum number of arguments for one command. */
const MAX_ARGS = 400;

export default function autoCommit(pi: HookAPI): void {
	let work: Work | null = null;
	let running = false;
	const seen: Seen = {};

	pi.entry("auto_commit_mode");

	pi.command("auto-commit", {
		description: "Choose whether to commit to the current branch when the session ends",
		argumentHint: "[on | off]",
		complete: (prefix) => ["on", "off"].filter((value) => value.startsWith(prefix.trim())).map((value) => ({ value })),
		async handler(ctx) {
			const [choice] = ctx.args;
			if (choice === "on" || choice === "off") {
				const branch = choice === "on";
				await ctx.saveEntry({ type: "auto_commit_mode", branch });
				if (work) work.toBranch = branch;
			} else if (choice !== undefined) return { status: "Usage: /auto-commit [on | off]" };
			const target = isForBranch(ctx.entries) ? "the current branch" : `refs/pi/auto/${sessionOf(ctx.entries)}`;
			return { status: `Changes of this session are committed to ${target} when you leave it` };
		},
	});

	// Runs before the request to the model, and so before any tool call.
	pi.on("turn_start", async (_, ctx) => {
		running = true;
		if (work) return;
		const git = await openRepository(ctx, seen);
		if (!git) return;
		const before = await writeTree(git);
		const first = ctx.entries.find(isUserMessageEntry);
		work = {
			session: sessionOf(ctx.entries),
			prompt: first ? promptText(first) : "",
			head: await git(["rev-parse", "--verify", "--quiet", "HEAD"]).catch(() => null),
			before,
			after: before,
			toBranch: isForBranch(ctx.entries),
		};
	});

	// Read the files now: `shutdown` allows only two seconds, which may be too short.
	pi.on("agent_end", async (_, ctx) => {
		const git = work && (await openRepository(ctx, seen));
		if (work && git) work.after = await writeTree(git);
		running = false;
	});

	pi.on("session", async (event, ctx) => {
		if (!["shutdown", "switch", "clear", "branch"].includes(event.reason)) return;
		const done = work;
		work = null;
		const git = done && (await openRepository(ctx, seen));
		if (!done || !git) return;
		if (running) done.after = await writeTree(git);
		running = false;
		if (done.before === done.after) return;
		const left = done.toBranch ? await commitToBranch(git, done) : null;
		if (left === null) await commitToRef(git, done);
		else if (left.length > 0) {
			ctx.ui.notify(
				`Not committed, because they had uncommitted changes before the session: ${left.join(", ")}`,
				"warning",
			);
		}
	});
}

/** Commits to the session's ref: first the files before the session, unless a commit already has them, then those after. */
async function commitToRef(git: Git, { session, prompt, head, before, after }: Work): Promise<void> {
	const ref = `refs/pi/auto/${session}`;
	const tip = await git(["rev-parse", "--verify", "--quiet", ref]).catch(() => null);
	let parent = tip ?? head;
	const treeOf = (commit: string) => git(["rev-parse", `${commit}^{tree}`]);
	if (parent !== null && (await treeOf(parent)) === after) return;
	if (parent === null || (await treeOf(parent)) !== before) {
		parent = await commitTree(git, before, parent, "pi: files before the session", PI);
	}
	const commit = await commitTree(git, after, parent, messageOf(prompt), PI);
	await git(["update-ref", "-m", "pi: auto-commit", ref, commit, tip ?? ""]);
}

/**
 * Commits the changed files to the checked-out branch.
 * @returns changed files that were excluded because they had changes before; null if the branch cannot be committed to
 */
async function commitToBranch(git: Git, { prompt, head, before, after }: Work): Promise<string[] | null> {
	const branch = await git(["symbolic-ref", "--quiet", "HEAD"]).catch(() => null);
	const now = await git(["rev-parse", "--verify", "--quiet", "HEAD"]).catch(() => null);
	if (branch === null || now === null || head === null) return null;
	for (const name of IN_PROGRESS) {
		const path = await git(["rev-parse", "--path-format=absolute", "--git-path", name]);
		if (await exists(path)) return null;
	}
	const unclean = new Set([
		...(await changesBetween(git, head, before)).keys(),
		// Staged since then, by the user or on request.
		...(await readChanges(git, ["diff-index", "--cached", now])).keys(),
	]);
	const differing = await changesBetween(git, now, after);
	const changed = [...(await changesBetween(git, before, after)).keys()].filter((path) => differing.has(path));
	const included = changed.filter((path) => !unclean.has(path));
	if (included.length > 0) {
		const apply = (env: Record<string, string>) =>
			updateIndex(git, new Map(included.map((path) => [path, differing.get(path) ?? ""])), env);
		const tree = await withIndex(async (env) => {
			await git(["read-tree", now], { env });
			await apply(env);
			return git(["write-tree"], { env });
		});
		const known = await git(["-c", "user.useConfigOnly=true", "var", "GIT_COMMITTER_IDENT"]).catch(() => null);
		const commit = await commitTree(git, tree, now, messageOf(prompt), known === null ? PI : {});
		// Update the index first: if pi exits between the two steps, the files are staged and nothing else has changed.
		await apply({});
		await git(["update-ref", "-m", `commit (pi): ${titleOf(prompt)}`, branch, commit, now]);
	}
	return changed.filter((path) => unclean.has(path));
}

function changesBetween(git: Git, from: string, to: string): Promise<Map<string, string>> {
	return readChanges(git, ["diff-tree", "-r", from, to]);
}

/** Changed paths, each with `<mode> <object>` of its new state; mode 0 if it was deleted. */
async function readChanges(git: Git, command: readonly string[]): Promise<Map<string, string>> {
	const [name = "", ...rest] = command;
	const fields = (await git([name, "--no-renames", "--raw", "--no-abbrev", "-z", ...rest])).split("\0");
	const changes = new Map<string, string>();
	for (let i = 0; i + 1 < fields.length; i += 2) {
		const [, mode = "0", , object = ""] = (fields[i] ?? "").split(" ");
		changes.set(fields[i + 1] ?? "", `${mode} ${object}`);
	}
	return changes;
}

/** @param states result of `readChanges` */
async function updateIndex(git: Git, states: ReadonlyMap<string, string>, env: Record<string, string>): Promise<void> {
	const isGone = (state: string) => /^0+ /.test(state);
	const removed = [...states].flatMap(([path, state]) => (isGone(state) ? [path] : []));
	const added = [...states].flatMap(([path, state]) =>
		isGone(state) ? [] : ["--cacheinfo", `${state.replace(" ", ",")},${path}`],
	);
	// Deleted files first: a directory may have replaced one. In batches, because command lines have a maximum length.
	for (let i = 0; i < removed.length; i += MAX_ARGS) {
		await git(["update-index", "--force-remove", "--", ...removed.slice(i, i + MAX_ARGS)], { env });
	}
	for (let i = 0; i < added.length; i += MAX_ARGS) {
		await git(["update-index", "--add", ...added.slice(i, i + MAX_ARGS)], { env });
	}
}

/** What the hook knows of the work tree. */
interface Seen {
	/** When the hook was first used; null: none, undefined: not known yet. */
	root?: string | null;
	/** Why git may not run in it, as last reported. */
	danger?: string;
}

/** Runs git in the work tree of the working directory; null if none exists, or git could run programs of the repository. */
async function openRepository(ctx: HookEventContext, seen: Seen): Promise<Git | null> {
	const found = await ctx.exec("git", [...QUIET, "rev-parse", "--show-toplevel"]);
	const cwd = found.stdout.replace(/\n$/, "");
	if (seen.root === undefined) seen.root = found.code === 0 ? cwd : null;
	if (found.code !== 0) return null;
	const danger = await findDanger(ctx, cwd, seen.root !== cwd);
	if (danger !== null) {
		const isKnown = seen.danger === danger;
		seen.danger = danger;
		const why = `git could run programs of the repository, because ${danger}`;
		if (!isKnown) ctx.ui.notify(`Changes of this session are not committed: ${why}`, "warning");
		return null;
	}
	return async (args, { env = {} } = {}) => {
		const { code, stdout, stderr, killed } = await ctx.exec("git", [...QUIET, ...args], {
			cwd,
			env: { ...NO_FETCH, ...env },
		});
		const name = args.find((arg) => /^[a-z]+(-[a-z]+)*$/.test(arg));
		if (killed) throw new Error(`git ${name} was stopped`);
		if (code !== 0) throw new Error(stderr.split("\n")[0] || `git ${name} failed`);
		return stdout.trim();
	};
}

/**
 * Finds what would let a repository run programs here: filters that it names itself and, if the model works elsewhere, such as in
 * a sandbox, configuration that the model can write.
 * @param isNew whether the repository was made since the hook was loaded
 * @returns the reason; null if git may run
 */
async function findDanger(ctx: HookEventContext, cwd: string, isNew: boolean): Promise<string | null> {
	const isElsewhere = ctx.toolHost.name !== "";
	if (isElsewhere && isNew) return "it was made during this session";
	const run = (...args: string[]) => ctx.exec("git", [...QUIET, ...args], { cwd });
	const dirs = (await run("rev-parse", "--absolute-git-dir", "--git-common-dir")).stdout.split("\n");
	const own = dirs.filter((dir) => dir !== "").map((dir) => `${resolve(cwd, dir)}${sep}`);
	const { code, truncated, stdout } = await run("config", "--list", "--show-scope", "--show-origin", "-z");
	if (code !== 0 || truncated) return "its configuration cannot be read";
	const fields = stdout.split("\0");
	for (let at = 0; at + 2 < fields.length; at += 3) {
		const [scope, origin = "", setting = ""] = fields.slice(at, at + 3);
		if (scope !== "local" && scope !== "worktree") continue;
		const key = setting.split("\n")[0] ?? "";
		if (/^filter\..*\.(?:clean|smudge|process)$/s.test(key)) return `its configuration has ${key}`;
		const file = resolve(cwd, origin.replace(/^file:/, ""));
		if (isElsewhere && !own.some((dir) => file.startsWith(dir))) return `its configuration includes ${file}`;
	}
	return null;
}

/** Writes the files of the work tree, without ignored ones, as a git tree. */
function writeTree(git: Git): Promise<string> {
	return withIndex(async (env) => {
		// A copy of the index knows which files are unchanged, and which are tracked although ignored.
		const own = await git(["rev-parse", "--path-format=absolute", "--git-path", "index"]);
		await copyIndex(own, env.GIT_INDEX_FILE);
		await git(["add", "--all", "."], { env });
		return git(["write-tree"], { env });
	});
}

/**
 * Copies an index with its modification time, which git needs to detect files that changed within the clock's resolution
 * after the index was written. A repository without commits may have no index.
 */
async function copyIndex(from: string, to: string): Promise<void> {
	try {
		const { atime, mtime } = await stat(from);
		await copyFile(from, to);
		await utimes(to, atime, mtime);
	} catch {
		// Without a copy git reads every file, which is slower but correct.
		await rm(to, { force: true });
	}
}

/** Runs `action` with a new, empty index. */
async function withIndex<T>(action: (env: { GIT_INDEX_FILE: string }) => Promise<T>): Promise<T> {
	const dir = await mkdtemp(join(tmpdir(), "pi-commit-"));
	try {
		return await action({ GIT_INDEX_FILE: join(dir, "index") });
	} finally {
		await rm(dir, { recursive: true, force: true });
	}
}

function commitTree(
	git: Git,
	tree: string,
	parent: string | null,
	message: string,
	env: Record<string, string>,
): Promise<string> {
	const parents = parent === null ? [] : ["-p", parent];
	return git(["commit-tree", "--no-gpg-sign", ...parents, "-m", message, tree], { env });
}

async function exists(path: string): Promise<boolean> {
	return access(path).then(
		() => true,
		() => false,
	);
}

/** The prompt as a commit message, with its beginning as the title. */
function messageOf(prompt: string): string {
	const title = titleOf(prompt);
	const text = prompt.trim();
	return text.replace(/\s+/g, " ") === title ? title : `${title}\n\n${text}`;
}

function titleOf(prompt: string): string {
	const line = prompt.replace(/\s+/g, " ").trim() || "Changes of a session without a prompt";
	return (line.length > 72 ? `${line.slice(0, 71)}…` : line).toWellFormed();
}

function isForBranch(entries: readonly SessionEntry[]): boolean {
	const last = entries.findLast(({ type }) => type === "auto_commit_mode");
	return last !== undefined && "branch" in last && last.branch === true;
}

/** The session's id, safe for use in a ref. */
function sessionOf(entries: readonly SessionEntry[]): string {
	const header = entries[0];
	return (isSessionHeader(header) ? header.id.replace(/[^\w-]/g, "") : "") || "session";
}

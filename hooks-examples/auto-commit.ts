/**
 * Commits what the session has changed when it is left: on a ref of its own, refs/pi/auto/<session>, where it is in
 * nobody's way. After /auto-commit on it goes to the current branch instead; /auto-commit off takes that back.
 *
 * What changed is the difference between the files before the first run and after the last one, ignored files left out;
 * see it with `git log -p refs/pi/auto/<session>`. It is worked out with a temporary index: your own index, stash and
 * branches stay as they are, and no git hook runs. On the branch go only files that had no changes of yours when the
 * session began, and the index is told of those files alone. Where a branch cannot be committed to (none is checked out,
 * a merge or rebase is on), the ref gets the commit. Nothing changed, nothing committed.
 */
import { access, copyFile, mkdtemp, rm, stat, utimes } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
	type HookAPI,
	type HookEventContext,
	isSessionHeader,
	isUserMessageEntry,
	messageText,
	type SessionEntry,
} from "@mariozechner/pi-coding-agent/hooks";

/** Files of the work tree, as trees of git. */
interface Work {
	session: string;
	/** First prompt of the session. */
	prompt: string;
	/** The commit that was checked out before the first run; null in a repository without any. */
	head: string | null;
	before: string;
	after: string;
	toBranch: boolean;
}

type Git = (args: readonly string[], options?: { env?: Record<string, string> }) => Promise<string>;

/** Nothing of the user's configuration may run a program or want a signature. */
const QUIET = ["-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false", "-c", "submodule.recurse=false"];
const PI = {
	GIT_AUTHOR_NAME: "pi",
	GIT_AUTHOR_EMAIL: "pi@localhost",
	GIT_COMMITTER_NAME: "pi",
	GIT_COMMITTER_EMAIL: "pi@localhost",
};
/** Files and directories of .git that say that something is under way. */
const UNDER_WAY = ["MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD", "rebase-merge", "rebase-apply"];

/** Arguments of one command. */
const PIECE = 400;

export default function autoCommit(pi: HookAPI): void {
	let work: Work | null = null;
	let running = false;

	pi.entry("auto_commit_mode");

	pi.command("auto-commit", {
		description: "Say whether changes go to the current branch when the session ends",
		argumentHint: "[on | off]",
		complete: (prefix) => ["on", "off"].filter((value) => value.startsWith(prefix.trim())).map((value) => ({ value })),
		async handler(ctx) {
			const [choice] = ctx.args;
			if (choice === "on" || choice === "off") {
				const branch = choice === "on";
				await ctx.saveEntry({ type: "auto_commit_mode", branch });
				if (work) work.toBranch = branch;
			} else if (choice !== undefined) return { status: "Say /auto-commit on or /auto-commit off" };
			const place = isForBranch(ctx.entries) ? "the current branch" : `refs/pi/auto/${sessionOf(ctx.entries)}`;
			return { status: `What this session changes is committed to ${place} when it is left` };
		},
	});

	// Before the model is asked, and so before any tool runs.
	pi.on("turn_start", async (_, ctx) => {
		running = true;
		if (work) return;
		const git = await openRepository(ctx);
		if (!git) return;
		const before = await writeTree(git);
		const first = ctx.entries.find(isUserMessageEntry);
		work = {
			session: sessionOf(ctx.entries),
			prompt: first ? messageText(first.message) : "",
			head: await git(["rev-parse", "--verify", "--quiet", "HEAD"]).catch(() => null),
			before,
			after: before,
			toBranch: isForBranch(ctx.entries),
		};
	});

	// Now, for two seconds at the end may be too short to look through all files.
	pi.on("agent_end", async (_, ctx) => {
		const git = work && (await openRepository(ctx));
		if (work && git) work.after = await writeTree(git);
		running = false;
	});

	pi.on("session", async (event, ctx) => {
		if (!["shutdown", "switch", "clear", "branch"].includes(event.reason)) return;
		const done = work;
		work = null;
		const git = done && (await openRepository(ctx));
		if (!done || !git) return;
		if (running) done.after = await writeTree(git);
		running = false;
		if (done.before === done.after) return;
		const left = done.toBranch ? await commitToBranch(git, done) : null;
		if (left === null) await commitToRef(git, done);
		else if (left.length > 0) {
			ctx.ui.notify(`Not committed, for they had changes before: ${left.join(", ")}`, "warning");
		}
	});
}

/** Adds to the session's own ref: the files before, where nothing has them yet, and the files after. */
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
 * @returns changed files that are left out, for they had changes before; null when nothing can be committed there
 */
async function commitToBranch(git: Git, { prompt, head, before, after }: Work): Promise<string[] | null> {
	const branch = await git(["symbolic-ref", "--quiet", "HEAD"]).catch(() => null);
	const now = await git(["rev-parse", "--verify", "--quiet", "HEAD"]).catch(() => null);
	if (branch === null || now === null || head === null) return null;
	for (const name of UNDER_WAY) {
		const path = await git(["rev-parse", "--path-format=absolute", "--git-path", name]);
		if (await exists(path)) return null;
	}
	const unclean = new Set([
		...(await changesBetween(git, head, before)).keys(),
		// Staged since then, by the user or at their word.
		...(await readChanges(git, ["diff-index", "--cached", now])).keys(),
	]);
	const differing = await changesBetween(git, now, after);
	const changed = [...(await changesBetween(git, before, after)).keys()].filter((path) => differing.has(path));
	const taken = changed.filter((path) => !unclean.has(path));
	if (taken.length > 0) {
		const apply = (env: Record<string, string>) =>
			updateIndex(git, new Map(taken.map((path) => [path, differing.get(path) ?? ""])), env);
		const tree = await withIndex(async (env) => {
			await git(["read-tree", now], { env });
			await apply(env);
			return git(["write-tree"], { env });
		});
		const known = await git(["-c", "user.useConfigOnly=true", "var", "GIT_COMMITTER_IDENT"]).catch(() => null);
		const commit = await commitTree(git, tree, now, messageOf(prompt), known === null ? PI : {});
		// The index first: when the end comes in between, the files are staged and nothing else is different.
		await apply({});
		await git(["update-ref", "-m", `commit (pi): ${titleOf(prompt)}`, branch, commit, now]);
	}
	return changed.filter((path) => unclean.has(path));
}

function changesBetween(git: Git, from: string, to: string): Promise<Map<string, string>> {
	return readChanges(git, ["diff-tree", "-r", from, to]);
}

/** Changed paths, each with `<mode> <object>` of its new state: mode 0 when it is gone. */
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

/** @param states what `readChanges` gave */
async function updateIndex(git: Git, states: ReadonlyMap<string, string>, env: Record<string, string>): Promise<void> {
	const isGone = (state: string) => /^0+ /.test(state);
	const removed = [...states].flatMap(([path, state]) => (isGone(state) ? [path] : []));
	const added = [...states].flatMap(([path, state]) =>
		isGone(state) ? [] : ["--cacheinfo", `${state.replace(" ", ",")},${path}`],
	);
	// What is gone goes first: a directory may stand in its place. In pieces, for a command line has its limits.
	for (let i = 0; i < removed.length; i += PIECE) {
		await git(["update-index", "--force-remove", "--", ...removed.slice(i, i + PIECE)], { env });
	}
	for (let i = 0; i < added.length; i += PIECE) {
		await git(["update-index", "--add", ...added.slice(i, i + PIECE)], { env });
	}
}

/** Git in the work tree around the working directory; null when there is none. */
async function openRepository(ctx: HookEventContext): Promise<Git | null> {
	const found = await ctx.exec("git", [...QUIET, "rev-parse", "--show-toplevel"]);
	if (found.code !== 0) return null;
	const cwd = found.stdout.replace(/\n$/, "");
	return async (args, { env = {} } = {}) => {
		const { code, stdout, stderr, killed } = await ctx.exec("git", [...QUIET, ...args], { cwd, env });
		const name = args.find((arg) => /^[a-z]+(-[a-z]+)*$/.test(arg));
		if (killed) throw new Error(`git ${name} was stopped`);
		if (code !== 0) throw new Error(stderr.split("\n")[0] || `git ${name} failed`);
		return stdout.trim();
	};
}

/** The files of the work tree, ignored ones left out, as a tree. */
function writeTree(git: Git): Promise<string> {
	return withIndex(async (env) => {
		// A copy knows which files are unchanged, and which are tracked although ignored. A new repository has none.
		const own = await git(["rev-parse", "--path-format=absolute", "--git-path", "index"]);
		await copyIndex(own, env.GIT_INDEX_FILE);
		await git(["add", "--all", "."], { env });
		return git(["write-tree"], { env });
	});
}

/**
 * Copies an index, its time included: that is how git knows which files were changed so soon after it was written that
 * their own times do not tell. A repository without commits may have no index.
 */
async function copyIndex(from: string, to: string): Promise<void> {
	try {
		const { atime, mtime } = await stat(from);
		await copyFile(from, to);
		await utimes(to, atime, mtime);
	} catch {
		// Without a copy git reads every file, which is slower and right.
		await rm(to, { force: true });
	}
}

/** Runs `action` with an index of its own, which is empty. */
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

/** The prompt, its beginning as the title. */
function messageOf(prompt: string): string {
	const title = titleOf(prompt);
	const text = prompt.trim();
	return text.replace(/\s+/g, " ") === title ? title : `${title}\n\n${text}`;
}

function titleOf(prompt: string): string {
	const line = prompt.replace(/\s+/g, " ").trim() || "Work of a session without text";
	return (line.length > 72 ? `${line.slice(0, 71)}…` : line).toWellFormed();
}

function isForBranch(entries: readonly SessionEntry[]): boolean {
	const last = entries.findLast(({ type }) => type === "auto_commit_mode");
	return last !== undefined && "branch" in last && last.branch === true;
}

/** The session's id, as a part of a ref. */
function sessionOf(entries: readonly SessionEntry[]): string {
	const header = entries[0];
	return (isSessionHeader(header) ? header.id.replace(/[^\w-]/g, "") : "") || "session";
}

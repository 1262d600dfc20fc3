/**
 * Saves the files of the work tree before each turn. `/branch` offers to restore them, `/rewind [turn]` restores them at any
 * time, after a look at the files that change, and `/rewind undo` reverts the last rewind.
 *
 * A checkpoint is a commit of all tracked and untracked files, without ignored ones. It is created with a temporary index in
 * an object directory of pi's own, .git/pi/objects, so that no branch, ref or `git log --all` shows it, and `git gc` does not
 * remove it. Your index, stash, branches and HEAD do not change, and no git hook runs. Files are restored with git's two-tree
 * merge; if a file would be lost, nothing changes. Because HEAD does not move, commits made since then appear as uncommitted
 * changes. Checkpoints older than KEEP_DAYS are deleted. Turns are counted from 1, one for each user message; entries contain
 * the index of that message.
 */
import { copyFile, lstat, mkdir, mkdtemp, readdir, rm, stat, utimes } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, relative, resolve, sep } from "node:path";
import {
	type CustomEntry,
	type ExecResult,
	type HookAPI,
	type HookEventContext,
	isUserMessageEntry,
	messageText,
	type SessionEntry,
} from "@mariozechner/pi-coding-agent/hooks";

/** The files at the time when the message of entry `turn` was sent. */
interface Checkpoint extends CustomEntry {
	type: "git_checkpoint";
	turn: number;
	commit: string;
}

/** The files of `turn` were restored; commit `before` has the files from before that. */
interface Rewind extends CustomEntry {
	type: "git_rewind";
	turn: number;
	/** Number of the turn; entries of older versions have none. */
	turnNumber?: number;
	/** It undid a rewind, or came with a branch; absent: neither. */
	way?: "undo" | "branch";
	before: string;
}

const KEEP_DAYS = 30;
const DAY_MS = 24 * 60 * 60 * 1000;
/** Files that the question lists; more are counted. */
const MAX_LISTED = 100;

/** The configuration of a repository must not run programs, and nothing is fetched: see `findDanger` for filters. */
const QUIET = ["-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false", "-c", "submodule.recurse=false"];
const NO_FETCH = { GIT_ALLOW_PROTOCOL: "none", GIT_NO_LAZY_FETCH: "1" };
const AUTHOR = {
	GIT_AUTHOR_NAME: "pi",
	GIT_AUTHOR_EMAIL: "pi@localhost",
	GIT_COMMITTER_NAME: "pi",
	GIT_COMMITTER_EMAIL: "pi@localhost",
};

export default function gitCheckpoint(pi: HookAPI): void {
	let running = false;
	const first: FirstSeen = {};
	/** The checkpoint chosen in `before_branch`, and its turn; restored after the branch, when nothing runs. */
	let pending: { checkpoint: Checkpoint; number: number } | null = null;

	pi.entry("git_checkpoint");
	pi.entry("git_rewind", {
		render: (entry, theme) => theme.dim(isRewind(entry) ? `◇ ${describeRewind(entry)}` : "◇ restored files"),
	});

	pi.on("agent_start", () => {
		running = true;
	});
	pi.on("agent_end", () => {
		running = false;
	});

	// Runs before the request to the model, and so before any tool call. A prompt sent during a run gets its own turn.
	pi.on("turn_start", async (_, ctx) => {
		const turn = ctx.entries.findLastIndex(isUserMessageEntry);
		if (turn < 0 || checkpoints(ctx.entries).some((checkpoint) => checkpoint.turn === turn)) return;
		const git = await openRepository(ctx, first);
		if (typeof git === "string") return;
		await ctx.saveEntry({ type: "git_checkpoint", turn, commit: await git.snapshot(`before turn ${turn}`) });
	});

	pi.on("session", async (event, ctx) => {
		if (event.reason === "start") {
			const git = await openRepository(ctx, first);
			if (typeof git !== "string") await git.dropOld();
		}
		if (event.reason === "before_branch") {
			pending = null;
			const checkpoint = checkpoints(event.entries).find(({ turn }) => turn === event.targetTurnIndex);
			// Without a screen the files do not change.
			if (!checkpoint || !ctx.hasUI) return undefined;
			const choice = await ctx.ui.select("Restore", ["conversation only", "conversation and files", "files only"]);
			if (choice === null) return { cancel: true };
			if (choice.includes("and files") || choice.startsWith("files")) {
				pending = { checkpoint, number: turnNumber(checkpoint.turn, event.entries) };
			}
			return { skipConversationRestore: choice.startsWith("files") };
		}
		if (event.reason === "branch" && pending) {
			const { checkpoint, number } = pending;
			pending = null;
			const told = await restore(ctx, first, checkpoint, number, "branch");
			if (told) ctx.ui.notify(told.status);
		}
		return undefined;
	});

	pi.command("rewind", {
		description: "Restore the files from before a turn",
		argumentHint: "[turn | undo]",
		complete: (prefix, { entries }) =>
			checkpoints(entries)
				.toReversed()
				.map(({ turn }) => ({ value: String(turnNumber(turn, entries)), label: labelOf(turn, entries) }))
				.filter(({ value }) => value.startsWith(prefix.trim())),
		async handler(ctx) {
			if (running) return { status: "Stop the agent before /rewind: it may be writing files" };
			const { entries } = ctx;
			if (ctx.args[0] === "undo") {
				const last = entries.findLast(isRewind);
				if (!last) return { status: "There is no rewind to undo" };
				const number = last.turnNumber ?? turnNumber(last.turn, entries);
				return restore(ctx, first, { turn: last.turn, commit: last.before }, number, "undo");
			}
			const all = checkpoints(entries).toReversed();
			if (all.length === 0) {
				const git = await openRepository(ctx, first);
				return { status: typeof git === "string" ? git : "There is no checkpoint yet" };
			}
			const numbers = all.map(({ turn }) => turnNumber(turn, entries));
			const options = all.map(({ turn }, at) => ({ label: labelOf(turn, entries), value: String(numbers[at]) }));
			const chosen = ctx.args[0] ?? (await ctx.ui.select("Restore the files from before which turn?", options));
			if (chosen === null) return undefined;
			const checkpoint = all.find((_, at) => String(numbers[at]) === chosen);
			if (!checkpoint) return { status: `Turn ${chosen} has no checkpoint · turns: ${numbers.join(", ")}` };
			return restore(ctx, first, checkpoint, Number(chosen));
		},
	});
}

/**
 * Restores files and saves an entry to undo that.
 * @param way `undo`: they are the files from before a rewind; `branch`: the user has chosen to restore them with a branch
 * @returns what to tell the user; undefined if the screen shows the entry, which says the same
 */
async function restore(
	ctx: HookEventContext,
	first: FirstSeen,
	{ turn, commit }: Pick<Checkpoint, "turn" | "commit">,
	turnNumber: number,
	way?: Rewind["way"],
): Promise<{ status: string } | undefined> {
	const git = await openRepository(ctx, first);
	if (typeof git === "string") return { status: git };
	try {
		const place = way === "undo" ? "before the rewind" : `before turn ${turnNumber}`;
		let isWanted = true;
		const before = await git.replaceFiles(commit, async (files) => {
			if (ctx.hasUI && way !== "branch") {
				const listed = files.slice(0, MAX_LISTED);
				if (files.length > MAX_LISTED) listed.push(`… ${files.length - MAX_LISTED} more`);
				const question = `Restore ${files.length === 1 ? "this file" : `these ${files.length} files`} as of ${place}?`;
				isWanted = await ctx.ui.confirm(question, listed.join("\n"));
			}
			return isWanted;
		});
		if (!isWanted) return { status: "No file was changed" };
		if (before === null) return { status: `The files are as they were ${place}` };
		const entry: Rewind = { type: "git_rewind", turn, turnNumber, ...(way && { way }), before };
		await ctx.saveEntry({ ...entry });
		const status = describeRewind(entry);
		return ctx.hasUI ? undefined : { status: `${status[0]?.toUpperCase()}${status.slice(1)}` };
	} catch (error) {
		return { status: `No file was changed: ${error instanceof Error ? error.message : String(error)}` };
	}
}

function describeRewind({ turn, turnNumber, way }: Rewind): string {
	const next = "/rewind undo reverts this";
	if (way === "undo") return `undid the rewind · ${next}`;
	const branch = way === "branch" ? "" : ` · /branch ${turn} returns the conversation there too`;
	return `restored the files from before ${turnNumber === undefined ? "a turn" : `turn ${turnNumber}`} · ${next}${branch}`;
}

interface Repository {
	/** Commits the files of the work tree. @param name subject of the commit @returns the commit */
	snapshot(name: string): Promise<string>;
	/**
	 * Restores the files of a commit, unless `confirm` refuses the changes: lines such as `changed src/a.ts`.
	 * @returns a commit of the previous files; null if none changes @throws Error if a file would be lost
	 */
	replaceFiles(commit: string, confirm: (changes: string[]) => Promise<boolean>): Promise<string | null>;
	dropOld(): Promise<void>;
}

/** The work tree when the hook was first used; null: none, undefined: not known yet. */
type FirstSeen = { root?: string | null };

/** The repository of the working directory, or the reason why it is missing. */
async function openRepository(ctx: HookEventContext, first: FirstSeen): Promise<Repository | string> {
	const found = await ctx.exec("git", [...QUIET, "rev-parse", "--show-toplevel"]);
	const cwd = found.stdout.replace(/\n$/, "");
	if (first.root === undefined) first.root = found.code === 0 ? cwd : null;
	if (found.code === 127) return "git is not installed: checkpoints are not available";
	if (found.code !== 0) return "Not a git work tree: checkpoints are not available";
	const danger = await findDanger(ctx, cwd, first.root !== cwd);
	if (danger !== null)
		return `Checkpoints are not available: git could run programs of the repository, because ${danger}`;
	const git = async (args: string[], env: Record<string, string> = {}): Promise<string> => {
		const result = await ctx.exec("git", [...QUIET, ...args], { cwd, env: { ...NO_FETCH, ...env } });
		if (result.code !== 0) throw new Error(reasonOf(result, args));
		return result.stdout.trim();
	};
	const pathOf = (name: string) => git(["rev-parse", "--path-format=absolute", "--git-path", name]);
	/** New objects go to pi's directory; those of the repository are found too. */
	const own = join(await git(["rev-parse", "--path-format=absolute", "--git-common-dir"]), "pi", "objects");
	const objects = { GIT_OBJECT_DIRECTORY: own, GIT_ALTERNATE_OBJECT_DIRECTORIES: await pathOf("objects") };

	/** Runs `action` with a temporary index that contains the current work tree. */
	const withIndex = async <T>(action: (env: Record<string, string>) => Promise<T>): Promise<T> => {
		const dir = await mkdtemp(join(tmpdir(), "pi-checkpoint-"));
		try {
			const env = { ...objects, GIT_INDEX_FILE: join(dir, "index") };
			await mkdir(own, { recursive: true });
			// A copy of the index knows which files are unchanged, and which are tracked although ignored.
			await copyIndex(await pathOf("index"), env.GIT_INDEX_FILE);
			await git(["add", "--all", "."], env);
			return await action(env);
		} finally {
			await rm(dir, { recursive: true, force: true });
		}
	};

	const commitTree = async (name: string, env: Record<string, string>): Promise<string> => {
		const tree = await git(["write-tree"], env);
		return git(["commit-tree", "--no-gpg-sign", "-m", `pi: ${name}`, tree], { ...env, ...AUTHOR });
	};

	return {
		snapshot: (name) => withIndex((env) => commitTree(name, env)),
		replaceFiles: (commit, confirm) =>
			withIndex(async (env) => {
				const before = await commitTree("before a rewind", env);
				const diff = await git(["diff-tree", "-r", "-z", "--no-renames", "--name-status", before, commit], env);
				const changes = diff.split("\0");
				if (diff === "") return null;
				const lost = await findLoss(cwd, changes);
				if (lost !== null) throw new Error(`${lost} is ignored by git and would be overwritten; move it first`);
				if (!(await confirm(describeChanges(changes)))) return null;
				await git(["read-tree", "-m", "-u", before, commit], env);
				return before;
			}),
		async dropOld() {
			const oldest = Date.now() - KEEP_DAYS * DAY_MS;
			// Git renews the time of an object that it would write again.
			for (const entry of await readdir(own, { recursive: true, withFileTypes: true }).catch(() => [])) {
				const path = join(entry.parentPath, entry.name);
				if (entry.isFile() && (await stat(path)).mtimeMs < oldest) await rm(path, { force: true });
			}
			// Where older versions kept them.
			const format = "--format=%(committerdate:unix) %(refname)";
			for (const line of (await git(["for-each-ref", format, "refs/pi/"])).split("\n")) {
				const [seconds = "", ref = ""] = line.split(" ");
				if (ref !== "" && Number(seconds) * 1000 < oldest) await git(["update-ref", "-d", ref]);
			}
		},
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

/** @param changes alternating status and path */
function describeChanges(changes: readonly string[]): string[] {
	const words: Record<string, string> = { A: "created", D: "deleted" };
	return changes.flatMap((path, i) => {
		const status = changes[i - 1];
		return i % 2 === 0 || status === undefined ? [] : [`${words[status] ?? "changed"} ${path}`];
	});
}

/**
 * Finds a file that git would overwrite: one that no checkpoint contains, because git ignores it, at the path of a file to
 * restore. @param changes alternating status and path @returns its path; null if none exists
 */
async function findLoss(cwd: string, changes: readonly string[]): Promise<string | null> {
	const paths = (status: string) => changes.filter((_, i) => i % 2 === 1 && changes[i - 1] === status);
	const removed = new Set(paths("D"));
	for (const path of paths("A")) {
		const parts = path.split("/");
		for (let length = 1; length <= parts.length; length++) {
			const here = parts.slice(0, length).join("/");
			const stats = await lstat(join(cwd, here)).catch(() => null);
			if (!stats) break;
			if (!stats.isDirectory()) {
				if (!removed.has(here)) return here;
			} else if (here === path) {
				const inside = await readdir(join(cwd, here), { recursive: true, withFileTypes: true });
				const files = inside.filter((entry) => !entry.isDirectory()).map((entry) => join(entry.parentPath, entry.name));
				const ignored = files
					.map((file) => relative(cwd, file))
					.find((file) => !removed.has(file.split(sep).join("/")));
				if (ignored !== undefined) return ignored;
			}
		}
	}
	return null;
}

function reasonOf({ stderr, killed }: ExecResult, args: readonly string[]): string {
	if (killed) return "git was stopped";
	const line = stderr.split("\n").find((text) => /^(error|fatal):/.test(text)) ?? stderr.split("\n")[0];
	return line || `git ${args[0]} failed`;
}

function checkpoints(entries: readonly SessionEntry[]): Checkpoint[] {
	return entries.filter(isCheckpoint);
}

// The session file is untrusted input: only commit ids are passed to git as arguments.
const COMMIT = /^[0-9a-f]{40,64}$/;

function isCheckpoint(entry: SessionEntry): entry is Checkpoint {
	return (
		entry.type === "git_checkpoint" &&
		"commit" in entry &&
		typeof entry.commit === "string" &&
		COMMIT.test(entry.commit) &&
		Number.isInteger(entry.turn)
	);
}

function isRewind(entry: SessionEntry): entry is Rewind {
	return (
		entry.type === "git_rewind" &&
		(entry.turnNumber === undefined || Number.isInteger(entry.turnNumber)) &&
		"before" in entry &&
		typeof entry.before === "string" &&
		COMMIT.test(entry.before) &&
		Number.isInteger(entry.turn)
	);
}

/** The number of the turn that starts at an entry, from 1. */
function turnNumber(turn: number, entries: readonly SessionEntry[]): number {
	return entries.slice(0, turn + 1).filter(isUserMessageEntry).length;
}

function labelOf(turn: number, entries: readonly SessionEntry[]): string {
	const entry = entries[turn];
	const text = isUserMessageEntry(entry) ? messageText(entry.message).replace(/\s+/g, " ").trim() : "";
	return `${turnNumber(turn, entries)}  ${text.length > 60 ? `${text.slice(0, 60)}…` : text}`.toWellFormed();
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

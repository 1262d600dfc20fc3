import { promises } from "node:fs";
import { posix } from "node:path";
import type { FileChange, FileContent } from "../../log/entry.js";
import { UNKNOWN_CONTENT } from "../../log/file-changes.js";
import { MAX_KEPT_FILE_BYTES } from "../../log/file-contents.js";
import { elsewhereOf } from "../../tools/machine/elsewhere.js";
import type { ToolHost } from "../../tools/machine/machine.js";
import { monotonicMs } from "../../util/clock.js";
import { type KeptContents, keepContent } from "./keep-content.js";

/** Maximum duration of one run of git, ms. */
const MAX_GIT_MS = 2000;
/** Time for the contents of changed files before a command, ms. The contents of the others are unknown. */
const MAX_KEEPING_MS = 1000;
/** With more changed files, commands are not recorded. */
const MAX_CHANGED_FILES = 2000;
/** Files of one command whose earlier contents git is asked for. */
const MAX_ASKED_FILES = 500;
/** Programs that read at the same time. */
const PARALLEL = 8;
const MAX_STATUS_BYTES = 16 * 1024 * 1024;
/** A file system may stamp files with a clock that is some ms behind. */
const CLOCK_TOLERANCE_MS = 50;

/** Never writes to the repository, and runs neither a file system monitor nor hooks. */
const GIT = ["git", "--no-optional-locks", "--literal-pathspecs", "-c", "core.fsmonitor=false"];
const STATUS = [
	...["status", "--porcelain=v2", "--branch", "-z", "--untracked-files=all"],
	...["--no-renames", "--ignore-submodules=dirty"],
];

/** A partial clone would fetch the content of files. */
const NO_FETCH = { GIT_ALLOW_PROTOCOL: "none", GIT_NO_LAZY_FETCH: "1" };

/** Programs that the configuration of a repository names. */
const FILTERS = "^filter\\..*\\.(clean|smudge|process)$";

/** Sections of a configuration that name filters, here or in other files. */
const MAY_NAME_FILTERS = /\[\s*(filter|include|extensions)/i;
const ASK_GIT = "[filter]";

const DELETED = "000000";
const REGULAR = /^100/;
const EXECUTABLE = "100755";

/** A changed or untracked file. */
interface ChangedFile {
	/** Differs if the content may differ; undefined: unknown. */
	fingerprint: string | undefined;
	content: FileContent;
}

/** What git knows about the working directory at one time. */
export interface GitSnapshot {
	/** Commit; null before the first one. */
	readonly head: string | null;
	/** Changed and untracked files by path, relative to the repository. */
	readonly files: ReadonlyMap<string, ChangedFile>;
	/** ms since the epoch. */
	readonly time: number;
}

/** Finds out with git what commands change on a host. Files that git ignores are not seen. */
export class GitChanges {
	/** Top directory of the repository, known after the first status. */
	#root: string | null = null;
	#problem: string | null = null;
	/** The content of changed files by path, as last read. */
	#known = new Map<string, ChangedFile>();

	constructor(
		private readonly host: ToolHost,
		private readonly contents: () => KeptContents,
	) {}

	/** Why commands are not recorded; null if they are. */
	get problem(): string | null {
		return this.#problem;
	}

	/** The state before a command, with the contents of changed files. @returns null if git cannot tell; see `problem` */
	async snapshot(signal?: AbortSignal): Promise<GitSnapshot | null> {
		if (this.#problem !== null && this.#problem !== NO_REPOSITORY) return null;
		this.#problem = null;
		const config = await this.#repositoryConfig();
		if (config === null) {
			this.#problem = NO_REPOSITORY;
			return null;
		}
		// `git status` runs the filters of files with other times. The user's own are in the user's configuration.
		const filters = MAY_NAME_FILTERS.test(config)
			? await this.#git(["config", "--show-scope", "--name-only", "--get-regexp", FILTERS])
			: null;
		if (filters !== null && /^(?:local|worktree)\t/m.test(filters)) {
			this.#problem = "the configuration of the repository names a filter, which would run";
			return null;
		}
		const now = await this.#status(signal);
		if (now === null) return null;
		const deadline = monotonicMs() + MAX_KEEPING_MS;
		const files = new Map<string, ChangedFile>();
		await forEach([...now.files], async ([path, fingerprint]) => {
			const known = this.#known.get(path);
			if (known !== undefined && known.fingerprint === fingerprint && fingerprint !== undefined) files.set(path, known);
			else if (monotonicMs() > deadline) files.set(path, { fingerprint, content: UNKNOWN_CONTENT });
			else {
				const content = await keepContent(this.host, this.#absolute(path), this.contents());
				const file = { fingerprint, content };
				files.set(path, file);
				this.#known.set(path, file);
			}
		});
		for (const path of this.#known.keys()) if (!files.has(path)) this.#known.delete(path);
		return { head: now.head, files, time: now.time };
	}

	/** What has changed since a snapshot. Never rejects. */
	async changesSince(before: GitSnapshot): Promise<FileChange[]> {
		const after = await this.#status();
		if (after === null) return [];
		const candidates = new Set([...after.files.keys(), ...before.files.keys()]);
		if (before.head !== null && after.head !== null && after.head !== before.head) {
			const changed = await this.#git(["diff-tree", "-r", "-z", "--name-only", before.head, after.head]);
			for (const path of split(changed ?? "")) candidates.add(path);
		}
		const isSame = (path: string) => {
			const earlier = before.files.get(path)?.fingerprint;
			return earlier !== undefined && earlier === after.files.get(path);
		};
		const paths = [...candidates].filter((path) => !isSame(path));
		const clean = paths.filter((path) => !before.files.has(path));
		const tracked = before.head === null ? new Map<string, string>() : await this.#trackedModes(before.head, clean);
		if (tracked === null) return [];
		const changes: FileChange[] = [];
		await forEach(paths, async (path) => {
			const mode = tracked.get(path);
			if (mode !== undefined && !REGULAR.test(mode)) return; // a link or a submodule
			const earlier = before.files.get(path);
			const absolute = this.#absolute(path);
			if (!earlier && mode === undefined && (await this.#isOlder(absolute, before.time))) return; // was ignored
			const content = earlier?.content ?? (mode === undefined ? null : await this.#committed(`${before.head}:${path}`));
			const now = await keepContent(this.host, absolute, this.contents());
			const fingerprint = after.files.get(path);
			if (fingerprint !== undefined) this.#known.set(path, { fingerprint, content: now });
			if (content === now && now !== UNKNOWN_CONTENT) return;
			const executable = mode === EXECUTABLE ? { executable: true as const } : {};
			changes.push({ path: absolute, before: content, after: now, ...executable });
		});
		return changes.sort((a, b) => (a.path < b.path ? -1 : 1));
	}

	/** Changed files with their fingerprints. */
	async #status(signal?: AbortSignal) {
		const time = Date.now();
		this.#root ??= (await this.#git(["rev-parse", "--show-toplevel"], { signal }))?.replace(/\n$/, "") ?? null;
		const output = this.#root === null ? null : await this.#git(STATUS, { signal });
		if (output === null) return null;
		const { head, paths } = readStatus(output);
		if (paths.length > MAX_CHANGED_FILES) {
			this.#problem = `more than ${MAX_CHANGED_FILES} files differ from the last commit`;
			return null;
		}
		const prints = await this.#fingerprints(paths);
		const files = new Map(paths.map(({ path }, at) => [path, prints[at]]));
		return { head, files, time };
	}

	/** Of files on this machine from their inode, which costs no process. */
	async #fingerprints(paths: readonly StatusPath[]): Promise<(string | undefined)[]> {
		if (elsewhereOf(this.host) === null) {
			return Promise.all(
				paths.map(async ({ path }) => {
					const stats = await promises.lstat(this.#absolute(path), { bigint: true }).catch(() => null);
					return stats ? `${stats.ino} ${stats.size} ${stats.mtimeNs} ${stats.ctimeNs}` : undefined;
				}),
			);
		}
		const existing = paths.filter(({ isDeleted, path }) => !isDeleted && !path.includes("\n"));
		if (existing.length === 0) return paths.map(() => undefined);
		const stdin = existing.map(({ path }) => `${this.#absolute(path)}\n`).join("");
		const digests = await this.#git(["hash-object", "--no-filters", "--stdin-paths"], { stdin });
		const found = digests?.trimEnd().split("\n") ?? [];
		const byPath = new Map(existing.map(({ path }, at) => [path, found[at]]));
		return paths.map(({ path }) => byPath.get(path));
	}

	/** Modes of files in a commit; null if git failed. */
	async #trackedModes(head: string, paths: readonly string[]): Promise<Map<string, string> | null> {
		const modes = new Map<string, string>();
		for (let at = 0; at < paths.length; at += MAX_ASKED_FILES) {
			const part = paths.slice(at, at + MAX_ASKED_FILES);
			const output = await this.#git(["ls-tree", "-z", "--full-tree", head, "--", ...part]);
			if (output === null) return null;
			for (const line of split(output)) {
				const [, mode = "", path = ""] = /^(\d+) [^\t]*\t([\s\S]*)$/.exec(line) ?? [];
				modes.set(path, mode);
			}
		}
		return modes;
	}

	/** The content of a committed file as git would check it out. */
	async #committed(object: string): Promise<FileContent> {
		const bytes = await this.#gitBytes(["cat-file", "--filters", object], MAX_KEPT_FILE_BYTES);
		return bytes === null ? UNKNOWN_CONTENT : this.contents().put(bytes);
	}

	/** Whether a file of this machine existed at a time, unchanged. */
	async #isOlder(path: string, time: number): Promise<boolean> {
		if (elsewhereOf(this.host) !== null) return false;
		const stats = await promises.lstat(path).catch(() => null);
		return stats !== null && stats.ctimeMs < time - CLOCK_TOLERANCE_MS;
	}

	/**
	 * The configuration of the repository of the working directory, if reading it spares a run of git: null without a repository, and
	 * the name of a section that needs git for one elsewhere or with several files.
	 */
	async #repositoryConfig(): Promise<string | null> {
		if (elsewhereOf(this.host) !== null) return ASK_GIT;
		for (let dir = this.host.cwd; ; dir = posix.dirname(dir)) {
			const stats = await promises.stat(posix.join(dir, ".git")).catch(() => null);
			// A worktree or a submodule.
			if (stats?.isFile()) return ASK_GIT;
			if (stats) return promises.readFile(posix.join(dir, ".git", "config"), "utf8").catch(() => ASK_GIT);
			if (dir === posix.dirname(dir)) return null;
		}
	}

	#absolute(path: string): string {
		return posix.join(this.#root ?? "/", path);
	}

	async #git(args: readonly string[], options: GitOptions = {}): Promise<string | null> {
		return (await this.#gitBytes(args, MAX_STATUS_BYTES, options))?.toString() ?? null;
	}

	async #gitBytes(args: readonly string[], maxBytes: number, options: GitOptions = {}): Promise<Buffer | null> {
		const chunks: Buffer[] = [];
		let size = 0;
		const { exitCode, endedBy } = await this.host.exec([...GIT, ...args], {
			...(options.signal && { signal: options.signal }),
			...(options.stdin !== undefined && { stdin: options.stdin }),
			...(this.#root !== null && { cwd: this.#root }),
			env: NO_FETCH,
			timeoutMs: MAX_GIT_MS,
			onOutput(chunk, stream) {
				if (stream === "stderr") return undefined;
				size += chunk.length;
				if (size <= maxBytes) chunks.push(chunk);
				return undefined;
			},
		});
		if (endedBy === "timeout") this.#problem = `git took longer than ${MAX_GIT_MS / 1000} s`;
		else if (exitCode === 127) this.#problem = "git is not installed";
		else if (exitCode !== 0 && this.#root === null && endedBy === "itself") this.#problem = NO_REPOSITORY;
		return exitCode === 0 && size <= maxBytes ? Buffer.concat(chunks) : null;
	}
}

const NO_REPOSITORY = "the working directory is not in a git repository";

interface GitOptions {
	signal?: AbortSignal | undefined;
	stdin?: string;
}

interface StatusPath {
	path: string;
	isDeleted: boolean;
}

/** Reads the output of `git status --porcelain=v2 --branch -z`. Submodules, links and nested repositories are omitted. */
function readStatus(output: string): { head: string | null; paths: StatusPath[] } {
	let head: string | null = null;
	const paths: StatusPath[] = [];
	for (const line of split(output)) {
		const [kind] = line;
		if (kind === "#") head = /^# branch\.oid ([0-9a-f]{40,})$/.exec(line)?.[1] ?? head;
		else if (kind === "?" && !line.endsWith("/")) paths.push({ path: line.slice(2), isDeleted: false });
		else if (kind === "1" || kind === "u") {
			// Fields before the path: of an unmerged file there are a mode and a digest for each of three stages.
			const count = kind === "1" ? 8 : 10;
			const fields = line.split(" ");
			const [, , submodule = "", ...rest] = fields;
			const mode = rest[kind === "1" ? 2 : 3] ?? "";
			if (submodule.startsWith("S") || (mode !== DELETED && !REGULAR.test(mode))) continue;
			paths.push({ path: fields.slice(count).join(" "), isDeleted: mode === DELETED });
		}
	}
	// A path that is not UTF-8 cannot be named.
	return { head, paths: paths.filter(({ path }) => !path.includes("\uFFFD")) };
}

function split(output: string): string[] {
	return output.split("\0").filter((part) => part !== "");
}

/** Runs an action for each item, some at the same time. */
async function forEach<T>(items: readonly T[], action: (item: T) => Promise<void>): Promise<void> {
	let next = 0;
	const work = async () => {
		for (let item = items[next++]; item !== undefined; item = items[next++]) await action(item);
	};
	await Promise.all(Array.from({ length: Math.min(PARALLEL, items.length) }, work));
}

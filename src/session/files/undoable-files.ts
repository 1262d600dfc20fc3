import type { FileRecording } from "../../agent/tool-calls.js";
import {
	type EntryRange,
	entryTimestamp,
	type FileChange,
	isMessageEntry,
	isUserMessageEntry,
	type SessionEntry,
	type UndoneFiles,
} from "../../log/entry.js";
import { changedFiles, lastChangedTurn } from "../../log/file-changes.js";
import { FileContents } from "../../log/file-contents.js";
import type { ToolHost } from "../../tools/machine/machine.js";
import type { SystemItems } from "../prompt/prompt-queue.js";
import type { SessionCore } from "../session-core.js";
import { SessionFileReview } from "./file-review.js";
import { GitChanges } from "./git-changes.js";
import { recordFiles } from "./record-files.js";
import { type AskToRestore, restoreFiles } from "./restore-files.js";

/** Source of the system items. */
const SOURCE = "undo";
/** Files that the message to the model names. */
const MAX_NAMED = 20;

/** What the tools of a session change in files: records it, and restores it. */
export class UndoableFiles {
	/** Those of the current session file. */
	#kept: { path: string | null; contents: FileContents } | null = null;
	/** By host, which changes when the session does. */
	readonly #git = new WeakMap<ToolHost, GitChanges>();

	constructor(
		private readonly core: Pick<SessionCore, "activity" | "store" | "machine" | "state" | "context"> & {
			systemItems: Pick<SystemItems, "add">;
		},
	) {}

	/** Begins to record what a tool does on a host, unless the settings turn it off. */
	record(host: ToolHost): FileRecording {
		if (!this.core.store.settings.current.undo.enabled) return { host, end: async () => [] };
		return recordFiles(host, this.#contents, this.#gitOf(host));
	}

	/** The content of a digest of `FileChange`; null if it is no longer kept. */
	content(digest: string): Promise<Uint8Array | null> {
		return this.#contents.get(digest);
	}

	/**
	 * Restores the files that tool calls changed, and writes what was done as an entry.
	 * @param range default: the last prompt whose changes were not restored
	 * @param ask about a file that changed since; null: nobody can answer, and it is left
	 * @returns null if nothing is left to restore
	 */
	async undo(range: EntryRange | undefined, ask: AskToRestore | null): Promise<UndoneFiles | null> {
		const { state, machine, systemItems } = this.core;
		state.log.checkWritable();
		const { entries } = state.log;
		const found = range ?? lastChangedTurn(entries);
		const files = found === null ? [] : changedFiles(entries, found);
		if (found === null || files.length === 0) return range === undefined ? this.#onlyCommands(entries) : null;
		const { from } = found;
		const to = Math.min(found.to, entries.length);
		const { host } = machine;
		const { generation } = state;
		const { done, left, isCanceled } = await restoreFiles(files, host, this.#contents, ask);
		const unknownCommands = await this.#unknownCommands(entries.slice(from, to));
		const restored = done.map(({ path, after }) => ({ path, isDeleted: after === null }));
		const undone = { from, to, restored, left, unknownCommands };
		if (state.generation !== generation || isCanceled) return undone;
		// What nobody was asked about can still be restored.
		if (done.length > 0 || (ask !== null && left.length > 0)) {
			const paths = left.map(({ path }) => path);
			state.append({ type: "files_restored", timestamp: entryTimestamp(), from, to, files: done, left: paths });
		}
		if (done.length > 0 && this.#isInContext(from, to)) {
			systemItems.add(SOURCE, { kind: "notification", text: describeForModel(done) });
		}
		return undone;
	}

	/** Begins a review of what tools changed. */
	review(): SessionFileReview {
		return new SessionFileReview(this.core, this.#contents, (entries) => this.#unknownCommands(entries));
	}

	/** Says that the changes of the last prompt are unknown, if commands could have made some; else null. */
	async #onlyCommands(entries: readonly SessionEntry[]): Promise<UndoneFiles | null> {
		const [from, to] = [entries.findLastIndex(isUserMessageEntry), entries.length];
		const unknownCommands = from < 0 ? null : await this.#unknownCommands(entries.slice(from, to));
		return unknownCommands === null ? null : { from, to, restored: [], left: [], unknownCommands };
	}

	/** Why the changes of the commands in these entries are unknown; null if they are known, or there are none. */
	async #unknownCommands(entries: readonly SessionEntry[]): Promise<string | null> {
		const hasCommands = entries.some(
			(entry) => isMessageEntry(entry) && entry.message.role === "toolResult" && entry.message.toolName === "bash",
		);
		if (!hasCommands) return null;
		const git = this.#gitOf(this.core.machine.host);
		await git.snapshot();
		return git.problem;
	}

	#isInContext(from: number, to: number): boolean {
		return this.core.context.current.messages.some(
			({ entryIndex }) => entryIndex !== null && from <= entryIndex && entryIndex < to,
		);
	}

	get #contents(): FileContents {
		const { path } = this.core.state.log;
		const kept = this.#kept?.path === path ? this.#kept : { path, contents: new FileContents(path) };
		this.#kept = kept;
		return kept.contents;
	}

	#gitOf(host: ToolHost): GitChanges {
		const known = this.#git.get(host);
		if (known) return known;
		const created = new GitChanges(host, () => this.#contents);
		this.#git.set(host, created);
		return created;
	}
}

function describeForModel(files: readonly FileChange[]): string {
	const names = files.slice(0, MAX_NAMED).map(({ path, after }) => (after === null ? `${path} (deleted)` : path));
	const more = files.length > MAX_NAMED ? ` and ${files.length - MAX_NAMED} more` : "";
	return `The user undid your changes to: ${names.join(", ")}${more}. These files have their earlier content again.`;
}

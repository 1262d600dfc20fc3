import { dirname } from "node:path";
import type { BuiltContext } from "../../context/context-message.js";
import { type ContextFileItem, entryTimestamp, isSystemItemEntry } from "../../log/entry.js";
import type { SessionLog } from "../../log/session-log.js";
import type { NestedFileFinder } from "../../services/service-types.js";
import { elsewhereOf } from "../../tools/machine/elsewhere.js";
import { localPath } from "../../tools/machine/local-path.js";
import type { ToolHost } from "../../tools/machine/machine.js";
import type { SessionState } from "../session-state.js";

export interface NestedContextFilesDeps {
	store: { readonly cwd: string };
	machine: { readonly host: ToolHost };
	resources: { readonly nestedFiles: NestedFileFinder };
	state: Pick<SessionState, "log" | "appendAll">;
	context: { readonly current: Pick<BuiltContext, "hidden"> };
	warn(line: string): void;
}

/** Tools whose `path` is a file or directory of the project. */
const FILE_TOOLS: ReadonlySet<string> = new Set(["read", "edit", "write", "ls", "find", "grep"]);

/** The latest entry of a context file. */
interface Added {
	entryIndex: number;
	text: string;
}

/**
 * Adds the context files of directories below the working directory when a tool first reaches them: each once, as an
 * entry before the next request. A file is added again when a compaction has removed its entry from the context, and
 * when it has changed and all files are read again.
 */
export class NestedContextFiles {
	readonly #touched = new Set<string>();
	/** The generation of files with which the entries were last compared. */
	#compared = -1;
	#log: SessionLog | null = null;
	/** The latest entry of each file in the log, by path, and the number of entries searched. */
	#added = new Map<string, Added>();
	#searched = 0;
	readonly #warned = new Set<string>();

	constructor(private readonly deps: NestedContextFilesDeps) {}

	/** Call after each tool call that ran. */
	note({ toolName, input }: { toolName: string; input: Readonly<Record<string, unknown>> }): void {
		const { path } = input;
		const { cwd } = this.deps.store;
		const { host } = this.deps.machine;
		if (!FILE_TOOLS.has(toolName) || typeof path !== "string") return;
		// Context files are those of this machine: another one may have different files at the same paths.
		if (elsewhereOf(host) === null) this.#touched.add(localPath(cwd, path));
	}

	/** Call when the session is left: its next request, if any, begins with what a tool reaches then. */
	drop(): void {
		this.#touched.clear();
	}

	/** Writes an entry for each file that the next request needs. Call right before its context is computed. */
	async write(): Promise<void> {
		const { resources, state, warn } = this.deps;
		const touched = [...this.#touched];
		this.#touched.clear();
		const { generation } = resources.nestedFiles;
		const isRead = generation !== this.#compared;
		this.#compared = generation;
		const known = touched.length > 0 || isRead ? this.#findAdded() : this.#added;
		if (isRead) {
			for (const [path, added] of known) if (!this.#isGone(added)) touched.push(dirname(path));
		}
		if (touched.length === 0) return;
		const { files, warnings } = await resources.nestedFiles.findNested(touched);
		for (const line of warnings) {
			if (!this.#warned.has(line)) warn(line);
			this.#warned.add(line);
		}
		const items = files.flatMap(({ path, content }) => {
			const item = this.#itemOf(content.trim(), known.get(path), isRead);
			return item ? [{ source: path, item }] : [];
		});
		const timestamp = entryTimestamp();
		if (items.length > 0)
			state.appendAll(items.map(({ source, item }) => ({ type: "system_item", timestamp, source, item })));
	}

	/** @returns null if the context has the file already */
	#itemOf(text: string, added: Added | undefined, isRead: boolean): ContextFileItem | null {
		if (added === undefined) return { kind: "context_file", text };
		if (isRead && added.text !== text) return { kind: "context_file", text, changed: true };
		return this.#isGone(added) ? { kind: "context_file", text } : null;
	}

	/** True if a summary replaces the entry. A hook that hides it would hide the next one too, so that does not count. */
	#isGone(added: Added): boolean {
		const hidden = this.deps.context.current.hidden.find(({ entryIndex }) => entryIndex === added.entryIndex);
		return hidden !== undefined && hidden.by.kind !== "hook";
	}

	/** Searches the entries that were added since the last search. */
	#findAdded(): ReadonlyMap<string, Added> {
		const { log } = this.deps.state;
		if (log !== this.#log) {
			this.#log = log;
			this.#added = new Map();
			this.#searched = 0;
		}
		for (; this.#searched < log.length; this.#searched++) {
			if (log.typeOf(this.#searched) !== "system_item") continue;
			const entry = log.peek(this.#searched);
			if (!isSystemItemEntry(entry) || entry.item.kind !== "context_file") continue;
			this.#added.set(entry.source, { entryIndex: this.#searched, text: entry.item.text });
		}
		return this.#added;
	}
}

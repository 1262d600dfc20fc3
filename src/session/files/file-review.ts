import type {
	FileReview,
	ReviewDecision,
	ReviewedChanges,
	ReviewedFile,
	ReviewOutcome,
	ReviewScope,
} from "../../commands/review.js";
import {
	entryTimestamp,
	type FileChange,
	type FileContent,
	type FoldedChange,
	isChangesReviewedEntry,
	isFilesRestoredEntry,
	type SessionEntry,
} from "../../log/entry.js";
import { changedFiles, isSameFile, lastChangedTurn, UNKNOWN_CONTENT } from "../../log/file-changes.js";
import { applyHunks, findHunks, type Hunk, revertHunks } from "../../util/hunks.js";
import type { SystemItems } from "../prompt/prompt-queue.js";
import type { SessionCore } from "../session-core.js";
import { type KeptContents, keepContent } from "./keep-content.js";
import { decodeText, describeElsewhere, isOnHost, reasonOf, restoreFile } from "./restore-files.js";

/** Files that the message to the model names. */
const MAX_NAMED = 20;
const SOURCE = "diff";
const WITH_LEFT = { withLeft: true };

/** A decision that can be taken back. */
interface Decided {
	file: ReviewedFile;
	decision: ReviewDecision;
	change: FileChange;
	/** What was reverted, in the words for the model. */
	reverted: string;
}

/** Compares files that tools changed with their content before, and keeps or reverts the differences. */
export class SessionFileReview implements FileReview {
	/** In the order in which they were made. */
	readonly #decisions: Decided[] = [];
	readonly #generation: number;

	/**
	 * @param contents of the session file that is open now
	 * @param unknownCommands why the changes of commands in these entries are not known; null if they are
	 */
	constructor(
		private readonly core: Pick<SessionCore, "activity" | "machine" | "state"> & {
			systemItems: Pick<SystemItems, "add">;
		},
		private readonly contents: KeptContents,
		private readonly unknownCommands: (entries: readonly SessionEntry[]) => Promise<string | null>,
	) {
		this.#generation = core.state.generation;
	}

	async read(scope: ReviewScope): Promise<ReviewedChanges> {
		const { entries } = this.core.state.log;
		const from = scope === "session" ? 0 : (lastChangedTurn(entries, WITH_LEFT)?.from ?? entries.length);
		const changes = changedFiles(entries, { from, to: entries.length }, WITH_LEFT);
		const files: ReviewedFile[] = [];
		for (const change of changes) {
			const file = await this.#readFile(change, from);
			if (file !== null) files.push(file);
		}
		return { files, unknownCommands: await this.unknownCommands(entries.slice(from)) };
	}

	async decide(file: ReviewedFile, decision: ReviewDecision, hunk?: Hunk): Promise<ReviewOutcome> {
		const refusal = this.#checkWritable() ?? file.problem;
		if (refusal !== null) return { problem: refusal };
		const part = file.hunks.length > 1 ? hunk : undefined;
		const after = await (decision === "keep" ? this.#keptContent(file, part) : this.#revertedContent(file, part));
		const { path, on } = file;
		const machine = on === undefined ? {} : { on };
		const change: FileChange = { path, ...machine, before: decision === "keep" ? file.before : file.now, after };
		const problem = await this.#carryOut(file, decision, change);
		if (problem !== null) return { problem };
		const reverted = part ? describeLines(part) : file.before === null ? "deleted" : "all changes";
		this.#decisions.push({ file, decision, change, reverted });
		return { path: file.path, file: await this.#again(file) };
	}

	async takeBack(): Promise<ReviewOutcome | null> {
		const last = this.#decisions.at(-1);
		if (!last) return null;
		const refusal = this.#checkWritable();
		if (refusal !== null) return { problem: refusal };
		const { file, decision, change } = last;
		const problem = await this.#carryOut(file, decision, { ...change, before: change.after, after: change.before });
		if (problem !== null) return { problem };
		this.#decisions.pop();
		return { path: file.path, file: await this.#again(file) };
	}

	end(): void {
		const files = new Map<string, string[]>();
		for (const { file, decision, reverted } of this.#decisions.splice(0)) {
			if (decision === "revert") files.set(file.path, [...(files.get(file.path) ?? []), reverted]);
		}
		if (files.size === 0 || this.core.state.generation !== this.#generation) return;
		const named = [...files].slice(0, MAX_NAMED).map(([path, parts]) => `${path} (${parts.join(", ")})`);
		const more = files.size > MAX_NAMED ? ` and ${files.size - MAX_NAMED} more` : "";
		const text = `The user reviewed your changes and reverted some: ${named.join("; ")}${more}. Read these files before you change them again.`;
		this.core.systemItems.add(SOURCE, { kind: "notification", text });
	}

	/** @returns why nothing can be decided, or null @throws PiError `session_busy`, `log_read_only` */
	#checkWritable(): string | null {
		const { core } = this;
		core.activity.check("undo");
		core.state.log.checkWritable();
		return core.state.generation === this.#generation ? null : "another session is open now";
	}

	/** Changes the file, if it is to be reverted, and writes the entry. @returns why nothing was done, or null */
	async #carryOut(file: ReviewedFile, decision: ReviewDecision, change: FileChange): Promise<string | null> {
		const { core, contents } = this;
		if (decision === "revert") {
			const bytes = change.after === null ? null : await contents.get(change.after);
			if (change.after !== null && bytes === null) return "its content is no longer kept";
			const restoration = { change, bytes, isExecutable: file.executable === true };
			const problem = await restoreFile(restoration, core.machine.host, contents).catch(reasonOf);
			if (problem !== null) return problem;
		}
		const lists = { kept: decision === "keep" ? [change] : [], reverted: decision === "revert" ? [change] : [] };
		core.state.append({ type: "changes_reviewed", timestamp: entryTimestamp(), from: file.from, ...lists });
		return null;
	}

	/** The file as it is now; null if nothing is left to review. */
	async #again(file: ReviewedFile): Promise<ReviewedFile | null> {
		const { entries } = this.core.state.log;
		const changes = changedFiles(entries, { from: file.from, to: entries.length }, WITH_LEFT);
		const known = changes.find((one) => isSameFile(one, file));
		return known ? this.#readFile(known, file.from) : null;
	}

	/** What later reviews compare with when a hunk, or everything, is kept. */
	async #keptContent({ beforeText, nowText, now }: ReviewedFile, hunk: Hunk | undefined): Promise<FileContent> {
		if (!hunk || beforeText === null || nowText === null) return now;
		return this.contents.put(Buffer.from(applyHunks(beforeText, nowText, [hunk])));
	}

	/** What the file contains when a hunk, or everything, is reverted. */
	async #revertedContent({ beforeText, nowText, before }: ReviewedFile, hunk: Hunk | undefined): Promise<FileContent> {
		if (!hunk || beforeText === null || nowText === null) return before;
		return this.contents.put(Buffer.from(revertHunks(beforeText, nowText, [hunk])));
	}

	/** @returns null if nothing is left to review */
	async #readFile(change: FoldedChange, from: number): Promise<ReviewedFile | null> {
		const { host } = this.core.machine;
		const { path, on, executable } = change;
		const machine = on === undefined ? {} : { on };
		if (!isOnHost(change, host)) {
			const texts = { beforeText: null, nowText: null, hunks: [], isShared: false };
			return {
				path,
				...machine,
				from,
				before: change.before,
				now: UNKNOWN_CONTENT,
				...texts,
				problem: describeElsewhere(on),
			};
		}
		const { contents } = this;
		const before = keptContent(this.core.state.log.entries, change, from) ?? change.before;
		const now = await keepContent(host, path, contents);
		if (now === before && now !== UNKNOWN_CONTENT) return null;
		const [beforeText, nowText] = [await textOf(before, contents), await textOf(now, contents)];
		return {
			path,
			...machine,
			from,
			before,
			now,
			beforeText,
			nowText,
			hunks: beforeText === null || nowText === null ? [] : await findHunks(beforeText, nowText),
			isShared: change.isInterrupted || now !== change.after,
			problem: await this.#problemOf(path, before, contents),
			...(executable ? { executable } : {}),
		};
	}

	async #problemOf(path: string, before: FileContent, contents: KeptContents): Promise<string | null> {
		if (before === UNKNOWN_CONTENT) return "its earlier content was not kept: it was too large or unreadable";
		if (before !== null && (await contents.get(before)) === null) return "its earlier content is no longer kept";
		const real = await this.core.machine.host.realPath(path);
		return real === path ? null : "it is a link now";
	}
}

/** The content with the changes that the user kept; undefined without any since the file was restored. */
function keptContent(entries: readonly SessionEntry[], file: FoldedChange, from: number): FileContent | undefined {
	for (const entry of entries.toReversed()) {
		if (isFilesRestoredEntry(entry) && entry.files.some((one) => isSameFile(one, file))) return undefined;
		if (!isChangesReviewedEntry(entry) || entry.from !== from) continue;
		const kept = entry.kept.findLast((one) => isSameFile(one, file));
		if (kept) return kept.after;
	}
	return undefined;
}

/** @returns null for what is not text; the text of a missing file is empty */
async function textOf(content: FileContent, contents: KeptContents): Promise<string | null> {
	if (content === null) return "";
	const bytes = content === UNKNOWN_CONTENT ? null : await contents.get(content);
	return bytes === null ? null : (decodeText(bytes) ?? null);
}

/** The lines that a hunk replaced in the new text, for the model. */
function describeLines({ newStart, newEnd, oldStart, oldEnd }: Hunk): string {
	if (newEnd > newStart) return newEnd - newStart === 1 ? `line ${newEnd}` : `lines ${newStart + 1}–${newEnd}`;
	return `${oldEnd - oldStart} removed lines before line ${newStart + 1} are back`;
}

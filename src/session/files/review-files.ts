import type { FileReview, ReviewedChanges, ReviewedFile, ReviewScope } from "../../commands/review.js";
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

/** What a review uses of a session. */
interface ReviewDeps {
	core: Pick<SessionCore, "machine" | "state"> & { systemItems: Pick<SystemItems, "add"> };
	contents(): KeptContents;
	unknownCommands(entries: readonly SessionEntry[]): Promise<string | null>;
	/** @throws PiError `session_busy` */
	checkIdle(): void;
}

/** Compares files that tools changed with their content before, and keeps or reverts the differences. */
export class SessionFileReview implements FileReview {
	/** The reverted lines of each file, as the model is told. */
	readonly #reverted = new Map<string, string[]>();
	readonly #generation: number;

	constructor(private readonly deps: ReviewDeps) {
		this.#generation = deps.core.state.generation;
	}

	async read(scope: ReviewScope): Promise<ReviewedChanges> {
		const { entries } = this.deps.core.state.log;
		const from = scope === "session" ? 0 : (lastChangedTurn(entries)?.from ?? entries.length);
		const changes = changedFiles(entries, { from, to: entries.length });
		const files: ReviewedFile[] = [];
		for (const change of changes) {
			const file = await this.#readFile(change, from);
			if (file !== null) files.push(file);
		}
		return { files, unknownCommands: await this.deps.unknownCommands(entries.slice(from)) };
	}

	async decide(
		file: ReviewedFile,
		decision: "keep" | "revert",
		hunk?: Hunk,
	): Promise<{ file: ReviewedFile | null } | { problem: string }> {
		const { core, checkIdle } = this.deps;
		checkIdle();
		core.state.log.checkWritable();
		if (core.state.generation !== this.#generation) return { problem: "another session is open now" };
		if (file.problem !== null) return { problem: file.problem };
		const change = await (decision === "keep" ? this.#keep(file, hunk) : this.#revert(file, hunk)).catch(reasonOf);
		if (typeof change === "string") return { problem: change };
		core.state.append({
			type: "changes_reviewed",
			timestamp: entryTimestamp(),
			from: file.from,
			kept: decision === "keep" ? [change] : [],
			reverted: decision === "revert" ? [change] : [],
		});
		const { entries } = core.state.log;
		const known = changedFiles(entries, { from: file.from, to: entries.length }).find((one) => isSameFile(one, file));
		return { file: known ? await this.#readFile(known, file.from) : null };
	}

	end(): void {
		const files = [...this.#reverted];
		this.#reverted.clear();
		if (files.length === 0 || this.deps.core.state.generation !== this.#generation) return;
		const named = files.slice(0, MAX_NAMED).map(([path, parts]) => `${path} (${parts.join(", ")})`);
		const more = files.length > MAX_NAMED ? ` and ${files.length - MAX_NAMED} more` : "";
		const text = `The user reviewed your changes and reverted some: ${named.join("; ")}${more}. Read these files before you change them again.`;
		this.deps.core.systemItems.add(SOURCE, { kind: "notification", text });
	}

	/** @returns null if nothing is left to review */
	async #readFile(change: FoldedChange, from: number): Promise<ReviewedFile | null> {
		const { host } = this.deps.core.machine;
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
		const contents = this.deps.contents();
		const before = keptContent(this.deps.core.state.log.entries, change, from) ?? change.before;
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
		const real = await this.deps.core.machine.host.realPath(path);
		return real === path ? null : "it is a link now";
	}

	/** @returns what the content to compare with was and is */
	async #keep(file: ReviewedFile, hunk: Hunk | undefined): Promise<FileChange> {
		const { path, on, before, now, beforeText, nowText } = file;
		const isPart = hunk !== undefined && beforeText !== null && nowText !== null && file.hunks.length > 1;
		const after = isPart ? await this.deps.contents().put(Buffer.from(applyHunks(beforeText, nowText, [hunk]))) : now;
		return { path, before, after, ...(on === undefined ? {} : { on }) };
	}

	/** @returns what was done, or why nothing was */
	async #revert(file: ReviewedFile, hunk: Hunk | undefined): Promise<FileChange | string> {
		const { path, on, before, now, beforeText, nowText } = file;
		const contents = this.deps.contents();
		const isPart = hunk !== undefined && beforeText !== null && nowText !== null && file.hunks.length > 1;
		const part = isPart ? Buffer.from(revertHunks(beforeText, nowText, [hunk])) : null;
		const bytes = part ?? (before === null ? null : await contents.get(before));
		const after = part ? await contents.put(part) : before;
		const change = { path, before: now, after, ...(on === undefined ? {} : { on }) };
		const restoration = { change, bytes, isExecutable: file.executable === true };
		const problem = await restoreFile(restoration, this.deps.core.machine.host, contents);
		if (problem !== null) return problem;
		const parts = this.#reverted.get(path) ?? [];
		parts.push(isPart ? describeLines(hunk) : before === null ? "deleted" : "all changes");
		this.#reverted.set(path, parts);
		return change;
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

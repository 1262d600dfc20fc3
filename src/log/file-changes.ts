import { isRecord } from "../util/is-record.js";
import {
	type EntryRange,
	type FileChange,
	type FileContent,
	type FoldedChange,
	isChangesReviewedEntry,
	type SessionEntry,
} from "./entry.js";

/** The `FileContent` of a file whose content was not kept. */
export const UNKNOWN_CONTENT = "unknown";

/** Validates the changes of an entry; malformed ones are omitted. */
export function readFileChanges(value: unknown): FileChange[] {
	return Array.isArray(value) ? value.filter(isFileChange) : [];
}

function isFileChange(value: unknown): value is FileChange {
	if (!isRecord(value) || typeof value.path !== "string" || !value.path.startsWith("/")) return false;
	const { before, after, on, executable } = value;
	if (on !== undefined && typeof on !== "string") return false;
	return isContent(before) && isContent(after) && (executable === undefined || executable === true);
}

function isContent(value: unknown): value is FileContent {
	return value === null || value === UNKNOWN_CONTENT || isDigest(value);
}

/** True for a SHA-256 digest in hex, the name under which a content is kept. */
export function isDigest(value: unknown): value is string {
	return typeof value === "string" && /^[0-9a-f]{64}$/.test(value);
}

/**
 * The files that the entries `[from, to)` changed and that were not restored since, each with its first content and its last one, from
 * which the user may have reverted a part in a review. Files that have the same content at the end as before are omitted.
 * @param withLeft includes files that an undo left as they were: for it they are done, but they are still changed
 */
export function changedFiles(
	entries: readonly SessionEntry[],
	{ from, to }: EntryRange,
	{ withLeft = false } = {},
): FoldedChange[] {
	const undos = undosIn(entries);
	const changes: FileChange[] = [];
	for (let index = Math.max(0, from); index < Math.min(to, entries.length); index++) {
		const undo = undos.findLast((one) => one.from <= index && index < one.to);
		const found = changesOf(entries[index]);
		changes.push(...(undo ? found.filter(({ path }) => withLeft && undo.left.includes(path)) : found));
	}
	const reviews = entries.slice(from).filter(isChangesReviewedEntry);
	const reverted = reviews.flatMap((entry) => entry.reverted);
	return foldChanges(changes)
		.map((file) => ({ ...file, after: lastContent(file, reverted) }))
		.filter(({ before, after }) => !isSameContent(before, after));
}

function lastContent(file: FileChange, reverted: readonly FileChange[]): FileContent {
	let { after } = file;
	for (const change of reverted)
		if (isSameFile(change, file) && isSameContent(change.before, after)) after = change.after;
	return after;
}

/** Whether two changes are those of the same file. */
export function isSameFile(a: Pick<FileChange, "path" | "on">, b: Pick<FileChange, "path" | "on">): boolean {
	return a.path === b.path && a.on === b.on;
}

/** Merges changes of the same files, in the order of the first change of each. */
export function foldChanges(changes: readonly FileChange[]): FoldedChange[] {
	const files = new Map<string, FoldedChange>();
	for (const change of changes) {
		const key = `${change.on ?? ""}\0${change.path}`;
		const earlier = files.get(key);
		if (!earlier) files.set(key, { ...change, isInterrupted: false });
		else {
			const isInterrupted = earlier.isInterrupted || !isSameContent(earlier.after, change.before);
			files.set(key, { ...earlier, after: change.after, isInterrupted });
		}
	}
	return [...files.values()].filter(({ before, after }) => !isSameContent(before, after));
}

/** The last prompt whose changes were not restored, with the entries up to the next prompt; null if nothing is left to restore. */
export function lastChangedTurn(entries: readonly SessionEntry[], options?: { withLeft?: boolean }): EntryRange | null {
	let to = entries.length;
	for (let index = entries.length - 1; index >= 0; index--) {
		const entry = entries[index];
		const isPrompt = entry?.type === "message" && isRecord(entry.message) && entry.message.role === "user";
		if (!isPrompt && index > 0) continue;
		if (changedFiles(entries, { from: index, to }, options).length > 0) return { from: index, to };
		to = index;
	}
	return null;
}

/** The ranges of entries that were undone, with the files that were left. */
function undosIn(entries: readonly SessionEntry[]): (EntryRange & { left: readonly unknown[] })[] {
	return entries.flatMap((entry, at) => {
		if (entry.type !== "files_restored") return [];
		const { from, to, left } = entry;
		if (typeof from !== "number" || typeof to !== "number") return [];
		return [{ from, to: Math.min(to, at), left: Array.isArray(left) ? left : [] }];
	});
}

function changesOf(entry: SessionEntry | undefined): readonly FileChange[] {
	if (entry?.type !== "message" && entry?.type !== "hook_tool_call") return [];
	return readFileChanges(entry.files);
}

function isSameContent(a: FileContent, b: FileContent): boolean {
	return a === b && a !== UNKNOWN_CONTENT;
}

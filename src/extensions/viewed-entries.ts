import type { HookEventContext, SessionEntry } from "../hooks/index.js";
import { isCompactionEntry, isOpaqueEntry, isSessionHeader } from "../log/entry.js";
import type { Refusals } from "./refusals.js";

/** Entry types of extensions. `extension` is the name of the one that wrote the entry, which only pi reads. */
export const CUSTOM = "custom";
export const CUSTOM_MESSAGE = "custom_message";
export const LABEL = "label";

/** An entry as extensions see it: a node of a tree that has one branch. */
export interface ViewedEntry {
	readonly type: string;
	readonly id: string;
	/** null for the first one. */
	readonly parentId: string | null;
	readonly [field: string]: unknown;
}

/** A node of the tree. */
interface TreeNode {
	entry: ViewedEntry;
	children: TreeNode[];
	label?: string;
}

type SessionState = Pick<HookEventContext, "entries" | "cwd" | "sessionFile" | "sessionName" | "session">;

/** The id of an entry: the same in every run, because an index never changes. */
export function entryId({ session }: Pick<SessionState, "session">, index: number): string {
	return `${session.id}:${index}`;
}

/** The index of an entry; -1 if the session has no entry with this id. */
export function entryIndex(state: Pick<SessionState, "session" | "entries">, id: unknown): number {
	const prefix = `${state.session.id}:`;
	const index = typeof id === "string" && id.startsWith(prefix) ? Number(id.slice(prefix.length)) : -1;
	return Number.isInteger(index) && index > 0 && index < state.entries.length ? index : -1;
}

/** True for an entry that extensions see: neither the header nor an unreadable line. */
function isVisible(entry: SessionEntry | undefined, index: number): entry is SessionEntry {
	return index > 0 && entry !== undefined && !isOpaqueEntry(entry);
}

/** The index of the last visible entry up to `end`; 0 without one. */
function lastVisible({ entries }: Pick<SessionState, "entries">, end: number): number {
	let index = end;
	while (index > 0 && !isVisible(entries[index], index)) index--;
	return Math.max(0, index);
}

/** An entry of the log as extensions see it. */
export function viewEntry(state: SessionState, entry: SessionEntry, index: number): ViewedEntry {
	const parent = lastVisible(state, index - 1);
	const base = { ...entry, id: entryId(state, index), parentId: parent > 0 ? entryId(state, parent) : null };
	if ("extension" in base) delete base.extension;
	if (!isCompactionEntry(entry)) return base;
	return { ...base, firstKeptEntryId: entryId(state, entry.firstKeptEntryIndex) };
}

/**
 * The session as extensions read it, computed from the entries at each call. Members that it lacks are undefined, because
 * extensions test them: versions of the API differ.
 */
export function createSessionView(state: SessionState, refusals: Refusals) {
	const view = (index: number) => {
		const entry = state.entries[index];
		return isVisible(entry, index) ? viewEntry(state, entry, index) : undefined;
	};
	const all = (end = state.entries.length) =>
		state.entries.slice(0, end).flatMap((_, index) => {
			const entry = view(index);
			return entry ? [entry] : [];
		});
	const last = () => lastVisible(state, state.entries.length - 1);
	/** Labels by id; the last one of an entry counts, which may be none. */
	const labels = () => {
		const found = new Map<unknown, string | undefined>();
		for (const entry of state.entries) {
			if (entry.type !== LABEL || !("targetId" in entry)) continue;
			found.set(entry.targetId, "label" in entry && typeof entry.label === "string" ? entry.label : undefined);
		}
		return found;
	};
	const members = {
		getCwd: () => state.cwd,
		getSessionDir: () => state.sessionFile?.replace(/[\\/][^\\/]*$/, "") ?? "",
		getSessionId: () => state.session.id,
		getSessionFile: () => state.sessionFile ?? undefined,
		getSessionName: () => state.sessionName ?? undefined,
		getHeader: () => {
			const header = state.entries[0];
			return isSessionHeader(header) ? header : null;
		},
		getEntries: () => all(),
		getBranch: (fromId?: string) => (fromId === undefined ? all() : all(entryIndex(state, fromId) + 1)),
		getLeafId: () => (last() > 0 ? entryId(state, last()) : null),
		getLeafEntry: () => view(last()),
		getEntry: (id: string) => view(entryIndex(state, id)),
		getLabel: (id: string) => labels().get(id),
		getTree: () => {
			const names = labels();
			const child = all().reduceRight<TreeNode | null>((next, entry) => {
				const label = names.get(entry.id);
				return { entry, children: next ? [next] : [], ...(label === undefined ? {} : { label }) };
			}, null);
			return child ? [child] : [];
		},
	};
	const refuse = (name: "buildContextEntries" | "buildSessionProjection") => ({
		get: () => refusals.member(`ctx.sessionManager.${name}`),
	});
	// Not enumerable: a copy of the object uses none of them.
	return Object.defineProperties(members, {
		buildContextEntries: refuse("buildContextEntries"),
		buildSessionProjection: refuse("buildSessionProjection"),
	});
}

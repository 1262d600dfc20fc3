import type { HookEventContext, SessionEntry } from "../hooks/index.js";
import { isCompactionEntry, isOpaqueEntry, isSessionHeader } from "../log/entry.js";
import { withRefusals } from "./with-refusals.js";

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

/** An entry of the log as extensions see it. */
export function viewEntry(state: SessionState, entry: SessionEntry, index: number): ViewedEntry {
	const base = { ...entry, id: entryId(state, index), parentId: index > 1 ? entryId(state, index - 1) : null };
	if ("extension" in base) delete base.extension;
	if (!isCompactionEntry(entry)) return base;
	return { ...base, firstKeptEntryId: entryId(state, entry.firstKeptEntryIndex) };
}

/** The session as extensions read it, computed from the entries at each call. */
export function createSessionView(state: SessionState) {
	const view = (index: number) => {
		const entry = index > 0 ? state.entries[index] : undefined;
		return entry && !isOpaqueEntry(entry) ? viewEntry(state, entry, index) : undefined;
	};
	const all = (end = state.entries.length) =>
		state.entries.slice(0, end).flatMap((_, index) => {
			const entry = view(index);
			return entry ? [entry] : [];
		});
	const last = () => state.entries.length - 1;
	const label = (id: string): string | undefined => {
		const found = state.entries.findLast(
			(entry) => entry.type === LABEL && "targetId" in entry && entry.targetId === id,
		);
		return found && "label" in found && typeof found.label === "string" ? found.label : undefined;
	};
	return withRefusals("ctx.sessionManager", {
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
		getLabel: label,
		getTree: () => {
			const child = all().reduceRight<TreeNode | null>((next, entry) => {
				const named = label(entry.id);
				return { entry, children: next ? [next] : [], ...(named === undefined ? {} : { label: named }) };
			}, null);
			return child ? [child] : [];
		},
	});
}

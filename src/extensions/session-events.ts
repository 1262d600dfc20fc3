import { resolve } from "node:path";
import type { HookEventContext, HookResources, SessionEvent, SessionEventResult } from "../hooks/types.js";
import { type CompactionEntry, isCompactionEntry, type SessionEntry } from "../log/entry.js";
import { isRecord } from "../util/is-record.js";
import type { Extension } from "./extension.js";
import { createSessionView, entryId, entryIndex, viewEntry } from "./viewed-entries.js";

/** The reasons of `session_start` after a change of the session. */
const CHANGES = { switch: "resume", clear: "new", branch: "fork" } as const;

/** Why a branch has no summary. */
export const NO_SUMMARY = "a branch of pi has the entries before it; use appendEntry in session_tree";

/** Answers the `session` event of hooks for an extension. */
export async function answerSession(
	extension: Extension,
	event: SessionEvent,
	ctx: HookEventContext,
): Promise<SessionEventResult | undefined> {
	const { calls, handlers, refusals, models } = extension;
	const previousSessionFile = event.previousSessionFile ?? undefined;
	const emit = (type: string, fields: object) => handlers.emit(type, ctx, () => ({ type, ...fields }));
	switch (event.reason) {
		case "start": {
			calls.begin(ctx);
			refusals.begin();
			await models.refresh(ctx);
			const reason = event.isReload ? "reload" : "startup";
			await emit("session_start", { reason });
			await discoverResources(extension, ctx, reason);
			return undefined;
		}
		case "switch":
		case "clear":
		case "branch": {
			const reason = CHANGES[event.reason];
			calls.begin(ctx);
			// The change can no longer be canceled: this is when an extension ends what it has begun for the old session.
			await emit("session_shutdown", { reason, targetSessionFile: event.sessionFile ?? undefined });
			await models.refresh(ctx);
			await emit("session_start", { reason, previousSessionFile });
			if (reason === "fork") {
				const newLeafId = createSessionView(ctx, extension.refusals).getLeafId();
				await emit("session_tree", { newLeafId, oldLeafId: extension.leafBefore });
			}
			return undefined;
		}
		case "shutdown":
			await emit("session_shutdown", { reason: event.isReload ? "reload" : "quit" });
			return undefined;
		case "before_switch":
			return cancelable(extension, ctx, "session_before_switch", { reason: "resume" });
		case "before_clear":
			return cancelable(extension, ctx, "session_before_switch", { reason: "new" });
		case "before_branch":
			return beforeBranch(extension, event, ctx);
		case "before_compact":
			return beforeCompact(extension, event, ctx);
		case "compact": {
			const compactionEntry = viewLast(ctx, event.compactionEntry);
			await emit("session_compact", {
				compactionEntry,
				fromExtension: event.fromHook,
				reason: "manual",
				willRetry: false,
			});
			return undefined;
		}
	}
}

/** Asks the extension for skills, prompts and themes. */
async function discoverResources({ handlers, pi }: Extension, ctx: HookEventContext, reason: string): Promise<void> {
	const type = "resources_discover";
	if (!handlers.has(type)) return;
	const found: Required<{ [K in keyof HookResources]: string[] }> = { skills: [], prompts: [], themes: [] };
	const add = (paths: string[], given: unknown) => {
		if (Array.isArray(given)) paths.push(...given.map((path) => resolve(ctx.cwd, String(path))));
	};
	await handlers.emit(
		type,
		ctx,
		() => ({ type, cwd: ctx.cwd, reason }),
		({ skillPaths, promptPaths, themePaths }) => {
			add(found.skills, skillPaths);
			add(found.prompts, promptPaths);
			add(found.themes, themePaths);
		},
	);
	await pi.resources(found);
}

/** A branch of pi is a fork, and a step in the tree of extensions. */
async function beforeBranch(
	extension: Extension,
	{ targetTurnIndex }: Extract<SessionEvent, { targetTurnIndex: number }>,
	ctx: HookEventContext,
): Promise<SessionEventResult | undefined> {
	const session = createSessionView(ctx, extension.refusals);
	const targetId = entryId(ctx, targetTurnIndex);
	extension.leafBefore = session.getLeafId();
	const forked = await cancelable(extension, ctx, "session_before_fork", { entryId: targetId, position: "before" });
	if (forked?.cancel) return forked;
	const preparation = {
		targetId,
		oldLeafId: extension.leafBefore,
		commonAncestorId: session.getEntry(targetId)?.parentId ?? null,
		entriesToSummarize: [],
		userWantsSummary: false,
	};
	return (await cancelable(extension, ctx, "session_before_tree", { preparation, signal: ctx.signal })) ?? forked;
}

async function cancelable(
	{ handlers, refusals }: Extension,
	ctx: HookEventContext,
	type: string,
	fields: object,
): Promise<SessionEventResult | undefined> {
	let result: SessionEventResult | undefined;
	await handlers.emit(
		type,
		ctx,
		() => ({ type, ...fields }),
		({ cancel, skipConversationRestore, summary }) => {
			if (summary !== undefined) refusals.refuse(`summary in the answer to ${type}`, NO_SUMMARY);
			if (cancel === true) result = { cancel: true };
			else if (skipConversationRestore === true) result = { skipConversationRestore: true };
			return cancel === true;
		},
	);
	return result;
}

async function beforeCompact(
	{ handlers, refusals }: Extension,
	event: Extract<SessionEvent, { reason: "before_compact" }>,
	ctx: HookEventContext,
): Promise<SessionEventResult | undefined> {
	const { cutPoint, messagesToSummarize, tokensBefore, previousSummary, customInstructions, signal } = event;
	const preparation = {
		firstKeptEntryId: entryId(ctx, cutPoint.firstKeptEntryIndex),
		messagesToSummarize: [...messagesToSummarize],
		turnPrefixMessages: [],
		isSplitTurn: cutPoint.isSplitTurn,
		tokensBefore,
		previousSummary,
		fileOps: { read: new Set(), written: new Set(), edited: new Set() },
	};
	const branchEntries = createSessionView(ctx, refusals).getBranch();
	let result: SessionEventResult | undefined;
	const type = "session_before_compact";
	await handlers.emit(
		type,
		ctx,
		() => ({ type, preparation, branchEntries, customInstructions, reason: "manual", willRetry: false, signal }),
		({ cancel, compaction }) => {
			if (cancel === true) result = { cancel: true };
			else if (isRecord(compaction)) result = { compactionEntry: readCompaction(compaction, event, ctx) };
			return cancel === true;
		},
	);
	return result;
}

/** The compaction entry that an extension has written. */
function readCompaction(
	{ summary, firstKeptEntryId, details }: Readonly<Record<string, unknown>>,
	{ cutPoint, tokensBefore, entries }: Extract<SessionEvent, { reason: "before_compact" }>,
	{ session }: HookEventContext,
): CompactionEntry {
	const kept = entryIndex({ session, entries }, firstKeptEntryId);
	return {
		type: "compaction",
		timestamp: new Date().toISOString(),
		summary: String(summary),
		firstKeptEntryIndex: kept > 0 ? kept : cutPoint.firstKeptEntryIndex,
		tokensBefore,
		...(isRecord(details) ? { details } : {}),
	};
}

function viewLast(ctx: HookEventContext, entry: CompactionEntry): object {
	const index = ctx.entries.findLastIndex((candidate: SessionEntry) => isCompactionEntry(candidate));
	return viewEntry(ctx, entry, index);
}

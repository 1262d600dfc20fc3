import type { CompactionDraft, CompactionPreview, CompactionTokens, CompactionTrial } from "../commands/compaction.js";
import type { CompactionPlan } from "../context/compact.js";
import type { BuiltContext } from "../context/context-message.js";
import { estimateAll } from "../context/tokens.js";
import { type CompactionEntry, entryTimestamp, type SessionEntry } from "../log/entry.js";
import { linkSignals } from "../util/abort.js";
import { askHooks, type CompactionParts, draftCompaction } from "./compaction.js";

/** What a trial is made of. */
export interface CompactionTrialDeps {
	parts: Omit<CompactionParts, "signal">;
	plan: CompactionPlan;
	/** The context that is compacted. */
	before: BuiltContext;
	signal: AbortSignal;
	/** Computes a context beside the session's own. */
	tryContext(entries: readonly SessionEntry[]): Promise<BuiltContext>;
	/** Entries of the session as they are now. */
	entries(): readonly SessionEntry[];
	accept(draft: CompactionDraft): Promise<CompactionTokens>;
	end(error?: unknown): void;
}

/** A compaction that is worked out but not written. */
export function createCompactionTrial(deps: CompactionTrialDeps): CompactionTrial {
	const { plan, parts, before, signal } = deps;
	return {
		signal,
		firstKeptEntryIndex: plan.firstKeptEntryIndex,
		tokensBefore: plan.tokensBefore,
		askHooks: () => askHooks(plan, { ...parts, signal }),
		async draft(onText, stop) {
			const linked = linkSignals(signal, stop);
			try {
				return await draftCompaction(plan, { ...parts, signal: linked.signal }, onText);
			} finally {
				linked.unlink();
			}
		},
		async preview({ summary, firstKeptEntryIndex }): Promise<CompactionPreview> {
			const entry: CompactionEntry = {
				type: "compaction",
				timestamp: entryTimestamp(),
				summary,
				firstKeptEntryIndex,
				tokensBefore: plan.tokensBefore,
			};
			const after = await deps.tryContext(Object.freeze([...deps.entries(), Object.freeze(entry)]));
			return { before, after, tokensBefore: tokensOf(before), tokensAfter: tokensOf(after) };
		},
		accept: (draft) => deps.accept(draft),
		end: (error) => deps.end(error),
	};
}

/** Tokens of a context, estimated. */
export function tokensOf(context: BuiltContext): number {
	return estimateAll(context.messages.map(({ message }) => message));
}

import type { BuiltContext } from "../context/context-message.js";
import type { CompactionEntry } from "../log/entry.js";

/** Estimated tokens of the next request. */
export interface CompactionTokens {
	tokensBefore: number;
	tokensAfter: number;
}

/** Reason of a compaction: the user asked, the window is nearly full, or the model rejected a request as too long. */
export type CompactionReason = "manual" | "threshold" | "overflow";

/** Options of a compaction. */
export interface CompactionRequest {
	/** What the summary should focus on. */
	focus?: string | undefined;
	/** Default: `manual`. */
	reason?: CompactionReason;
	/** Refuse a compaction that would not shorten the next request. */
	mustGain?: boolean;
	/** Also replace recent messages, which the setting compaction.keepRecentTokens keeps: all but the latest prompt. */
	includesRecent?: boolean;
	/** A hook asks for it during a run, which waits for it. */
	inRun?: boolean;
	/** Aborts the compaction; the context is then unchanged. */
	signal?: AbortSignal;
}

/** The fields of a compaction entry that say what it keeps. */
export type CompactionCut = Pick<CompactionEntry, "firstKeptEntryIndex" | "tokensBefore" | "keptEntries" | "shortened">;

/** A compaction that is not written yet. */
export interface CompactionDraft {
	entry: CompactionEntry;
	/** Author of the summary: a model or hook by name, the user, or pi when no model could write it. */
	by: { kind: "model" | "hook"; name: string } | { kind: "user" } | { kind: "pi"; reason: string };
}

/** The next request without and with the compaction. */
export interface CompactionPreview extends CompactionTokens {
	before: BuiltContext;
	after: BuiltContext;
}

/** A compaction that the user can review first. No other compaction can start until it is accepted or ended. */
export interface CompactionTrial {
	/** Aborted when the session is stopped or switches to another log. */
	readonly signal: AbortSignal;
	/** What the compaction keeps, unless a hook chooses otherwise. */
	readonly cut: CompactionCut;
	/** What a compaction does beyond replacing early messages, as short phrases. */
	describe(entry: Partial<CompactionEntry>): string[];
	/** Asks the hooks for a compaction; null when none returns one. @throws PiError `compaction_failed` when a hook forbids it */
	askHooks(): Promise<CompactionDraft | null>;
	/**
	 * Asks the model for a summary. Call it again for another summary.
	 * @param onText receives the summary so far
	 * @throws PiError `compaction_failed` when the model returns none, or `signal` is aborted
	 */
	draft(onText: (text: string) => void, signal: AbortSignal): Promise<CompactionDraft>;
	/** Computes the request after the compaction, with all hooks. Nothing is written. */
	preview(entry: CompactionCut & Pick<CompactionEntry, "summary">): Promise<CompactionPreview>;
	/** Writes the compaction. @throws PiError `compaction_failed` when it was aborted */
	accept(draft: CompactionDraft): Promise<CompactionTokens>;
	/** Discards the compaction; a no-op after `accept`. @param error the reason if it failed */
	end(error?: unknown): void;
}

/** Effect of undoing a compaction, a freeze or an omission of images. */
export interface UndoPlan extends CompactionTokens {
	kind: "compaction" | "freeze" | "omission of images";
	entryIndex: number;
	/** The exceeded limit in tokens, of auto-compaction or of the model; null when the request stays below. */
	exceeded: number | null;
}

/** Compactions, for commands. */
export interface CommandCompaction {
	/** Begins a compaction. @throws PiError `compaction_failed` when nothing can be compacted; `session_busy`; `model_missing` */
	begin(request: CompactionRequest): Promise<CompactionTrial>;
	/** Compacts without a preview. @throws PiError as `begin`; `compaction_failed` when there is no summary */
	run(request: CompactionRequest): Promise<CompactionTokens>;
	/** Plans undoing the last compaction, freeze or omission of images; null without one. @throws PiError `session_busy` */
	planUndo(): Promise<UndoPlan | null>;

	undo(plan: UndoPlan): Promise<CompactionTokens>;
}

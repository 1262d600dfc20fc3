import type { BuiltContext } from "../context/context-message.js";
import type { CompactionEntry } from "../log/entry.js";

/** Tokens of the next request, estimated. */
export interface CompactionTokens {
	tokensBefore: number;
	tokensAfter: number;
}

/** Why a compaction happens: the user asked, the window is nearly full, or the model refused a request as too long. */
export type CompactionReason = "manual" | "threshold" | "overflow";

/** How to compact. */
export interface CompactionRequest {
	/** What the summary should concentrate on. */
	focus?: string | undefined;
	/** Default: `manual`. */
	reason?: CompactionReason;
	/** Aborts the compaction; the context is then unchanged. */
	signal?: AbortSignal;
}

/** A compaction that could be written. */
export interface CompactionDraft {
	entry: CompactionEntry;
	/** Who wrote the summary: the name of a model or of a hook, or the user. */
	by: { kind: "model" | "hook"; name: string } | { kind: "user" };
}

/** The next request as it is and as it would be. */
export interface CompactionPreview extends CompactionTokens {
	before: BuiltContext;
	after: BuiltContext;
}

/** A compaction that is looked at before it counts. Nothing else compacts until it is accepted or ended. */
export interface CompactionTrial {
	/** Aborted when the session is stopped or goes on with another log. */
	readonly signal: AbortSignal;
	/** The first entry that is kept, unless a hook wants it otherwise. */
	readonly firstKeptEntryIndex: number;
	/** Tokens of the request as it is, estimated. */
	readonly tokensBefore: number;
	/** Asks the hooks for a compaction of theirs; null when there is none. @throws PiError `compaction_failed` when one forbids it */
	askHooks(): Promise<CompactionDraft | null>;
	/**
	 * Asks the model for a summary. Can be called again for another one.
	 * @param onText hears the summary so far
	 * @throws PiError `compaction_failed` when the model gives none, or `signal` is aborted
	 */
	draft(onText: (text: string) => void, signal: AbortSignal): Promise<CompactionDraft>;
	/** Computes, with all hooks, the request that there would be. Nothing is written. */
	preview(entry: Pick<CompactionEntry, "summary" | "firstKeptEntryIndex">): Promise<CompactionPreview>;
	/** Writes the compaction. @throws PiError `compaction_failed` when it was aborted */
	accept(draft: CompactionDraft): Promise<CompactionTokens>;
	/** Lets go of it. Nothing is written, and after `accept` nothing happens. @param error why, when it failed */
	end(error?: unknown): void;
}

/** What undoing a compaction or a freeze would come to. */
export interface UndoPlan extends CompactionTokens {
	kind: "compaction" | "freeze";
	entryIndex: number;
	/** Tokens from which on pi compacts by itself or the model takes no more; null when the request stays below. */
	exceeded: number | null;
}

/** Compactions, as commands see them. */
export interface CommandCompaction {
	/**
	 * Begins a compaction.
	 * @throws PiError `compaction_failed` when there is nothing to compact; `session_busy`; `model_missing`
	 */
	begin(request: CompactionRequest): Promise<CompactionTrial>;
	/** Compacts without a preview. @throws PiError as `begin`; `compaction_failed` when there is no summary */
	run(request: CompactionRequest): Promise<CompactionTokens>;
	/** What undoing the last one would come to; null when there is none. @throws PiError `session_busy` */
	planUndo(): Promise<UndoPlan | null>;
	/** Undoes it. */
	undo(plan: UndoPlan): Promise<CompactionTokens>;
}

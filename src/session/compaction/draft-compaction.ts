import type { Api, Model } from "@mariozechner/pi-ai";
import type { CompactionCut, CompactionDraft, CompactionTokens } from "../../commands/compaction-request.js";
import { type CompactionPlan, promptsToKeep } from "../../context/compaction-range.js";
import type { TracedMessage } from "../../context/context-message.js";
import { compactionMessage } from "../../context/entry-message.js";
import { readActivities, withFileLists, withoutFileLists } from "../../context/summary-text.js";
import { PiError } from "../../errors.js";
import { textOf } from "../../hooks/dialog-options.js";
import type { HookRunner } from "../../hooks/runner.js";
import {
	type CompactionDetails,
	type CompactionEntry,
	entryTimestamp,
	type NativeCompaction,
	type SessionEntry,
} from "../../log/entry.js";
import { freezeDeep } from "../../log/freeze.js";
import type { SessionModels } from "../../services/service-types.js";
import { type SummarizerDeps, summarize } from "./summarizer.js";

/** The state of the session that a compaction draft is computed from. */
export interface DraftInputs extends Omit<SummarizerDeps, "models" | "onText"> {
	entries: readonly SessionEntry[];
	/** The current context. */
	messages: readonly TracedMessage[];
	sessionFile: string | null;
	/** The session's model. */
	model: Model<Api>;
	models: Pick<SessionModels, "resolveApiKey" | "requestAuth">;
	hooks: HookRunner;
	/** The active compaction; null for none. */
	earlier: CompactionEntry | null;
	/** The longest summary, in estimated tokens. */
	maxTokens: number;
	focus?: string;
}

/** What the hooks need to draft a compaction. */
export type HookDraftInputs = Pick<
	DraftInputs,
	"entries" | "messages" | "sessionFile" | "model" | "hooks" | "focus" | "signal" | "onNotice"
> & { models: Pick<DraftInputs["models"], "resolveApiKey"> };

/** What hooks made of a compaction. */
export interface HookDraft {
	/** null when no hook provides one. */
	draft: CompactionDraft | null;
	/** For the entry that is written, whoever drafts it. */
	native?: NativeCompaction;
}

/** Share of a summary that the lists of files may take. */
const LISTS_SHARE = 0.2;

/**
 * Drafts a compaction entry. A model writes the summary; when none can, pi writes it from the prompts and tool calls. pi
 * adds the files that were read and changed.
 * @param onText receives the summary so far
 * @throws PiError `compaction_failed` when it was aborted
 */
export async function draftCompaction(
	plan: CompactionPlan,
	setup: DraftInputs,
	onText: (text: string) => void,
): Promise<CompactionDraft> {
	const activities = readActivities(plan.messagesToSummarize, setup.earlier?.details);
	const listTokens = Math.floor(setup.maxTokens * LISTS_SHARE);
	const { previousSummary } = plan;
	const earlierMessage = setup.earlier && compactionMessage(setup.earlier);
	const previous = previousSummary === undefined ? undefined : withoutFileLists(previousSummary);
	const { text, model, reason, parts } = await summarize(
		{
			// The previous summary is merged separately.
			messages: plan.messagesToSummarize.filter((message) => message !== earlierMessage),
			previous,
			activities,
			focus: setup.focus,
			maxTokens: setup.maxTokens - listTokens,
		},
		{ ...setup, onText },
	);
	const { readFiles, modifiedFiles } = activities;
	const details: CompactionDetails = {
		readFiles,
		modifiedFiles,
		model: model ? `${model.provider}/${model.id}` : null,
		...(reason !== undefined && { reason }),
		...(parts > 1 && { parts }),
	};
	const entry: CompactionEntry = {
		type: "compaction",
		timestamp: entryTimestamp(),
		summary: withFileLists(text, activities, listTokens),
		...cutOf(plan),
		details,
	};
	return { entry, by: model ? { kind: "model", name: model.name } : { kind: "pi", reason: reason ?? "" } };
}

/** The fields of a compaction entry that say what it keeps. */
export function cutOf(plan: CompactionPlan): CompactionCut {
	const { firstKeptEntryIndex, tokensBefore, keptEntries, shortened } = plan;
	return {
		firstKeptEntryIndex,
		tokensBefore,
		...(keptEntries.length > 0 && { keptEntries }),
		...(shortened.length > 0 && { shortened }),
	};
}

/**
 * Asks the hooks for a compaction entry.
 * @throws PiError `compaction_failed` when a hook cancels the compaction
 */
export async function askHooks(plan: CompactionPlan, setup: HookDraftInputs): Promise<HookDraft> {
	if (!setup.hooks.registry.has("session")) return { draft: null };
	const { messagesToSummarize, messagesToKeep, previousSummary, tokensBefore, firstKeptEntryIndex, isSplitTurn } = plan;
	const answer = await setup.hooks.emitSession(
		{
			type: "session",
			reason: "before_compact",
			entries: setup.entries,
			sessionFile: setup.sessionFile,
			previousSessionFile: null,
			cutPoint: { firstKeptEntryIndex, isSplitTurn },
			messagesToSummarize: Object.freeze(messagesToSummarize),
			messagesToKeep: Object.freeze(messagesToKeep),
			...(previousSummary === undefined ? {} : { previousSummary }),
			tokensBefore,
			model: freezeDeep(setup.model),
			apiKey: await setup.models.resolveApiKey(setup.model).catch(() => undefined),
			resolveApiKey: (model) => setup.models.resolveApiKey(model),
			...(setup.focus ? { customInstructions: setup.focus } : {}),
			signal: setup.signal,
		},
		setup.signal,
	);
	if (answer.cancel) throw new PiError("compaction_failed", `Hook ${answer.canceledBy} canceled the compaction`);
	const { compactionEntry, compactedBy = "", nativeCompaction: native } = answer;
	const entry = compactionEntry ? checkHookEntry(compactionEntry, compactedBy, plan, setup) : null;
	return { draft: entry && { entry, by: { kind: "hook", name: compactedBy } }, ...(native && { native }) };
}

/** Fills in the fields that a hook's entry omits and clamps its index. @returns null when it has no summary */
function checkHookEntry(
	entry: CompactionEntry,
	hook: string,
	plan: CompactionPlan,
	setup: HookDraftInputs,
): CompactionEntry | null {
	if (typeof entry.summary !== "string") {
		setup.onNotice(`Hook ${hook} returned a compaction without a summary, so the model writes one`);
		return null;
	}
	const { length } = setup.entries;
	const requested: unknown = entry.firstKeptEntryIndex ?? plan.firstKeptEntryIndex;
	const number = typeof requested === "number" && Number.isFinite(requested) ? requested : plan.firstKeptEntryIndex;
	const firstKeptEntryIndex = Math.min(Math.max(Math.trunc(number), 0), length);
	if (firstKeptEntryIndex !== requested) {
		setup.onNotice(`Hook ${hook} keeps entries from ${textOf(requested)}; pi uses ${firstKeptEntryIndex} instead`);
	}
	const keptEntries = promptsToKeep(setup.messages, setup.entries, firstKeptEntryIndex);
	return {
		type: "compaction",
		timestamp: typeof entry.timestamp === "string" ? entry.timestamp : entryTimestamp(),
		summary: entry.summary,
		firstKeptEntryIndex,
		...(keptEntries.length > 0 && { keptEntries }),
		tokensBefore: typeof entry.tokensBefore === "number" ? entry.tokensBefore : plan.tokensBefore,
	};
}

/** @throws PiError `compaction_failed` when a compaction would not make the next request shorter */
export function checkGain({ tokensBefore, tokensAfter }: CompactionTokens, limit = ""): void {
	if (tokensAfter < tokensBefore) return;
	throw new PiError(
		"compaction_failed",
		`A summary would not shorten the context: ${tokensBefore} → ${limit}${tokensAfter} tokens`,
		{ hint: "compact when the conversation is longer" },
	);
}

/** @param kept tokens of recent messages that stay */
export function describeTooShort(kept: number, messages: number): PiError {
	const message = "There is nothing to compact yet";
	if (messages < 2 || kept === 0)
		return new PiError("compaction_failed", message, { hint: "continue the conversation first" });
	const why = `the last ${kept.toLocaleString("en-US")} tokens stay as they are (setting compaction.keepRecentTokens)`;
	return new PiError("compaction_failed", `${message}: ${why}`, { hint: "/compact anyway includes them" });
}

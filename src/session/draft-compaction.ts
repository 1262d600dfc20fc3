import type { Api, AssistantMessage, Model } from "@mariozechner/pi-ai";
import { describeFailure } from "../agent/failure.js";
import { readReply, type StreamFunction } from "../agent/stream.js";
import type { CompactionDraft } from "../commands/compaction.js";
import { type CompactionPlan, summaryRequest } from "../context/compact.js";
import { PiError } from "../errors.js";
import { textOf } from "../hooks/dialog-options.js";
import type { HookRunner } from "../hooks/runner.js";
import { type CompactionEntry, entryTimestamp, type SessionEntry } from "../log/entry.js";
import { freezeDeep } from "../log/freeze.js";
import type { SessionModels } from "./session-setup.js";

/** The state of the session that a compaction draft is computed from. */
export interface DraftInputs {
	entries: readonly SessionEntry[];
	sessionFile: string | null;
	model: Model<Api>;
	models: Pick<SessionModels, "resolveApiKey" | "requestAuth">;
	stream: StreamFunction;
	hooks: HookRunner;
	idleTimeoutMs: number;
	focus?: string;
	signal: AbortSignal;
	/** Reports a corrected value, such as an index out of range. */
	onNotice(message: string): void;
}

/** Maximum length of a summary, in tokens. */
const MAX_SUMMARY_TOKENS = 8000;

/**
 * Drafts a compaction entry with a summary by the model.
 * @param onText receives the summary so far
 * @throws PiError `compaction_failed` when the model returned no summary
 */
export async function draftCompaction(
	plan: CompactionPlan,
	setup: DraftInputs,
	onText: (text: string) => void,
): Promise<CompactionDraft> {
	const summary = await summarize(plan, setup, onText);
	const entry: CompactionEntry = {
		type: "compaction",
		timestamp: entryTimestamp(),
		summary,
		firstKeptEntryIndex: plan.firstKeptEntryIndex,
		tokensBefore: plan.tokensBefore,
	};
	return { entry, by: { kind: "model", name: setup.model.name } };
}

/**
 * Asks the hooks for a compaction entry. @returns null when none provides one
 * @throws PiError `compaction_failed` when a hook cancels the compaction
 */
export async function askHooks(plan: CompactionPlan, setup: DraftInputs): Promise<CompactionDraft | null> {
	if (!setup.hooks.registry.has("session")) return null;
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
	const { compactionEntry, compactedBy = "" } = answer;
	const entry = compactionEntry ? checkHookEntry(compactionEntry, compactedBy, plan, setup) : null;
	return entry && { entry, by: { kind: "hook", name: compactedBy } };
}

/** Fills in the fields that a hook's entry omits and clamps its index. @returns null when it has no summary */
function checkHookEntry(
	entry: CompactionEntry,
	hook: string,
	plan: CompactionPlan,
	setup: DraftInputs,
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
	return {
		type: "compaction",
		timestamp: typeof entry.timestamp === "string" ? entry.timestamp : entryTimestamp(),
		summary: entry.summary,
		firstKeptEntryIndex,
		tokensBefore: typeof entry.tokensBefore === "number" ? entry.tokensBefore : plan.tokensBefore,
	};
}

async function summarize(plan: CompactionPlan, setup: DraftInputs, onText: (text: string) => void): Promise<string> {
	const { model, signal } = setup;
	const auth = await setup.models.requestAuth(model);
	const { reply, facts } = await readReply(
		setup.stream,
		{
			model,
			context: summaryRequest(plan.messagesToSummarize, setup.focus),
			options: { ...auth, maxTokens: Math.min(model.maxTokens, MAX_SUMMARY_TOKENS), maxRetries: 0 },
		},
		{
			signal,
			idleTimeoutMs: setup.idleTimeoutMs,
			onEvent: (event) => {
				if (event.type === "text_delta") onText(replyText(event.partial));
			},
		},
	);
	if (signal.aborted) throw new PiError("compaction_failed", "The compaction was canceled");
	const summary = replyText(reply);
	if (reply.stopReason === "error" || summary === "") {
		const isFailure = reply.stopReason === "error";
		const cause = isFailure ? describeFailure(reply.errorMessage, model, facts) : "the reply has no text";
		throw new PiError("compaction_failed", `${model.name} returned no summary: ${cause}`, {
			hint: "try /compact again, or choose another model with /model",
		});
	}
	return summary;
}

function replyText(reply: AssistantMessage): string {
	return reply.content
		.filter((block) => block.type === "text")
		.map((block) => block.text)
		.join("\n")
		.trim();
}

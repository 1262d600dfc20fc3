import type { Api, Model } from "@mariozechner/pi-ai";
import type { CompactionTokens } from "../commands/compaction.js";
import { type CompactionPlan, planCompactions } from "../context/compact.js";
import type { BuiltContext } from "../context/context-message.js";
import { plainSummary, readActivities } from "../context/plain-summary.js";
import { splitConversation } from "../context/summary-request.js";
import { estimateAll, estimateText } from "../context/tokens.js";
import { PiError } from "../errors.js";
import type { HookRunner } from "../hooks/runner.js";
import { type CompactionEntry, entryTimestamp, type SessionEntry } from "../log/entry.js";
import { askHooks, cutOf } from "../session/compaction/draft-compaction.js";
import { sum } from "../util/sum.js";
import { STAND_IN_TOKENS, type StandInRequest } from "./shadow-session.js";

/** Tokens of recent messages that a compaction keeps: the default of the setting `compaction.keepRecentTokens`. */
const KEEP_TOKENS = 20_000;

export interface ShadowCompactionOptions {
	context: BuiltContext;
	entries: readonly SessionEntry[];
	sessionFile: string | null;
	/** null if no list has it. */
	model: Model<Api> | null;
	hooks: HookRunner;
	signal: AbortSignal;
	/** Appends the compaction to the log of the strategy. */
	append(entry: CompactionEntry): readonly SessionEntry[];
	observer: { onStandIn(request: StandInRequest): void };
}

/**
 * What `ctx.compact` of a strategy does: the hooks write the summary, or pi's plain one stands in for that of a model.
 * @throws PiError `compaction_failed`
 */
export async function compactShadow(options: ShadowCompactionOptions): Promise<CompactionTokens> {
	const { context, entries, sessionFile, model, hooks, signal, append, observer } = options;
	const [plan] = planCompactions(context.messages, entries, KEEP_TOKENS);
	if (!plan || !model) throw new PiError("compaction_failed", "There is nothing to compact yet");
	const { messages } = context;
	const models = { resolveApiKey: async () => "" };
	const asked = { entries, messages, sessionFile, model, models, hooks, signal, onNotice: () => {} };
	const drafted = await askHooks(plan, asked);
	const entry = drafted?.entry ?? standIn(plan, model, observer);
	const after = append(entry);
	const base = { type: "session", sessionFile, previousSessionFile: null, entries: after } as const;
	const { tokensBefore } = plan;
	const fromHook = drafted !== null;
	await hooks.emitSession({ ...base, reason: "compact", compactionEntry: entry, tokensBefore, fromHook }, signal);
	return { tokensBefore, tokensAfter: estimateAll(plan.messagesToKeep) + estimateText(entry.summary) };
}

function standIn(
	plan: CompactionPlan,
	{ provider, id }: Model<Api>,
	observer: ShadowCompactionOptions["observer"],
): CompactionEntry {
	const { messagesToSummarize: all, previousSummary } = plan;
	const summary = plainSummary(all, readActivities(all), previousSummary, STAND_IN_TOKENS);
	// As pi sends it: as text, which no cache has.
	const input = sum(splitConversation(all, Number.MAX_SAFE_INTEGER, previousSummary).map(estimateText));
	observer.onStandIn({ provider, model: id, input, cached: 0, output: estimateText(summary) });
	return { type: "compaction", timestamp: entryTimestamp(), summary, ...cutOf(plan) };
}

import type { Api, Model } from "@mariozechner/pi-ai";
import type { CompactionTokens } from "../commands/compaction-request.js";
import { fillDefaults } from "../config/json-schema.js";
import { SETTINGS_SCHEMA } from "../config/settings-schema.js";
import { type CompactionPlan, planCompactions } from "../context/compaction-range.js";
import type { BuiltContext } from "../context/context-message.js";
import { activeReplacement } from "../context/replacement.js";
import { splitConversation } from "../context/summary-request.js";
import { plainSummary, readActivities } from "../context/summary-text.js";
import { estimateAll, estimateText } from "../context/tokens.js";
import { divideWindow } from "../context/window-budget.js";
import { PiError } from "../errors.js";
import type { HookRunner } from "../hooks/runner.js";
import { type CompactionEntry, entryTimestamp, type SessionEntry } from "../log/entry.js";
import { askHooks, cutOf, draftCompaction } from "../session/compaction/draft-compaction.js";
import { sum } from "../util/sum.js";
import type { AskedModels } from "./remembered-answers.js";
import { notAnswered, type ShadowObserver, STAND_IN_TOKENS } from "./shadow-session.js";

/** The defaults of the settings: what a user has set is not what a strategy is compared with. */
const { keepRecentTokens, reserveTokens } = fillDefaults(SETTINGS_SCHEMA.properties.compaction, {});
/** Window of a model whose window is unknown, in tokens. */
const ASSUMED_WINDOW = 128_000;

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
	observer: Pick<ShadowObserver, "onSideRequest" | "onProblem">;
	/** Asks a model for the summary. Absent: pi's own stands in for it. */
	ask?: AskedModels;
}

/**
 * What `ctx.compact` of a strategy does: the hooks write the summary, or pi's plain one stands in for that of a model.
 * @throws PiError `compaction_failed`
 */
export async function compactShadow(options: ShadowCompactionOptions): Promise<CompactionTokens> {
	const { context, entries, sessionFile, model, hooks, signal, append, observer, ask } = options;
	const [plan] = planCompactions(context.messages, entries, keepRecentTokens);
	if (!plan || !model) throw new PiError("compaction_failed", "There is nothing to compact yet");
	const { messages } = context;
	const models = { resolveApiKey: async () => "" };
	const asked = { entries, messages, sessionFile, model, models, hooks, signal, onNotice: () => {} };
	const { draft: drafted } = await askHooks(plan, asked);
	const entry = drafted?.entry ?? (ask && (await draft(ask, plan, model, options))) ?? standIn(plan, model, observer);
	const after = append(entry);
	const base = { type: "session", sessionFile, previousSessionFile: null, entries: after } as const;
	const { tokensBefore } = plan;
	const fromHook = drafted !== null;
	await hooks.emitSession({ ...base, reason: "compact", compactionEntry: entry, tokensBefore, fromHook }, signal);
	return { tokensBefore, tokensAfter: estimateAll(plan.messagesToKeep) + estimateText(entry.summary) };
}

/**
 * A compaction with the summary of a model, as a session drafts it. @returns null if no model wrote it
 * @throws PiError `compaction_failed` when it was aborted
 */
async function draft(
	{ stream, options: asking }: AskedModels,
	plan: CompactionPlan,
	sessionModel: Model<Api>,
	{ context, entries, sessionFile, hooks, signal, observer }: ShadowCompactionOptions,
): Promise<CompactionEntry | null> {
	const { client, retry, redact, idleTimeoutMs } = asking;
	const model = asking.summarizer ?? sessionModel;
	const { contextWindow: window } = sessionModel;
	const active = activeReplacement(entries);
	const sizes = { preamble: context.preamble.tokens, reserveTokens, keepRecentTokens };
	const drafted = await draftCompaction(
		plan,
		{
			...{ entries, messages: context.messages, sessionFile, hooks, signal, retry, redact, idleTimeoutMs },
			...{ model: sessionModel, candidates: [model], onNotice: () => {}, noteRefusal: () => {} },
			models: { resolveApiKey: async () => "", requestAuth: async () => ({ apiKey: "" }) },
			stream: (...request) => {
				const events = stream(...request);
				void events.result().then(({ stopReason, usage: { input, cacheRead, cacheWrite, output } }) => {
					if (stopReason === "error" || stopReason === "aborted") return;
					const { provider, id } = model;
					const all = input + cacheRead + cacheWrite;
					observer.onSideRequest({ provider, model: id, isAsked: true, input: all, cached: 0, output });
				});
				return events;
			},
			client,
			windowOf: ({ contextWindow }) => contextWindow,
			maxTokens: divideWindow({ window: window || ASSUMED_WINDOW, ...sizes }).summary,
			earlier: active?.kind === "compaction" ? active.entry : null,
		},
		() => {},
	);
	if (drafted.by.kind === "model") return drafted.entry;
	observer.onProblem(notAnswered("pi", drafted.by.kind === "pi" ? drafted.by.reason : model.name));
	return null;
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
	observer.onSideRequest({ provider, model: id, isAsked: false, input, cached: 0, output: estimateText(summary) });
	return { type: "compaction", timestamp: entryTimestamp(), summary, ...cutOf(plan) };
}

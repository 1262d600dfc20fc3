import type { Api, AssistantMessage, Model } from "@mariozechner/pi-ai";
import type {
	CommandCompaction,
	CompactionDraft,
	CompactionReason,
	CompactionRequest,
	CompactionTokens,
	CompactionTrial,
	UndoPlan,
} from "../../commands/compaction-request.js";
import { readOverflow } from "../../context/calibration.js";
import { type CompactionPlan, planCompactions } from "../../context/compaction-range.js";
import { describeCompaction } from "../../context/compaction-steps.js";
import type { BuiltContext } from "../../context/context-message.js";
import type { EntrySource } from "../../context/entry-message.js";
import { lastOmission } from "../../context/omitted-images.js";
import { activeReplacement } from "../../context/replacement.js";
import { estimateAll } from "../../context/tokens.js";
import type { WindowBudget } from "../../context/window-budget.js";
import { describeError, PiError } from "../../errors.js";
import {
	type CompactionEntry,
	type ContextUndoEntry,
	entryTimestamp,
	isMessageEntry,
	type NativeCompaction,
	type SessionEntry,
} from "../../log/entry.js";
import { requireModel } from "../../services/service-types.js";
import { linkSignals } from "../../util/abort.js";
import type { Operation } from "../activity.js";
import { viewLog } from "../log-view.js";
import { meterRequests } from "../run/meter-requests.js";
import type { SessionWindow } from "../run/session-window.js";
import type { SessionCore } from "../session-core.js";
import { askHooks, checkGain, cutOf, type DraftInputs, describeTooShort, draftCompaction } from "./draft-compaction.js";

export interface CompactionDeps extends SessionCore {
	window: SessionWindow;
}

/** The longest summary when the window is unknown, in tokens. */
const MAX_SUMMARY_TOKENS = 8000;

/** Below this, a compaction would gain nothing even with a short summary. */
const MIN_SUMMARY_TOKENS = 20;

/** Compacts the context and undoes compactions. Every compaction, manual or automatic, goes through `begin`. */
export class Compaction implements CommandCompaction {
	/** Log length at the last failed automatic compaction, which is not retried until the log has grown. */
	#failedAt = -1;

	constructor(private readonly deps: CompactionDeps) {}

	/** Whether the session compacts automatically. Setting it applies to this process only; nothing is saved. */
	get enabled(): boolean {
		return this.deps.store.settings.current.compaction.enabled;
	}
	/**
	 * Compacts when the next request would take too much of the window. Reports failures instead of throwing.
	 * @returns true when the context changed
	 */
	async makeRoom(signal: AbortSignal): Promise<boolean> {
		const { state, context } = this.deps;
		const budget = this.deps.window.budget();
		if (!this.enabled || !budget || state.log.length === this.#failedAt) return false;
		return context.estimatedTokens() > budget.limit ? this.#try("threshold", signal) : false;
	}

	/**
	 * Makes room because the model refused a request as too long; it may have named its window or a count.
	 * @returns true when the next request is smaller, or known to fit
	 */
	async makeRoomAfterRefusal(refused: AssistantMessage, signal: AbortSignal): Promise<boolean> {
		const { context } = this.deps;
		const { provider, model: id, errorMessage = "" } = refused;
		context.noteRefusal({ provider, id }, errorMessage);
		const { window, requested } = readOverflow(errorMessage);
		const budget = this.deps.window.budget();
		const tokens = context.estimatedTokens();
		// The same request may fit with less room for the reply.
		const mayFit = budget !== null && (requested === null || (window !== null && requested < window));
		if (mayFit && tokens <= budget.limit) return true;
		if (this.enabled && (await this.#try("overflow", signal))) return true;
		// After refusals without sizes only the model knows what fits.
		return mayFit && (tokens <= budget.max || context.calibration.isGuess({ provider, id }));
	}

	/** Makes room because the next request has more bytes than its provider accepts. @returns true when the context changed */
	async makeRoomForBytes(signal: AbortSignal): Promise<boolean> {
		return this.enabled && this.deps.state.log.length !== this.#failedAt && (await this.#try("overflow", signal));
	}

	/** Compacts now, with a summary by a hook or else the model. @throws PiError `compaction_failed`, and as `begin` */
	async run(request: CompactionRequest): Promise<CompactionTokens> {
		const trial = await this.begin(request);
		try {
			return await trial.accept((await this.#hookDraft(trial, request)) ?? (await trial.draft(() => {}, trial.signal)));
		} catch (error) {
			trial.end(error);
			throw error;
		}
	}

	/**
	 * Begins a compaction. Until it is accepted or ended, prompts are queued and other compactions are refused.
	 * @throws PiError `compaction_failed` when there is nothing to compact, or to gain by it if that is required;
	 * `session_busy`, `model_missing`, `log_read_only`
	 */
	async begin({ focus, signal, reason = "manual", ...wish }: CompactionRequest): Promise<CompactionTrial> {
		const { mustGain = false, includesRecent = false, inRun = false } = wish;
		const { activity, state, context, store, models, emit } = this.deps;
		if (reason === "manual" && !inRun) {
			// Without a wait when nothing ends, so that an abort right after the call finds the operation.
			if (activity.isRunEnding) await activity.untilRunEnded();
			activity.check("compact");
		}
		state.log.checkWritable();
		const model = requireModel(models, state);
		const signals = [...(signal ? [signal] : []), this.deps.ended];
		const operation = activity.begin("compacting", { name: reason, signals });
		// An automatic one is announced when something can be compacted: otherwise nothing happens.
		let isAnnounced = reason === "manual";
		if (isAnnounced) emit({ type: "auto_compaction_start", reason });
		const meter = meterRequests(this.deps, "compaction");
		let isFinished = false;
		const finish = (result: CompactionEntry | null, error?: unknown) => {
			if (isFinished) return;
			isFinished = true;
			meter.write();
			if (!isAnnounced) return;
			const aborted = operation.signal.aborted || (result === null && error === undefined);
			const why = error === undefined ? {} : { errorMessage: describeError(error) };
			emit({ type: "auto_compaction_end", result, aborted, ...why });
		};
		const end = (error?: unknown) => {
			finish(null, error);
			operation.end();
		};
		try {
			const before = await context.rebuild(operation.signal);
			const budget = this.deps.window.budget();
			const settings = store.settings.current;
			const keep = includesRecent ? 1 : (budget?.keepRecent ?? settings.compaction.keepRecentTokens);
			const demand = { budget, keep, isForced: includesRecent, mustGain: reason !== "manual" };
			const plan = await this.#plan(before, demand, operation.signal);
			const repeats = reason === "manual" && !includesRecent && plan?.onlyRepeats;
			if (!plan || repeats) throw describeTooShort(keep, before.messages.length);
			if (!isAnnounced) emit({ type: "auto_compaction_start", reason });
			isAnnounced = true;
			const active = activeReplacement(viewLog(state.log));
			const drafting: DraftInputs = {
				entries: state.log.entries,
				messages: before.messages,
				sessionFile: state.log.path,
				model,
				candidates: await this.#candidates(plan),
				models: models.list,
				stream: meter.stream,
				client: models.client,
				windowOf: (asked) => Math.floor(context.calibration.window(asked) / context.calibration.ratio(asked)),
				noteRefusal: (asked, text, estimated) => context.calibration.noteRefusal(asked, text, estimated),
				hooks: this.deps.hooks(),
				retry: settings.retry,
				redact: models.redact,
				idleTimeoutMs: settings.streamIdleTimeoutMs,
				maxTokens: budget?.summary ?? MAX_SUMMARY_TOKENS,
				earlier: active?.kind === "compaction" ? active.entry : null,
				...(focus ? { focus } : {}),
				signal: operation.signal,
				onNotice: (message: string) => emit({ type: "notice", level: "warning", message }),
			};
			const trial = this.#trial(plan, { before, mustGain }, drafting, operation, finish, end);
			if (mustGain) checkGain(await trial.preview({ ...cutOf(plan), summary: "" }), "at least ");
			return trial;
		} catch (error) {
			end(error);
			throw error;
		}
	}

	async planUndo(): Promise<UndoPlan | null> {
		const { activity, state, context, ended } = this.deps;
		await activity.untilRunEnded();
		activity.check("compact");
		const { entries } = state.log;
		const active = lastContextChange(entries);
		if (!active) return null;
		const { kind, entryIndex } = active;
		const undone = await this.#tryWith(undoEntry(entryIndex), ended);
		const tokensAfter = tokensOf(undone);
		const budget = this.deps.window.budget();
		const limit = budget && (this.enabled ? budget.limit : budget.max);
		// The rest of the window, without system prompt and tools.
		const room = limit === null ? null : Math.max(0, limit - undone.preamble.tokens);
		const exceeded = room !== null && tokensAfter > room ? room : null;
		return { kind, entryIndex, tokensBefore: tokensOf(context.current), tokensAfter, exceeded };
	}

	async undo({ entryIndex, tokensBefore }: UndoPlan): Promise<CompactionTokens> {
		const { state, context, ended } = this.deps;
		state.append(undoEntry(entryIndex));
		await context.rebuild(ended);
		await state.log.flush();
		return { tokensBefore, tokensAfter: tokensOf(context.current) };
	}

	#trial(
		plan: CompactionPlan,
		{ before, mustGain }: { before: BuiltContext; mustGain: boolean },
		drafting: DraftInputs,
		operation: Operation,
		finish: (result: CompactionEntry | null) => void,
		end: (error?: unknown) => void,
	): CompactionTrial {
		const { state, context } = this.deps;
		const { signal } = operation;
		let isWritten = false;
		let native: NativeCompaction | undefined;
		const preview: CompactionTrial["preview"] = async (draft) => {
			const after = await this.#tryWith({ type: "compaction", timestamp: entryTimestamp(), ...draft }, signal);
			return { before, after, tokensBefore: tokensOf(before), tokensAfter: tokensOf(after) };
		};
		return {
			signal,
			cut: cutOf(plan),
			describe: (entry) => describeCompaction(entry, viewLog(state.log)),
			async askHooks() {
				const asked = await askHooks(plan, drafting);
				native = asked.native;
				return asked.draft;
			},
			async draft(onText, stop) {
				const linked = linkSignals(signal, stop);
				try {
					return await draftCompaction(plan, { ...drafting, signal: linked.signal }, onText);
				} finally {
					linked.unlink();
				}
			},
			preview,
			accept: async ({ entry: drafted, by }: CompactionDraft) => {
				// What the user changes in a summary is for every model.
				const entry = native && by.kind !== "user" ? { ...drafted, native } : drafted;
				if (signal.aborted) throw new PiError("compaction_failed", "The compaction was canceled");
				if (mustGain && !isWritten) checkGain(await preview(entry));
				// Write the entry only once, even if `accept` is called again after a later step failed.
				if (!isWritten) state.append(entry);
				isWritten = true;
				await context.rebuild(signal);
				finish(entry);
				await state.log.flush();
				await this.#notifyHooks(entry, by.kind === "hook", signal);
				operation.end();
				return { tokensBefore: entry.tokensBefore, tokensAfter: tokensOf(context.current) };
			},
			end,
		};
	}

	async #try(reason: CompactionReason, signal: AbortSignal): Promise<boolean> {
		try {
			await this.run({ reason, signal });
			return true;
		} catch {
			// `auto_compaction_end` reported the failure; the run continues with an unchanged context.
			this.#failedAt = this.deps.state.log.length;
			return false;
		}
	}

	/** The compaction of a hook; null for none, and when one must make room but does not. */
	async #hookDraft(trial: CompactionTrial, { reason = "manual" }: CompactionRequest): Promise<CompactionDraft | null> {
		const draft = await trial.askHooks();
		const budget = this.deps.window.budget();
		if (!draft || reason === "manual" || !budget) return draft;
		const { after } = await trial.preview(draft.entry);
		if (requestTokens(after) <= budget.limit) return draft;
		const by = draft.by.kind === "hook" ? `hook ${draft.by.name}` : "the hook";
		const message = `The compaction of ${by} leaves too little room, so the model writes one`;
		this.deps.emit({ type: "notice", level: "warning", message });
		return null;
	}

	/**
	 * The first plan after which the request is small enough, all hooks included; else the last one, after which it fits at
	 * least. @param demand `keep`: tokens of recent messages that stay; `isForced`: even the last reply may be replaced
	 * @returns null when nothing can be compacted, or nothing is gained by it if that is required
	 */
	async #plan(
		before: BuiltContext,
		{
			budget,
			keep,
			isForced,
			mustGain,
		}: Record<"isForced" | "mustGain", boolean> & { budget: WindowBudget | null; keep: number },
		signal: AbortSignal,
	): Promise<CompactionPlan | null> {
		let last: CompactionPlan | null = null;
		let gain = Number.POSITIVE_INFINITY;
		for (const plan of planCompactions(before.messages, viewLog(this.deps.state.log), keep)) {
			// Only where the window or the user demands it.
			const isSmall = !isForced && (!budget || requestTokens(before) <= budget.target);
			if (plan.isLastResort && isSmall) break;
			last = plan;
			if (!budget) break;
			const summary = "x".repeat(budget.summary * 4);
			const entry = { type: "compaction" as const, timestamp: entryTimestamp(), summary, ...cutOf(plan) };
			const after = await this.#tryWith(entry, signal);
			gain = tokensOf(before) - (tokensOf(after) - budget.summary + MIN_SUMMARY_TOKENS);
			if (requestTokens(after) <= budget.target) break;
		}
		return gain > 0 || !mustGain ? last : null;
	}

	/** The models that may write the summary: the configured one, and a larger one if the session's own is too small. */
	async #candidates(plan: CompactionPlan): Promise<Model<Api>[]> {
		const { store, models, state, context } = this.deps;
		const { model } = state;
		const [provider = "", ...id] = (store.settings.current.compaction.model ?? "").split("/");
		const configured = models.list.findUsed(provider, id.join("/"));
		const isLarge = estimateAll(plan.messagesToSummarize) > context.calibration.window(model ?? undefined) / 2;
		const larger = isLarge ? this.#earlierModel(await models.list.available()) : null;
		return [...new Set([configured, larger, model])].filter((one) => one !== null);
	}

	/** The model of the last reply by another model with a larger window that is still available. */
	#earlierModel(available: readonly Model<Api>[]): Model<Api> | null {
		const { state, context } = this.deps;
		const window = context.calibration.window(state.model ?? undefined);
		const entries = viewLog(state.log);
		const previousReply = (before: number) => entries.findLastMessage("assistant", before);
		for (let index = previousReply(entries.length); index > 0; index = previousReply(index)) {
			const entry = entries.at(index);
			if (!isMessageEntry(entry) || entry.message.role !== "assistant") continue;
			const { provider, model: id } = entry.message;
			const found = available.find((model) => model.provider === provider && model.id === id);
			if (found && context.calibration.window(found) > window) return found;
		}
		return null;
	}

	#tryWith(entry: SessionEntry, signal: AbortSignal): Promise<BuiltContext> {
		return this.deps.tryContext(Object.freeze([...this.deps.state.log.entries, Object.freeze(entry)]), signal);
	}

	async #notifyHooks(entry: CompactionEntry, fromHook: boolean, signal: AbortSignal): Promise<void> {
		const { log } = this.deps.state;
		await this.deps.hooks().emitSession(
			{
				type: "session",
				reason: "compact",
				entries: log.entries,
				sessionFile: log.path,
				previousSessionFile: null,
				compactionEntry: entry,
				tokensBefore: entry.tokensBefore,
				fromHook,
			},
			signal,
		);
	}
}

/** The latest compaction, freeze or omission of images that was not undone; null for none. */
function lastContextChange(entries: EntrySource): Pick<UndoPlan, "kind" | "entryIndex"> | null {
	const replacement = activeReplacement(entries);
	const omission = lastOmission(entries);
	return omission > (replacement?.entryIndex ?? -1)
		? { kind: "omission of images", entryIndex: omission }
		: replacement;
}

/** Estimated tokens of the messages of a context. */
function tokensOf(context: BuiltContext): number {
	return estimateAll(context.messages.map(({ message }) => message));
}

/** Estimated tokens of the complete request. */
function requestTokens(context: BuiltContext): number {
	return tokensOf(context) + context.preamble.tokens;
}

function undoEntry(entryIndex: number): ContextUndoEntry {
	return { type: "context_undo", timestamp: entryTimestamp(), entryIndex };
}

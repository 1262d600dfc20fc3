import type {
	CommandCompaction,
	CompactionDraft,
	CompactionReason,
	CompactionRequest,
	CompactionTokens,
	CompactionTrial,
	UndoPlan,
} from "../commands/compaction.js";
import { type CompactionPlan, keepLatestPrompt, planCompaction } from "../context/compact.js";
import type { BuiltContext } from "../context/context-message.js";
import { activeReplacement } from "../context/replacement.js";
import { estimateAll } from "../context/tokens.js";
import { describeError, PiError } from "../errors.js";
import { type CompactionEntry, type ContextUndoEntry, entryTimestamp, type SessionEntry } from "../log/entry.js";
import { linkSignals } from "../util/abort.js";
import type { Operation } from "./activity.js";
import { askHooks, type DraftInputs, draftCompaction } from "./draft-compaction.js";
import { meterRequests } from "./meter-requests.js";
import { requireModel, type SessionCore } from "./session-setup.js";

/** Compacts the context and undoes compactions. Every compaction, manual or automatic, goes through `begin`. */
export class Compaction implements CommandCompaction {
	/** Log length at the last failed automatic compaction, which is not retried until the log has grown. */
	#failedAt = -1;

	constructor(private readonly deps: SessionCore) {}

	/** Whether the session compacts automatically. Setting it applies to this process only; nothing is saved. */
	get enabled(): boolean {
		return this.deps.setup.settings.current.compaction.enabled;
	}
	set enabled(enabled: boolean) {
		this.deps.setup.settings.override("compaction.enabled", enabled);
	}

	/** Compacts when less than `reserveTokens` of the window remains. Reports failures instead of throwing. */
	async compactIfNeeded(signal: AbortSignal): Promise<void> {
		const { state, context } = this.deps;
		const limit = this.#limit();
		if (!this.enabled || limit === null || state.log.length === this.#failedAt) return;
		if (context.tokens() > limit) await this.#try("threshold", signal);
	}

	/** Compacts because the model refused the request as too long. @returns true when the context is shorter now */
	async compactAfterOverflow(signal: AbortSignal): Promise<boolean> {
		return this.enabled ? this.#try("overflow", signal) : false;
	}

	/** Compacts now, with a summary by a hook or else the model. @throws PiError `compaction_failed`, and as `begin` */
	async run(request: CompactionRequest): Promise<CompactionTokens> {
		const trial = await this.begin(request);
		try {
			return await trial.accept((await trial.askHooks()) ?? (await trial.draft(() => {}, trial.signal)));
		} catch (error) {
			trial.end(error);
			throw error;
		}
	}

	/**
	 * Begins a compaction. Until it is accepted or ended, prompts are queued and other compactions are refused.
	 * @throws PiError `compaction_failed` when there is nothing to compact, or to gain by it if that is required; `session_busy`, `model_missing`
	 */
	async begin({ focus, signal, reason = "manual", mustGain = false }: CompactionRequest): Promise<CompactionTrial> {
		const { activity, state, context, setup, emit } = this.deps;
		if (reason === "manual") {
			await activity.untilRunEnded();
			activity.check("compact");
		}
		const model = requireModel(setup, state);
		const signals = [...(signal ? [signal] : []), this.deps.ended];
		const operation = activity.begin("compacting", { name: reason, signals });
		emit({ type: "auto_compaction_start", reason });
		const meter = meterRequests(this.deps, "compaction");
		const finish = once((result: CompactionEntry | null, error?: unknown) => {
			meter.write();
			const aborted = operation.signal.aborted || (result === null && error === undefined);
			const why = error === undefined ? {} : { errorMessage: describeError(error) };
			emit({ type: "auto_compaction_end", result, aborted, ...why });
		});
		const end = (error?: unknown) => {
			finish(null, error);
			operation.end();
		};
		try {
			const before = await context.rebuild(operation.signal);
			const plan = planCompaction(
				before.messages,
				state.log.entries,
				setup.settings.current.compaction.keepRecentTokens,
			);
			if (!plan)
				throw new PiError("compaction_failed", "There is nothing to compact yet", {
					hint: "continue the conversation first",
				});
			const drafting = {
				entries: state.log.entries,
				sessionFile: state.log.path,
				model,
				models: setup.models,
				stream: meter.stream,
				hooks: this.deps.hooks(),
				idleTimeoutMs: setup.settings.current.streamIdleTimeoutMs,
				...(focus ? { focus } : {}),
				signal: operation.signal,
				onNotice: (message: string) => emit({ type: "notice", level: "warning", message }),
			};
			const trial = this.#trial(plan, { before, mustGain }, drafting, operation, finish, end);
			if (mustGain) checkGain(await trial.preview({ ...plan, summary: "" }), "at least ");
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
		const active = activeReplacement(entries);
		if (!active) return null;
		const { kind, entryIndex } = active;
		const undone = await this.#tryWith(undoEntry(entryIndex), ended);
		const tokensAfter = tokensOf(undone);
		const limit = this.#limit();
		const exceeded = limit !== null && tokensAfter > limit ? limit : null;
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
		const withPrompt = ({ entry, by }: CompactionDraft): CompactionDraft => {
			const summary = keepLatestPrompt(entry.summary, state.log.entries, entry.firstKeptEntryIndex);
			return { entry: { ...entry, summary }, by };
		};
		const preview: CompactionTrial["preview"] = async ({ summary, firstKeptEntryIndex }) => {
			const { tokensBefore } = plan;
			const entry = { type: "compaction" as const, timestamp: entryTimestamp(), firstKeptEntryIndex, tokensBefore };
			const kept = keepLatestPrompt(summary, state.log.entries, firstKeptEntryIndex);
			const after = await this.#tryWith({ ...entry, summary: kept }, signal);
			return { before, after, tokensBefore: tokensOf(before), tokensAfter: tokensOf(after) };
		};
		return {
			signal,
			firstKeptEntryIndex: plan.firstKeptEntryIndex,
			tokensBefore: plan.tokensBefore,
			askHooks: async () => {
				const draft = await askHooks(plan, drafting);
				return draft && withPrompt(draft);
			},
			async draft(onText, stop) {
				const linked = linkSignals(signal, stop);
				try {
					return withPrompt(await draftCompaction(plan, { ...drafting, signal: linked.signal }, onText));
				} finally {
					linked.unlink();
				}
			},
			preview,
			accept: async (draft: CompactionDraft) => {
				if (signal.aborted) throw new PiError("compaction_failed", "The compaction was canceled");
				const { entry, by } = withPrompt(draft);
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

	/** Tokens above which the session compacts automatically, else the model's window; null when the window is unknown. */
	#limit(): number | null {
		const { setup, state } = this.deps;
		const window = state.model?.contextWindow ?? 0;
		if (window === 0) return null;
		return this.enabled ? window - setup.settings.current.compaction.reserveTokens : window;
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

/** @throws PiError `compaction_failed` when a compaction would not make the next request shorter */
function checkGain({ tokensBefore, tokensAfter }: CompactionTokens, limit = ""): void {
	if (tokensAfter < tokensBefore) return;
	throw new PiError(
		"compaction_failed",
		`A summary would not shorten the context: ${tokensBefore} → ${limit}${tokensAfter} tokens`,
		{ hint: "compact when the conversation is longer" },
	);
}

/** Estimated tokens of a context. */
function tokensOf(context: BuiltContext): number {
	return estimateAll(context.messages.map(({ message }) => message));
}

function undoEntry(entryIndex: number): ContextUndoEntry {
	return { type: "context_undo", timestamp: entryTimestamp(), entryIndex };
}

/** Wraps a function so that calls after the first do nothing. */
function once<A extends unknown[]>(call: (...args: A) => void): (...args: A) => void {
	let isCalled = false;
	return (...args) => {
		if (isCalled) return;
		isCalled = true;
		call(...args);
	};
}

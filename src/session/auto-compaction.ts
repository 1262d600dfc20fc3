import type { CompactionTokens, CompactionTrial } from "../commands/compaction.js";
import { planCompaction } from "../context/compact.js";
import type { BuiltContext } from "../context/context-message.js";
import { describeError, PiError } from "../errors.js";
import type { HookRunner } from "../hooks/runner.js";
import type { CompactionEntry, SessionEntry } from "../log/entry.js";
import { linkSignals } from "../util/abort.js";
import { createCompactionTrial, tokensOf } from "./compaction-trial.js";
import type { SessionEvent } from "./events.js";
import type { SessionContext } from "./session-context.js";
import type { SessionParts } from "./session-parts.js";
import { requireModel } from "./session-run.js";
import type { SessionState } from "./session-state.js";

/** What compaction is driven with. */
export interface AutoCompactionDeps {
	parts: SessionParts;
	state: SessionState;
	context: SessionContext;
	hooks(): HookRunner;
	/** Computes a context beside the session's own; no figures, no reports. */
	tryContext(entries: readonly SessionEntry[], signal: AbortSignal): Promise<BuiltContext>;
	emit(event: SessionEvent): void;
}

type Reason = Extract<SessionEvent, { type: "auto_compaction_start" }>["reason"];

/** Decides when to compact, and does it: plan, summary, entry, new context. */
export class AutoCompaction {
	#running: AbortController | null = null;
	/** Aborts the wait for handlers that are told of a compaction. */
	#telling: AbortController | null = null;
	/** Log length at which compaction last failed; not tried again before the log has grown. */
	#failedAt = -1;

	constructor(private readonly deps: AutoCompactionDeps) {}

	get enabled(): boolean {
		return this.deps.parts.settings.current.compaction.enabled;
	}

	/** For this run: nothing is saved. */
	set enabled(enabled: boolean) {
		this.deps.parts.settings.override("compaction.enabled", enabled);
	}

	get isRunning(): boolean {
		return this.#running !== null;
	}

	abort(): void {
		this.#running?.abort();
		this.#telling?.abort();
	}

	/** Compacts when less than `reserveTokens` of the window are left. Failures are told, not thrown. */
	async compactIfNeeded(signal: AbortSignal): Promise<void> {
		const { state, context, parts } = this.deps;
		const window = state.model?.contextWindow ?? 0;
		if (!this.enabled || window === 0 || state.log.length === this.#failedAt) return;
		if (context.tokens() <= window - parts.settings.current.compaction.reserveTokens) return;
		await this.#try("threshold", signal);
	}

	/** Compacts because the model refused the request. @returns true when the context is shorter now */
	async compactAfterOverflow(signal: AbortSignal): Promise<boolean> {
		return this.enabled ? this.#try("overflow", signal) : false;
	}

	/**
	 * Compacts now.
	 * @returns tokens before and after, as estimated
	 * @throws PiError `compaction_failed`
	 */
	async compact(reason: Reason, focus?: string, signal?: AbortSignal): Promise<CompactionTokens> {
		const trial = await this.begin(reason, focus, signal);
		try {
			return await trial.accept((await trial.askHooks()) ?? (await trial.draft(() => {}, trial.signal)));
		} catch (error) {
			trial.end(error);
			throw error;
		}
	}

	/**
	 * Begins a compaction. Until it is accepted or ended nothing else compacts.
	 * @throws PiError `compaction_failed` when there is nothing to compact; `session_busy`, `model_missing`
	 */
	async begin(reason: Reason, focus?: string, signal?: AbortSignal): Promise<CompactionTrial> {
		if (this.#running) throw new PiError("session_busy", "A compaction is already running");
		const { parts, state, context, emit } = this.deps;
		const controller = new AbortController();
		this.#running = controller;
		const linked = linkSignals(controller.signal, signal);
		const end = (result: CompactionEntry | null, error?: unknown) => {
			if (this.#running !== controller) return;
			this.#running = null;
			const aborted = linked.signal.aborted || (result === null && error === undefined);
			linked.unlink();
			const why = error === undefined ? {} : { errorMessage: describeError(error) };
			emit({ type: "auto_compaction_end", result, aborted, ...why });
		};
		let isWritten = false;
		emit({ type: "auto_compaction_start", reason });
		try {
			const model = requireModel(parts, state);
			const before = await context.rebuild(linked.signal);
			const plan = planCompaction(
				before.messages,
				state.log.entries,
				parts.settings.current.compaction.keepRecentTokens,
			);
			if (!plan)
				throw new PiError("compaction_failed", "There is nothing to compact yet", {
					hint: "go on until there is more",
				});
			return createCompactionTrial({
				plan,
				before,
				parts: {
					entries: state.log.entries,
					sessionFile: state.log.path,
					model,
					models: parts.models,
					stream: parts.client.stream,
					hooks: this.deps.hooks(),
					idleTimeoutMs: parts.settings.current.streamIdleTimeoutMs,
					...(focus ? { focus } : {}),
					onNotice: (message) => emit({ type: "notice", level: "warning", message }),
				},
				signal: linked.signal,
				entries: () => state.log.entries,
				tryContext: (entries) => this.deps.tryContext(entries, linked.signal),
				accept: async ({ entry, by }) => {
					if (linked.signal.aborted) throw new PiError("compaction_failed", "Compaction was cancelled");
					// Once written it stays so, also when it is accepted again after something went wrong behind it.
					if (!isWritten) state.append(entry);
					isWritten = true;
					await context.rebuild(linked.signal);
					end(entry);
					await state.log.flush();
					await this.#tellHooks(entry, by.kind === "hook", signal);
					return { tokensBefore: entry.tokensBefore, tokensAfter: tokensOf(context.current) };
				},
				end: (error) => end(null, error),
			});
		} catch (error) {
			end(null, error);
			throw error;
		}
	}

	async #try(reason: Reason, signal: AbortSignal): Promise<boolean> {
		try {
			await this.compact(reason, undefined, signal);
			return true;
		} catch {
			// `auto_compaction_end` has told of it; the run goes on with the context as it is.
			this.#failedAt = this.deps.state.log.length;
			return false;
		}
	}

	async #tellHooks(entry: CompactionEntry, fromHook: boolean, signal: AbortSignal | undefined): Promise<void> {
		const { log } = this.deps.state;
		const telling = new AbortController();
		this.#telling = telling;
		const linked = linkSignals(telling.signal, signal);
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
			linked.signal,
		);
		linked.unlink();
	}
}

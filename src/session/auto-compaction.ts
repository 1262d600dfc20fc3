import { describeError, PiError } from "../errors.js";
import type { HookRunner } from "../hooks/runner.js";
import { linkSignals } from "../util/abort.js";
import { type CompactionOutcome, makeCompaction } from "./compaction.js";
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
	emit(event: SessionEvent): void;
}

type Reason = Extract<SessionEvent, { type: "auto_compaction_start" }>["reason"];

/** Decides when to compact, and does it: plan, summary, entry, new context. */
export class AutoCompaction {
	enabled: boolean;
	#running: AbortController | null = null;
	/** Log length at which compaction last failed; not tried again before the log has grown. */
	#failedAt = -1;

	constructor(private readonly deps: AutoCompactionDeps) {
		this.enabled = deps.parts.settings.compaction.enabled;
	}

	get isRunning(): boolean {
		return this.#running !== null;
	}

	abort(): void {
		this.#running?.abort();
	}

	/** Compacts when less than `reserveTokens` of the window are left. Failures are told, not thrown. */
	async compactIfNeeded(signal: AbortSignal): Promise<void> {
		const { state, context, parts } = this.deps;
		const window = state.model?.contextWindow ?? 0;
		if (!this.enabled || window === 0 || state.log.length === this.#failedAt) return;
		if (context.tokens() <= window - parts.settings.compaction.reserveTokens) return;
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
	async compact(
		reason: Reason,
		focus?: string,
		signal?: AbortSignal,
	): Promise<{ tokensBefore: number; tokensAfter: number }> {
		if (this.#running) throw new PiError("session_busy", "A compaction is already running");
		const { parts, state, context, emit } = this.deps;
		const controller = new AbortController();
		this.#running = controller;
		const linked = linkSignals(controller.signal, signal);
		emit({ type: "auto_compaction_start", reason });
		let made: CompactionOutcome | null = null;
		let errorMessage: string | undefined;
		try {
			const { messages } = await context.rebuild(linked.signal);
			made = await makeCompaction({
				messages,
				entries: state.log.entries,
				sessionFile: state.log.path,
				model: requireModel(parts, state),
				models: parts.models,
				stream: parts.client.stream,
				hooks: this.deps.hooks(),
				keepRecentTokens: parts.settings.compaction.keepRecentTokens,
				idleTimeoutMs: parts.settings.streamIdleTimeoutMs,
				...(focus ? { focus } : {}),
				signal: linked.signal,
				onNotice: (message) => emit({ type: "notice", level: "warning", message }),
			});
			if (!made) throw new PiError("compaction_failed", "A hook cancelled the compaction");
			state.append(made.entry);
			await context.rebuild(linked.signal);
		} catch (error) {
			errorMessage = describeError(error);
			throw error;
		} finally {
			this.#running = null;
			const aborted = linked.signal.aborted;
			linked.unlink();
			const result = errorMessage === undefined ? (made?.entry ?? null) : null;
			emit({ type: "auto_compaction_end", result, aborted, ...(errorMessage ? { errorMessage } : {}) });
		}
		await state.log.flush();
		await this.#tellHooks(made);
		return { tokensBefore: made.entry.tokensBefore, tokensAfter: context.tokens() };
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

	async #tellHooks({ entry, fromHook }: CompactionOutcome): Promise<void> {
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
			new AbortController().signal,
		);
	}
}

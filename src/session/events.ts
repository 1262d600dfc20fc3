import type { AgentEvent } from "../agent/events.js";
import type { CacheLoss } from "../context/cache-loss.js";
import type { BuiltContext } from "../context/context-message.js";
import type { HookError, SourcePosition } from "../errors.js";
import type { BashExecutionMessage, CompactionEntry, SessionEntry } from "../log/entry.js";
import type { JobStatus } from "../tools/job-status.js";
import { callListeners } from "../util/call-listeners.js";
import type { Activity } from "./activity.js";

/** Queued prompts: steering is sent after the current tool calls, follow-ups after the run. */
export interface QueuedPrompts {
	steering: readonly string[];
	followUps: readonly string[];
}

/** The events of a session: those of the agent and its own. */
export type AgentSessionEvent =
	| AgentEvent
	/** The session has another log now: redraw everything. */
	| { type: "session_changed"; reason: "start" | "switch" | "clear" | "branch" }
	/**
	 * Hooks registered or removed something after the start: commands, tools, shortcuts, flags or providers; or MCP servers
	 * changed their tools, prompts or state.
	 */
	| { type: "registrations_changed" }
	/** An entry that is not a message was appended (compaction, custom entries, name, model, …). */
	| { type: "entry_appended"; entryIndex: number; entry: SessionEntry }
	/** The context changed other than by new messages at its end. */
	| { type: "context_changed"; context: BuiltContext }
	/** A request does not start like the previous one: about `tokens` cannot come from the provider's cache. */
	| ({ type: "cache_lost" } & Omit<CacheLoss, "position">)
	/** An operation of the session began, ended or entered another phase. */
	| { type: "activity_changed"; activity: Activity }
	| { type: "queue_changed"; queue: QueuedPrompts }
	/** A run ended before these prompts were sent; they have left the queue. In the order in which they were queued. */
	| { type: "queue_returned"; texts: readonly string[] }
	| { type: "model_changed" }
	| { type: "thinking_level_changed" }
	| { type: "auto_compaction_start"; reason: "threshold" | "overflow" | "manual" }
	| { type: "auto_compaction_end"; result: CompactionEntry | null; aborted: boolean; errorMessage?: string }
	/**
	 * `file`, `line`, `column`: where the hook failed, or registered the handler. `stack`: only with `verbose`. `rule`: the
	 * rule of the context check that an answer breaks. `cause` is not enumerable, so that JSON and RPC lines do not include it.
	 */
	| ({
			type: "hook_error";
			hookPath: string;
			event: string;
			error: string;
			stack?: string;
			rule?: string;
			readonly cause?: HookError;
	  } & Partial<SourcePosition>)
	/** The session has been waiting for a handler for `ms`; `hook_done` follows when the handler returns. */
	| { type: "hook_running"; hookPath: string; event: string; ms: number }
	| { type: "hook_done"; hookPath: string; event: string }
	/** A line for the user: from a hook, a command or the session itself. `waits`: it says what the session waits for. */
	| { type: "notice"; level: "info" | "warning" | "error"; message: string; waits?: true }
	/** A hook command or built-in command started; `command_end` has the same name. */
	| { type: "command_start"; name: string }
	| { type: "command_end"; name: string }
	/**
	 * A shell command of the user (`!`) started, without effect on the context for `!!`; `output` is everything so far,
	 * `styled` the same with colors and styles if it has any. `bash_done`: it has ended; `bash_end`: it is an entry, which is written
	 * after the end of a run.
	 */
	| { type: "bash_start"; command: string; excludeFromContext?: boolean }
	| { type: "bash_update"; output: string; styled?: string }
	| { type: "bash_done"; message: BashExecutionMessage }
	| { type: "bash_end"; entryIndex: number }
	/** A background command started, or ended. */
	| { type: "job_start"; job: JobStatus }
	| { type: "job_end"; job: JobStatus };

/** Delivers the events of a session to all subscribers, in order. A subscriber that throws affects nothing else. */
export class SessionEvents {
	readonly #listeners = new Set<(event: AgentSessionEvent) => void>();

	/** @returns a function that unsubscribes the listener */
	subscribe(listener: (event: AgentSessionEvent) => void): () => void {
		this.#listeners.add(listener);
		return () => this.#listeners.delete(listener);
	}

	emit(event: AgentSessionEvent): void {
		callListeners(this.#listeners, event);
	}

	close(): void {
		this.#listeners.clear();
	}
}

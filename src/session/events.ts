import type { AgentEvent } from "../agent/events.js";
import type { CacheLoss } from "../context/cache-loss.js";
import type { BuiltContext } from "../context/context-message.js";
import type { HookError } from "../errors.js";
import type { CompactionEntry, SessionEntry } from "../log/entry.js";
import type { Activity } from "./activity.js";

/** Prompts that wait for their moment: steering after the current tool calls, follow-ups after the run. */
export interface QueuedPrompts {
	steering: readonly string[];
	followUps: readonly string[];
}

/** What a mode hears of a session: the agent's events and the session's own. */
export type AgentSessionEvent =
	| AgentEvent
	/** The session object now holds other entries: load, switch, clear, branch, reload. Draw everything anew. */
	| { type: "session_changed"; reason: "start" | "switch" | "clear" | "branch" }
	/** An entry that is not a message was appended (compaction, custom entries, name, model, …). */
	| { type: "entry_appended"; entryIndex: number; entry: SessionEntry }
	/** The context was computed: what the model now sees and what is hidden. */
	| { type: "context_changed"; context: BuiltContext }
	/** A request does not begin as the one before it: about so many tokens cannot come from the provider's cache. */
	| { type: "cache_lost"; by: CacheLoss["by"]; tokens: number }
	/** What the session is doing has changed: an operation began, ended or went on to its next phase. */
	| { type: "activity_changed"; activity: Activity }
	| { type: "queue_changed"; queue: QueuedPrompts }
	/** A run ended before these prompts were sent: they are no longer queued, in the order in which they were said. */
	| { type: "queue_returned"; texts: readonly string[] }
	| { type: "model_changed" }
	| { type: "thinking_level_changed" }
	| { type: "auto_compaction_start"; reason: "threshold" | "overflow" | "manual" }
	| { type: "auto_compaction_end"; result: CompactionEntry | null; aborted: boolean; errorMessage?: string }
	/** `cause` is not enumerable, as that of an error: it is not part of the JSON and RPC line. */
	| { type: "hook_error"; hookPath: string; event: string; error: string; readonly cause?: HookError }
	/** A handler keeps the session waiting, for `ms` so far; when it is done, so is the second one told. */
	| { type: "hook_running"; hookPath: string; event: string; ms: number }
	| { type: "hook_done"; hookPath: string; event: string }
	/** A line for the user: from a hook, a command or the session itself. */
	| { type: "notice"; level: "info" | "warning" | "error"; message: string }
	/** A hook command or built-in command runs; ends with the same name. */
	| { type: "command_start"; name: string }
	| { type: "command_end"; name: string }
	/** A shell command of the user (`!`): output so far, then done (its message then ends as an entry). */
	| { type: "bash_start"; command: string }
	| { type: "bash_update"; output: string }
	| { type: "bash_end"; entryIndex: number };

/** Delivers the events of a session, in order, to everyone who subscribed. */
export class SessionEvents {
	readonly #listeners = new Set<(event: AgentSessionEvent) => void>();

	/** @returns a function that unsubscribes the listener */
	subscribe(listener: (event: AgentSessionEvent) => void): () => void {
		this.#listeners.add(listener);
		return () => this.#listeners.delete(listener);
	}

	emit(event: AgentSessionEvent): void {
		for (const listener of this.#listeners) listener(event);
	}

	/** Forgets all listeners. */
	close(): void {
		this.#listeners.clear();
	}
}

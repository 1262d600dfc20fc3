import type { AppMessage } from "../log/entry.js";

/** A message of the context and the entry it comes from; null when no single entry holds it. What pi hands out is frozen. */
export interface ContextMessage {
	message: AppMessage;
	entryIndex: number | null;
}

/** Who put a message into the context. */
export type Origin =
	| { kind: "entry" }
	| { kind: "compaction"; entryIndex: number }
	| { kind: "system_item" }
	/** A hook made it for a request that was frozen since; which one is not known. */
	| { kind: "freeze" }
	| { kind: "hook"; hook: string };

/** A context message with its origin. */
export interface TracedMessage extends ContextMessage {
	origin: Origin;
}

/** An entry that the model does not see, and what hid it. */
export interface HiddenEntry {
	entryIndex: number;
	by: { kind: "compaction" | "freeze"; entryIndex: number } | { kind: "hook"; hook: string };
}

/** What one hook did to messages that it was given. */
export interface HookEdits {
	hook: string;
	entries: ReadonlySet<number>;
}

/** A hook's answer that was dropped because no model would accept it, or a notice about the log. */
export interface ContextProblem {
	/** Path of the hook; null when the log itself is at fault. */
	hook: string | null;
	rule: string;
	/** Position in the list that was refused, or the entry index when `hook` is null. */
	position: number;
}

/** The context: what the model sees next, and why. A pure function of entries and hooks. */
export interface BuiltContext {
	readonly messages: readonly TracedMessage[];
	readonly hidden: readonly HiddenEntry[];
	/** Entries whose messages each hook took out or replaced, in the order of the hooks. */
	readonly edits: readonly HookEdits[];
	readonly problems: readonly ContextProblem[];
	/** Hooks made something else of it than pi alone does. */
	readonly isChanged: boolean;
}

import type { AppMessage, OutputSchemaEntry, RequestFacts } from "../log/entry.js";
import type { Preamble } from "./preamble.js";
import type { ProviderFields } from "./provider-fields.js";

/** An entry that asks for answers of a form. */
export type ActiveOutputSchema = OutputSchemaEntry & { schema: NonNullable<OutputSchemaEntry["schema"]> };

/** A message of the context and the index of its entry; null when it is not from a single entry. Frozen when pi creates it. */
export interface ContextMessage {
	message: AppMessage;
	entryIndex: number | null;
}

/** Who put a message into the context. */
export type Origin =
	| { kind: "entry" }
	| { kind: "compaction"; entryIndex: number }
	/** The message of an entry whose output the compaction at `entryIndex` shortened. */
	| { kind: "shortened"; entryIndex: number }
	| { kind: "system_item" }
	/** A hook created it for a request that was frozen later; the hook is unknown. */
	| { kind: "freeze" }
	| { kind: "hook"; hook: string };

/** A context message with its origin. */
export interface TracedMessage extends ContextMessage {
	origin: Origin;
	/** Number of its images that are replaced with text; absent for none. */
	omittedImages?: number;
}

/** An entry hidden from the model, and what hides it. */
export interface HiddenEntry {
	entryIndex: number;
	by: { kind: "compaction" | "freeze"; entryIndex: number } | { kind: "hook"; hook: string };
}

/** Entries whose messages a hook removed or replaced. */
export interface HookEdits {
	hook: string;
	entries: ReadonlySet<number>;
}

/** A dropped answer of a hook that no model would accept, or a fault in the log. */
export interface ContextProblem {
	/** Path of the hook; null when the log itself is at fault. */
	hook: string | null;
	rule: string;
	/** Position in the dropped list, or the entry index when `hook` is null. */
	position: number;
	/** The tool call id or role that breaks the rule. `describeProblem` makes a sentence of it. */
	detail?: string;
}

/**
 * The context: everything that the next request sends, with its origins. A pure function of the entries, the hooks, and the
 * system prompt and tools of pi.
 */
export interface BuiltContext {
	/** Number of entries from which it was computed. */
	readonly length: number;
	readonly messages: readonly TracedMessage[];
	/** The system prompt and the tools. */
	readonly preamble: Preamble;
	readonly hidden: readonly HiddenEntry[];
	/** One item for each hook, in the order of the hooks. */
	readonly edits: readonly HookEdits[];
	readonly problems: readonly ContextProblem[];
	/** The facts of the request that handlers have read; null if none did. */
	readonly facts: RequestFacts | null;
	/** What hooks ask the provider to do itself; null for nothing. */
	readonly provider: ProviderFields | null;
	/** The schema that the answer must match; null for none. */
	readonly outputSchema: ActiveOutputSchema | null;
	/** True when hooks changed the messages that pi alone would send. */
	readonly isChanged: boolean;
}

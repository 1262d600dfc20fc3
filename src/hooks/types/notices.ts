import type { Api, AssistantMessage, ImageContent, Model, TextContent } from "@mariozechner/pi-ai";
import type { MessageChange } from "../../agent/message-changes.js";
import type { ThinkingLevel } from "../../log/entry.js";

/** The session uses another model. Also runs after a switch to a session that used another one. */
export interface ModelChangedEvent {
	type: "model_changed";
	readonly model: Model<Api> | null;
	readonly previousModel: Model<Api> | null;
}

/** The session uses another thinking level. */
export interface ThinkingLevelChangedEvent {
	type: "thinking_level_changed";
	readonly level: ThinkingLevel;
	readonly previousLevel: ThinkingLevel;
}

/** The session has a name, or another one. */
export interface SessionNamedEvent {
	type: "session_named";
	readonly name: string;
}

/** A run is over and no prompt is queued. pi waits for the handlers before it starts the next run. */
export interface AgentSettledEvent {
	type: "agent_settled";
}

/**
 * The session is idle, and its provider is about to forget the last request. Until then a request that begins like it costs
 * little. Once after each run, about 30 s before the end of the lifetime; 5 minutes are assumed if it is unknown.
 */
export interface CacheExpiringEvent {
	type: "cache_expiring";
	/** Tokens of the last request that the provider still has. */
	readonly warmTokens: number;
	/** Time until it forgets them, in ms. */
	readonly expiresInMs: number;
}

/** A provider has answered a request with headers; the reply follows. Runs for each attempt, failed ones included. */
export interface ResponseEvent {
	type: "response";
	/** HTTP status. */
	readonly status: number;
	/** By lower-case name, without cookies and credentials. */
	readonly headers: Readonly<Record<string, string>>;
}

/** Something that the model added to its reply: a block starts, receives a `delta`, or is complete. `start`: the reply begins. */
export type ReplyChange = Exclude<MessageChange, { type: "done" | "error" }>;

/**
 * The model has written more of its reply. At most about ten times per second; a reply that broke off and is sent again
 * starts again. Nothing waits for the handlers until the reply is complete.
 */
export interface MessageUpdateEvent {
	type: "message_update";
	/** The reply so far, a frozen copy. It may contain more than the changes so far. */
	readonly message: AssistantMessage;
	/** All changes since the previous call, in order; deltas of the same block are joined. */
	readonly changes: readonly ReplyChange[];
}

/** A running tool has a partial result. At most about ten times per second for each call; the result waits for the handlers. */
export interface ToolUpdateEvent {
	type: "tool_update";
	readonly toolName: string;
	readonly toolCallId: string;
	/** The arguments, a frozen copy. */
	readonly input: Readonly<Record<string, unknown>>;
	/** The partial result so far: it replaces that of the previous call. */
	readonly content: readonly (TextContent | ImageContent)[];
	/** Depends on the tool. */
	readonly details: unknown;
}

import type { AssistantMessage, AssistantMessageEvent, JsonValue, ToolResultMessage } from "@mariozechner/pi-ai";
import type { ChangedInput, LoggedMessage, ToolCaller } from "../log/entry.js";
import type { ToolResult } from "../tools/tool.js";

/**
 * The events of a run, in order. A run is one prompt and everything that follows from it; a turn is one model response
 * plus the tool calls it asks for. JSON and RPC mode use the same names and fields.
 */
export type AgentEvent =
	| { type: "agent_start" }
	/** `structured`: the answer that matches the schema that the prompt asked for; absent without one. */
	/** `isAborted`: the run was stopped before the model had finished. */
	| { type: "agent_end"; messages: LoggedMessage[]; structured?: JsonValue; isAborted?: true }
	| { type: "turn_start"; turnIndex: number; timestamp: number }
	| { type: "turn_end"; turnIndex: number; message: AssistantMessage; toolResults: ToolResultMessage[] }
	/** A message begins. Assistant messages then receive updates; all others end at once. */
	| { type: "message_start"; message: LoggedMessage }
	/** `message` changes while the model streams: copy it to keep it. */
	| { type: "message_update"; message: AssistantMessage; assistantMessageEvent: AssistantMessageEvent }
	/**
	 * The message is complete and in the log, at `entryIndex`. `isRetried`: it is the part of a reply that broke off, and its
	 * request is sent again after `auto_retry_start`.
	 */
	| { type: "message_end"; message: LoggedMessage; entryIndex: number; isRetried?: true }
	/** A tool is called. This and the next three have a `caller` unless the model calls it. */
	| {
			type: "tool_execution_start";
			toolCallId: string;
			toolName: string;
			args: Record<string, unknown>;
			caller?: ToolCaller;
	  }
	| {
			type: "tool_execution_update";
			toolCallId: string;
			toolName: string;
			args: Record<string, unknown>;
			partialResult: ToolResult;
			caller?: ToolCaller;
	  }
	/** Hooks changed the arguments of a call that is about to run; `args` are the ones that the tool receives. */
	| {
			type: "tool_input_changed";
			toolCallId: string;
			toolName: string;
			args: Record<string, unknown>;
			changed: ChangedInput;
			caller?: ToolCaller;
	  }
	/** `blockedBy`: name of the hook that blocked the call; absent if none did. */
	| {
			type: "tool_execution_end";
			toolCallId: string;
			toolName: string;
			result: ToolResult;
			isError: boolean;
			blockedBy?: string;
			caller?: ToolCaller;
	  }
	/** A request failed and is sent again after `delayMs`. Without a part of the reply, no `message_end` precedes it. */
	| { type: "auto_retry_start"; attempt: number; maxAttempts: number; delayMs: number; errorMessage: string }
	| { type: "auto_retry_end"; success: boolean; attempt: number; finalError?: string };

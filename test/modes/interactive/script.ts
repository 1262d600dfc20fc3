import type {
	AssistantMessage,
	AssistantMessageEvent,
	JsonValue,
	StopReason,
	ToolCall,
	ToolResultMessage,
} from "@mariozechner/pi-ai";
import type { LoggedMessage, MessageEntry, SessionEntry } from "../../../src/log/entry.js";
import type { AgentSessionEvent } from "../../../src/session/events.js";
import type { ToolResult } from "../../../src/tools/tool.js";

/** A block of a scripted reply. */
export type Part = { text: string } | { thinking: string } | { id: string; tool: string; args: ToolCall["arguments"] };

const TIMESTAMP = "2026-01-02T03:04:05.000Z";

/** A complete reply of the model. */
export function reply(parts: Part[], stopReason: StopReason = "stop", errorMessage?: string): AssistantMessage {
	const cost = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 };
	return {
		role: "assistant",
		content: parts.map((part) => {
			if ("text" in part) return { type: "text", text: part.text };
			if ("thinking" in part) return { type: "thinking", thinking: part.thinking };
			return { type: "toolCall", id: part.id, name: part.tool, arguments: part.args };
		}),
		api: "test",
		provider: "test",
		model: "scripted",
		usage: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, totalTokens: 0, cost },
		stopReason,
		errorMessage,
		timestamp: 0,
	};
}

/** A tool result message. */
export function toolResult(
	id: string,
	tool: string,
	text: string,
	extra: Partial<ToolResultMessage> = {},
): ToolResultMessage {
	return {
		role: "toolResult",
		toolCallId: id,
		toolName: tool,
		content: [{ type: "text", text }],
		isError: false,
		timestamp: 0,
		...extra,
	};
}

/** Message entries of a session. */
export function messageEntry(message: LoggedMessage): MessageEntry {
	return { type: "message", timestamp: TIMESTAMP, message: Object.freeze(message) };
}

/** A session's events as the session would send them; indices count up from 1. */
export class Script {
	#next: number;
	constructor(next = 1) {
		this.#next = next;
	}

	user(text: string): AgentSessionEvent[] {
		const message = { role: "user" as const, content: text, timestamp: 0 };
		return [
			{ type: "message_start", message },
			{ type: "message_end", message, entryIndex: this.#next++ },
		];
	}

	/** A reply that streams in pieces of `chunk` characters. */
	reply(parts: Part[], options: { chunk?: number; stop?: StopReason; error?: string } = {}): AgentSessionEvent[] {
		const message = reply(parts, options.stop, options.error);
		return [...this.replyStart(message), ...this.updates(message, options.chunk), this.replyEnd(message)];
	}

	replyStart(message: AssistantMessage): AgentSessionEvent[] {
		return [{ type: "message_start", message: { ...message, content: [] } }];
	}

	replyEnd(message: AssistantMessage, isRetried = false): AgentSessionEvent {
		return { type: "message_end", message, entryIndex: this.#next++, ...(isRetried && { isRetried }) };
	}

	updates(message: AssistantMessage, chunk = 7): AgentSessionEvent[] {
		const events: AssistantMessageEvent[] = [];
		for (const [contentIndex, block] of message.content.entries()) {
			const partial = message;
			if (block.type === "toolCall") {
				events.push({ type: "toolcall_start", contentIndex, partial });
				events.push({ type: "toolcall_end", contentIndex, toolCall: block, partial });
				continue;
			}
			const content = block.type === "text" ? block.text : block.thinking;
			events.push({ type: `${block.type}_start`, contentIndex, partial });
			for (let at = 0; at < content.length; at += chunk) {
				events.push({ type: `${block.type}_delta`, contentIndex, delta: content.slice(at, at + chunk), partial });
			}
			events.push({ type: `${block.type}_end`, contentIndex, content, partial });
		}
		return events.map((assistantMessageEvent) => ({ type: "message_update", message, assistantMessageEvent }));
	}

	toolStart(id: string, tool: string, args: Record<string, unknown>): AgentSessionEvent {
		return { type: "tool_execution_start", toolCallId: id, toolName: tool, args };
	}

	toolOutput(id: string, tool: string, args: Record<string, unknown>, text: string): AgentSessionEvent {
		const partialResult: ToolResult = { content: [{ type: "text", text }] };
		return { type: "tool_execution_update", toolCallId: id, toolName: tool, args, partialResult };
	}

	toolEnd(id: string, tool: string, text: string, details?: JsonValue, isError = false): AgentSessionEvent[] {
		const result: ToolResult = { content: [{ type: "text", text }], details };
		const message = toolResult(id, tool, text, { details, isError });
		return [
			{ type: "tool_execution_end", toolCallId: id, toolName: tool, result, isError },
			{ type: "message_start", message },
			{ type: "message_end", message, entryIndex: this.#next++ },
		];
	}

	/** An entry that is not a message. */
	entry(entry: SessionEntry): AgentSessionEvent {
		return { type: "entry_appended", entryIndex: this.#next++, entry };
	}

	/** A tool call of an earlier reply, with its result. */
	tool(
		id: string,
		tool: string,
		args: Record<string, unknown>,
		text: string,
		details?: unknown,
		isError = false,
	): AgentSessionEvent[] {
		return [this.toolStart(id, tool, args), ...this.toolEnd(id, tool, text, details as JsonValue, isError)];
	}
}

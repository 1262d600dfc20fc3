import { isDeepStrictEqual } from "node:util";
import type { AppMessage, SessionToolResult } from "../log/entry.js";
import type { AgentSessionEvent } from "../session/events.js";
import type { ToolResult } from "../tools/tool.js";
import type { JsonEvent } from "./event-schema.js";
import { textDelta } from "./text-delta.js";

type JsonMessage = Extract<JsonEvent, { type: "message_start" }>["message"];
type ToolResultReference = Extract<JsonMessage, { role: "toolResult" }>;

/**
 * Turns the events of a session into those of JSON mode: updates have only what is new, and each result of a tool is
 * printed once. Later events refer to it by `toolCallId`.
 */
export class JsonEvents {
	/** The results of the run that were printed, by call. */
	readonly #results = new Map<string, Pick<ToolResult, "content" | "details">>();
	/** The text of the running calls and of the user's shell command as last printed. */
	readonly #texts = new Map<string, string>();

	/** @returns null for an event without anything new */
	convert(event: AgentSessionEvent): JsonEvent | null {
		switch (event.type) {
			case "agent_start":
				this.#results.clear();
				return event;
			case "agent_end":
				return { ...event, messages: event.messages.map((message) => this.#message(message)) };
			case "turn_end":
				return { ...event, toolResults: event.toolResults.map((result) => this.#toolResult(result)) };
			case "message_start":
			case "message_end":
				return { ...event, message: this.#message(event.message) };
			case "message_update": {
				// The deltas contain the partial messages in a fraction of the size.
				const { partial: _, ...assistantMessageEvent } = { partial: undefined, ...event.assistantMessageEvent };
				return { type: event.type, assistantMessageEvent };
			}
			case "tool_execution_update": {
				const { type, toolCallId, partialResult } = event;
				const text = partialResult.content.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("\n");
				const delta = this.#delta(`tool ${toolCallId}`, text);
				return delta && { type, toolCallId, ...delta };
			}
			case "tool_execution_end":
				this.#texts.delete(`tool ${event.toolCallId}`);
				this.#results.set(event.toolCallId, event.result);
				return event;
			case "bash_update": {
				const delta = this.#delta(SHELL, event.output);
				return delta && { type: event.type, ...delta };
			}
			case "bash_end":
				this.#texts.delete(SHELL);
				return event;
			case "context_changed": {
				const { messages, hidden, problems } = event.context;
				return { type: event.type, messages: messages.length, hidden: hidden.length, problems };
			}
			default:
				return event;
		}
	}

	#delta(key: string, text: string): ReturnType<typeof textDelta> {
		const before = this.#texts.get(key) ?? "";
		this.#texts.set(key, text);
		return textDelta(before, text);
	}

	#message(message: AppMessage): JsonMessage {
		return message.role === "toolResult" ? this.#toolResult(message) : message;
	}

	/** The result without its content, if that has been printed. */
	#toolResult(message: SessionToolResult): ToolResultReference {
		const { content, details, ...reference } = message;
		const printed = this.#results.get(message.toolCallId);
		if (printed && isDeepStrictEqual([printed.content, printed.details], [content, details])) return reference;
		this.#results.set(message.toolCallId, message);
		return message;
	}
}

const SHELL = "shell";

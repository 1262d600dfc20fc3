import type {
	AssistantMessage,
	ImageContent,
	TextContent,
	ToolCall,
	ToolResultMessage,
	UserMessage,
} from "@mariozechner/pi-ai";
import type {
	AppMessage,
	BashExecutionMessage,
	CompactionEntry,
	CustomEntry,
	MessageEntry,
	SessionEntry,
	SessionHeader,
} from "../../src/log/entry.js";

const TIMESTAMP = "2026-01-01T00:00:00.000Z";

/** A session header. */
export function header(): SessionHeader {
	return { type: "session", version: 1, id: "test", timestamp: TIMESTAMP, cwd: "/project" };
}

/** An entry with a user message. */
export function user(content: UserMessage["content"]): MessageEntry {
	return { type: "message", timestamp: TIMESTAMP, message: { role: "user", content, timestamp: 1 } };
}

/** An assistant message with text and tool calls. */
export function assistantMessage(
	text: string,
	calls: { id: string; name?: string; arguments?: ToolCall["arguments"] }[] = [],
	stopReason: AssistantMessage["stopReason"] = calls.length > 0 ? "toolUse" : "stop",
): AssistantMessage {
	const toolCalls: ToolCall[] = calls.map(({ id, name = "read", arguments: args = {} }) => ({
		type: "toolCall",
		id,
		name,
		arguments: args,
	}));
	return {
		role: "assistant",
		content: [...(text ? [{ type: "text" as const, text }] : []), ...toolCalls],
		api: "openai-completions",
		provider: "test",
		model: "test-model",
		usage: {
			input: 0,
			output: 0,
			cacheRead: 0,
			cacheWrite: 0,
			totalTokens: 0,
			cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 },
		},
		stopReason,
		timestamp: 2,
	};
}

/** An entry with an assistant message. */
export function assistant(...args: Parameters<typeof assistantMessage>): MessageEntry {
	return { type: "message", timestamp: TIMESTAMP, message: assistantMessage(...args) };
}

/** An entry with a tool result. */
export function result(toolCallId: string, text = "ok", toolName = "read"): MessageEntry {
	const message: ToolResultMessage = {
		role: "toolResult",
		toolCallId,
		toolName,
		content: [{ type: "text", text }],
		isError: false,
		timestamp: 3,
	};
	return { type: "message", timestamp: TIMESTAMP, message };
}

export function compaction(firstKeptEntryIndex: number, summary: string): CompactionEntry {
	return { type: "compaction", timestamp: TIMESTAMP, summary, firstKeptEntryIndex, tokensBefore: 100 };
}

export function custom(type: string, fields: Record<string, unknown> = {}): CustomEntry {
	return { timestamp: TIMESTAMP, ...fields, type };
}

/** A list of entries that starts with a header. */
export function session(...entries: SessionEntry[]): SessionEntry[] {
	return [header(), ...entries];
}

/** The message of a shell command that printed `a`. */
export const bashExecution: BashExecutionMessage = Object.freeze({
	role: "bashExecution",
	command: "ls",
	output: "a",
	exitCode: 0,
	cancelled: false,
	truncated: false,
	timestamp: 0,
});

/** A text block. */
export function text(value: string): TextContent {
	return { type: "text", text: value };
}

/** The result of the call `c`, with further content. */
export function output(value: string, ...more: (TextContent | ImageContent)[]): AppMessage {
	return { ...result("c", value).message, content: [...(value ? [text(value)] : []), ...more] } as AppMessage;
}

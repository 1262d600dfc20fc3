import type { Context, Message, ToolCall } from "@mariozechner/pi-ai";

/** The next reply of the scripted model. */
export interface ScriptedReply {
	thinking?: string;
	text?: string;
	toolCalls?: readonly ScriptedCall[];
}

export interface ScriptedCall {
	name: string;
	arguments: Record<string, unknown>;
}

/** A finished tool call with its result. */
export interface FinishedCall {
	name: string;
	arguments: ToolCall["arguments"];
	/** Text of the result. */
	output: string;
	failed: boolean;
}

/** The text of a message, blocks joined by newlines. */
export function textOf(message: Message): string {
	if (typeof message.content === "string") return message.content;
	return message.content.map((block) => (block.type === "text" ? block.text : "")).join("\n");
}

/** The last prompt, with its position; an empty text at 0 when none exists. */
export function lastPrompt(context: Context): { text: string; position: number } {
	return prompts(context).at(-1) ?? { text: "", position: 0 };
}

/** The prompts of the user, oldest first. Summaries of earlier messages do not count. */
export function prompts(context: Context): { text: string; position: number }[] {
	return context.messages.flatMap((message, position) => {
		const text = textOf(message).trim();
		return message.role === "user" && text !== "" && !isSummary(text) ? [{ text, position }] : [];
	});
}

function isSummary(text: string): boolean {
	return text.includes("<summary>") || /^\[[^\]]*(summary|completed)[^\]]*\]/i.test(text);
}

/** Finished tool calls after a position, in the order of their calls. */
export function finishedCallsAfter(context: Context, position: number): FinishedCall[] {
	const later = context.messages.slice(position + 1);
	const results = new Map(
		later.flatMap((message) => (message.role === "toolResult" ? [[message.toolCallId, message] as const] : [])),
	);
	return later.flatMap((message) => {
		if (message.role !== "assistant") return [];
		return message.content.flatMap((block) => {
			const result = block.type === "toolCall" ? results.get(block.id) : undefined;
			if (block.type !== "toolCall" || !result) return [];
			return [{ name: block.name, arguments: block.arguments, output: textOf(result), failed: result.isError }];
		});
	});
}

/** The complete conversation as one text, including arguments of tool calls. */
export function conversationText(context: Context): string {
	return context.messages
		.map((message) =>
			message.role === "assistant"
				? message.content
						.map((block) => (block.type === "toolCall" ? JSON.stringify(block.arguments) : ""))
						.concat(textOf(message))
						.join("\n")
				: textOf(message),
		)
		.join("\n");
}

import type { Context, Message, ToolCall } from "@mariozechner/pi-ai";

/** What the scripted model says next. */
export interface ScriptedReply {
	thinking?: string;
	text?: string;
	toolCalls?: readonly ScriptedCall[];
}

export interface ScriptedCall {
	name: string;
	arguments: Record<string, unknown>;
}

/** A tool call and what came of it. */
export interface CallOutcome {
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

/** The last thing a person said, with its position; summaries that stand in for earlier messages do not count. */
export function lastUserText(context: Context): { text: string; position: number } {
	return userTexts(context).at(-1) ?? { text: "", position: 0 };
}

/** What a person said, oldest first. */
export function userTexts(context: Context): { text: string; position: number }[] {
	return context.messages.flatMap((message, position) => {
		const text = textOf(message).trim();
		return message.role === "user" && text !== "" && !isStandIn(text) ? [{ text, position }] : [];
	});
}

function isStandIn(text: string): boolean {
	return text.includes("<summary>") || /^\[[^\]]*(summary|completed)[^\]]*\]/i.test(text);
}

/** Finished tool calls after a position, in the order of their calls. */
export function outcomesAfter(context: Context, position: number): CallOutcome[] {
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

/** Everything in the conversation as one text, arguments of tool calls included. */
export function wholeText(context: Context): string {
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

import { type AppMessage, messageText } from "../log/entry.js";
import { bashExecutionText } from "./bash-execution-text.js";

/** Options of `serializeConversation`. */
export interface SerializeOptions {
	/** Maximum characters of each tool result. Default 2 000. */
	maxResultChars?: number;
}

/**
 * Converts a conversation to plain text, which can be sent to a model as one user message despite its tool calls. Omits
 * thinking and shortens long tool results.
 */
export function serializeConversation(messages: readonly AppMessage[], options: SerializeOptions = {}): string {
	return serializeMessages(messages, options).join("\n\n");
}

/** As `serializeConversation`: the text of each message that has one. */
export function serializeMessages(messages: readonly AppMessage[], options: SerializeOptions = {}): string[] {
	const max = options.maxResultChars ?? 2000;
	return messages.map((message) => serializeMessage(message, max)).filter((text) => text.length > 0);
}

function serializeMessage(message: AppMessage, maxResultChars: number): string {
	switch (message.role) {
		case "bashExecution":
			return message.excludeFromContext ? "" : `[User]\n${cut(bashExecutionText(message), maxResultChars)}`;
		case "user":
			return `[User]\n${messageText(message)}${imageNote(message.content)}`;
		case "toolResult": {
			const label = message.isError ? "Failed" : "Result";
			return `[${label} of ${message.toolName}]\n${cut(messageText(message), maxResultChars)}${imageNote(message.content)}`;
		}
		case "system":
			// Instructions for now, and no part of what happened.
			return "";
		default: {
			const parts = message.content.flatMap((block) => {
				if (block.type === "text") return block.text.trim() ? [block.text] : [];
				return block.type === "toolCall" ? [`(calls ${block.name} ${cut(JSON.stringify(block.arguments), 1000)})`] : [];
			});
			return parts.length > 0 ? `[Assistant]\n${parts.join("\n")}` : "";
		}
	}
}

function imageNote(content: string | readonly { type: string }[]): string {
	if (typeof content === "string") return "";
	const images = content.filter((block) => block.type === "image").length;
	return images === 0 ? "" : `\n(${images === 1 ? "an image" : `${images} images`})`;
}

function cut(text: string, max: number): string {
	if (text.length <= max) return text;
	const half = Math.floor(max / 2);
	const omitted = text.length - 2 * half;
	return `${text.slice(0, half).toWellFormed()}\n… ${omitted} characters omitted …\n${text.slice(-half).toWellFormed()}`;
}

import type { AppMessage } from "../log/entry.js";
import { bashExecutionText } from "./convert.js";

/** Average characters per token of English text or code. */
const CHARS_PER_TOKEN = 4;
/** Tokens that providers count for an image of common size. */
const IMAGE_TOKENS = 1200;
/** Tokens for the role and separators of a message. */
const MESSAGE_OVERHEAD = 4;

const estimates = new WeakMap<AppMessage, number>();

/** Estimated tokens of a message: characters / 4, with a flat rate for images. Off by up to 30 %. */
export function estimateTokens(message: AppMessage): number {
	const known = Object.isFrozen(message) ? estimates.get(message) : undefined;
	if (known !== undefined) return known;
	const tokens = Math.ceil(characters(message) / CHARS_PER_TOKEN) + MESSAGE_OVERHEAD;
	if (Object.isFrozen(message)) estimates.set(message, tokens);
	return tokens;
}

/** The sum of `estimateTokens`. */
export function estimateAll(messages: Iterable<AppMessage>): number {
	let tokens = 0;
	for (const message of messages) tokens += estimateTokens(message);
	return tokens;
}

/** Estimated tokens of the system prompt and the tool definitions, by the same measure. */
export function estimatePreamble(systemPrompt: string, tools: readonly unknown[]): number {
	return Math.ceil((systemPrompt.length + (tools.length > 0 ? JSON.stringify(tools).length : 0)) / CHARS_PER_TOKEN);
}

function characters(message: AppMessage): number {
	if (message.role === "bashExecution") {
		return message.excludeFromContext ? 0 : bashExecutionText(message).length;
	}
	if (typeof message.content === "string") return message.content.length;
	let sum = 0;
	for (const block of message.content) {
		if (block.type === "text") sum += block.text.length;
		else if (block.type === "thinking") sum += block.thinking.length;
		else if (block.type === "image") sum += IMAGE_TOKENS * CHARS_PER_TOKEN;
		else sum += block.name.length + JSON.stringify(block.arguments).length;
	}
	return sum;
}

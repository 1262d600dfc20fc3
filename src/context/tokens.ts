import type { AppMessage } from "../log/entry.js";
import { bashExecutionText } from "./bash-execution-text.js";

/** Average UTF-8 bytes per token: right for English text and code, and close for scripts that take three bytes each. */
const BYTES_PER_TOKEN = 4;
/** Tokens that providers count for an image of common size. */
const IMAGE_TOKENS = 1200;
/** Tokens for the role and separators of a message. */
const MESSAGE_OVERHEAD = 4;

const estimates = new WeakMap<AppMessage, number>();

/** Estimated tokens of a message: UTF-8 bytes / 4, with a flat rate for images. Off by up to 30 %. */
export function estimateTokens(message: AppMessage): number {
	const known = Object.isFrozen(message) ? estimates.get(message) : undefined;
	if (known !== undefined) return known;
	const tokens = Math.ceil(bytes(message) / BYTES_PER_TOKEN) + MESSAGE_OVERHEAD;
	if (Object.isFrozen(message)) estimates.set(message, tokens);
	return tokens;
}

/** The sum of `estimateTokens`. */
export function estimateAll(messages: Iterable<AppMessage>): number {
	let tokens = 0;
	for (const message of messages) tokens += estimateTokens(message);
	return tokens;
}

/** Estimated tokens of a text, by the same measure. */
export function estimateText(text: string): number {
	return Math.ceil(Buffer.byteLength(text) / BYTES_PER_TOKEN);
}

function bytes(message: AppMessage): number {
	if (message.role === "bashExecution") {
		return message.excludeFromContext ? 0 : Buffer.byteLength(bashExecutionText(message));
	}
	if (message.role === "system") return Buffer.byteLength(message.content + JSON.stringify(message.toolsAdded ?? []));
	if (typeof message.content === "string") return Buffer.byteLength(message.content);
	let sum = 0;
	for (const block of message.content) {
		if (block.type === "text") sum += Buffer.byteLength(block.text);
		else if (block.type === "thinking") sum += Buffer.byteLength(block.thinking);
		else if (block.type === "image") sum += IMAGE_TOKENS * BYTES_PER_TOKEN;
		else sum += block.name.length + Buffer.byteLength(JSON.stringify(block.arguments));
	}
	return sum;
}

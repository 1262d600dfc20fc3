import type { ImageContent, TextContent } from "@mariozechner/pi-ai";
import { isRecord } from "../log/read-message.js";
import type { CommandResult } from "./types.js";

// Hooks and tools run without type checks, so pi checks each answer before it reads a field.

/** True for an answer that stops a tool call, a request or a session change. */
export function isStop(answer: unknown): boolean {
	return isRecord(answer) && (answer.block === true || answer.cancel === true || answer.action === "stop");
}

/** The reason in an answer; null if it is missing or empty. */
export function reasonOf(answer: unknown): string | null {
	const reason = isRecord(answer) ? answer.reason : undefined;
	return typeof reason === "string" && reason !== "" ? reason : null;
}

/** True for a list of text and image blocks that a provider accepts. */
export function isContent(value: unknown): value is (TextContent | ImageContent)[] {
	return Array.isArray(value) && value.every(isBlock);
}

function isBlock(block: unknown): boolean {
	if (!isRecord(block)) return false;
	if (block.type === "text") return typeof block.text === "string";
	return block.type === "image" && typeof block.data === "string" && typeof block.mimeType === "string";
}

/** True for a valid, non-empty answer of a command. */
export function isCommandResult(value: unknown): value is CommandResult {
	if (typeof value === "string") return true;
	return isRecord(value) && (typeof value.prompt === "string" || typeof value.status === "string");
}

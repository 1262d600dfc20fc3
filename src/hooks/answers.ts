import type { ImageContent, TextContent } from "@mariozechner/pi-ai";
import type { CommandResult } from "./types.js";

/** Hooks are loaded without type checks: what a handler gives back is looked at before anything is read of it. */
function isObject(value: unknown): value is object {
	return typeof value === "object" && value !== null;
}

/** True for an answer that stops what it was asked about. */
export function isStop(answer: unknown): boolean {
	if (!isObject(answer)) return false;
	return (
		("block" in answer && answer.block === true) ||
		("cancel" in answer && answer.cancel === true) ||
		("action" in answer && answer.action === "stop")
	);
}

/** The reason that an answer gives; null when it gives none. */
export function reasonOf(answer: unknown): string | null {
	const reason = isObject(answer) && "reason" in answer ? answer.reason : undefined;
	return typeof reason === "string" && reason !== "" ? reason : null;
}

/** True for a list of text and image blocks. */
export function isContent(value: unknown): value is (TextContent | ImageContent)[] {
	return (
		Array.isArray(value) &&
		value.every(
			(block: unknown) =>
				isObject(block) &&
				"type" in block &&
				((block.type === "text" && "text" in block && typeof block.text === "string") ||
					(block.type === "image" && "data" in block && typeof block.data === "string")),
		)
	);
}

/** True for what a command may answer, other than nothing. */
export function isCommandResult(value: unknown): value is CommandResult {
	if (typeof value === "string") return true;
	if (!isObject(value)) return false;
	return (
		("prompt" in value && typeof value.prompt === "string") || ("status" in value && typeof value.status === "string")
	);
}

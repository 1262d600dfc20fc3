import type { AppMessage } from "../log/entry.js";
import type { ContextMessage } from "./context-message.js";

/** Rules that a list of messages must keep for a model to accept it. */
export type ContextRule =
	| "known_role"
	| "well_formed_content"
	| "result_answers_call"
	| "call_has_result"
	| "one_result_per_call"
	| "user_message_remains";

/** A broken rule. `key` names the culprit across lists: the same fault has the same key. */
export interface Violation {
	rule: ContextRule;
	/** Position in the list, from 0. */
	position: number;
	key: string;
}

/** What `checkMessages` may skip. */
export interface CheckOptions {
	/** True for messages whose shape is known to be right, such as those of the log. */
	isKnownGood?(message: ContextMessage): boolean;
}

/**
 * Finds what a model would refuse: unknown roles, malformed content, tool results without their call before them, tool
 * calls of a non-final assistant message without a result, two results for one call, no user message.
 * Several user messages in a row are fine. Linear in the number of messages.
 */
export function checkMessages(messages: readonly ContextMessage[], options: CheckOptions = {}): Violation[] {
	return isPlainlyFine(messages, options) ? [] : findViolations(messages, options);
}

/** True for lists in which each call is answered right after its message: nearly all, told without keeping books. */
function isPlainlyFine(messages: readonly ContextMessage[], { isKnownGood }: CheckOptions): boolean {
	let hasUser = false;
	for (let position = 0; position < messages.length; position++) {
		const item = messages[position];
		if (!item || (isKnownGood ? !isKnownGood(item) : !isWellFormed(item.message))) return false;
		const { message } = item;
		if (message.role === "toolResult") return false;
		if (message.role !== "assistant") hasUser = true;
		else {
			for (const block of message.content) {
				if (block.type !== "toolCall") continue;
				const next = messages[++position];
				if (!next || (isKnownGood ? !isKnownGood(next) : !isWellFormed(next.message))) return false;
				if (next.message.role !== "toolResult" || next.message.toolCallId !== block.id) return false;
			}
		}
	}
	return hasUser;
}

function findViolations(messages: readonly ContextMessage[], options: CheckOptions): Violation[] {
	const violations: Violation[] = [];
	/** Calls without a result so far, with where they were made. */
	const open = new Map<string, number>();
	const answered = new Set<string>();
	let users = 0;
	let lastAssistant = -1;
	for (let position = 0; position < messages.length; position++) {
		const item = messages[position];
		if (!item || (!options.isKnownGood?.(item) && !isWellFormed(item.message))) {
			const role = roleOf(item?.message);
			const rule = ROLES.has(role) ? "well_formed_content" : "known_role";
			violations.push({ rule, position, key: `${rule}:${item?.entryIndex ?? `at ${position}`}` });
			continue;
		}
		const { message } = item;
		if (message.role === "user" || message.role === "bashExecution") users++;
		else if (message.role === "assistant") {
			lastAssistant = position;
			for (const block of message.content) {
				if (block.type !== "toolCall") continue;
				open.set(block.id, position);
				// Some providers count their ids from the start in every reply.
				answered.delete(block.id);
			}
		} else if (open.delete(message.toolCallId)) answered.add(message.toolCallId);
		else {
			const rule = answered.has(message.toolCallId) ? "one_result_per_call" : "result_answers_call";
			violations.push({ rule, position, key: `${rule}:${message.toolCallId}` });
		}
	}
	for (const [id, position] of open) {
		if (position !== lastAssistant || lastAssistant < messages.length - 1) {
			violations.push({ rule: "call_has_result", position, key: `call_has_result:${id}` });
		}
	}
	if (users === 0) violations.push({ rule: "user_message_remains", position: 0, key: "user_message_remains" });
	return violations;
}

const ROLES: ReadonlySet<unknown> = new Set(["user", "assistant", "toolResult", "bashExecution"]);

/** True when a value has the shape of a message: a known role, content and ids of the right types. */
export function isWellFormed(value: unknown): value is AppMessage {
	if (!isRecord(value)) return false;
	switch (value.role) {
		case "user":
			return typeof value.content === "string" || isBlockList(value.content, isTextOrImage);
		case "assistant":
			return isBlockList(value.content, isAssistantBlock);
		case "toolResult":
			return (
				typeof value.toolCallId === "string" &&
				typeof value.toolName === "string" &&
				isBlockList(value.content, isTextOrImage)
			);
		case "bashExecution":
			return typeof value.command === "string" && typeof value.output === "string";
		default:
			return false;
	}
}

function roleOf(value: unknown): unknown {
	return isRecord(value) ? value.role : undefined;
}

function isRecord(value: unknown): value is Record<string, unknown> {
	return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isBlockList(value: unknown, isBlock: (block: Record<string, unknown>) => boolean): boolean {
	return Array.isArray(value) && value.every((block) => isRecord(block) && isBlock(block));
}

function isTextOrImage(block: Record<string, unknown>): boolean {
	if (block.type === "text") return typeof block.text === "string";
	return block.type === "image" && typeof block.data === "string" && typeof block.mimeType === "string";
}

function isAssistantBlock(block: Record<string, unknown>): boolean {
	if (block.type === "text") return typeof block.text === "string";
	if (block.type === "thinking") return typeof block.thinking === "string";
	return (
		block.type === "toolCall" &&
		typeof block.id === "string" &&
		typeof block.name === "string" &&
		isRecord(block.arguments)
	);
}

import type { AppMessage } from "../log/entry.js";
import { isRecord } from "../util/is-record.js";
import type { ContextMessage } from "./context-message.js";
import { isBlank, isSentReply } from "./convert.js";

/** The rules for lists of messages that a model accepts. */
export type ContextRule =
	| "known_role"
	| "well_formed_content"
	| "result_answers_call"
	| "call_has_result"
	| "one_result_per_call"
	| "user_message_remains"
	| "prompt_comes_last";

/** A broken rule. `key` identifies the fault: the same fault in another list has the same key. */
export interface Violation {
	rule: ContextRule;
	/** Position in the list, from 0. */
	position: number;
	/** The id of the tool call, or the role of the message; absent if it has none. */
	detail?: string;
	key: string;
}

export interface CheckOptions {
	/** True for messages that are known to be well formed, such as those of the log. */
	isKnownGood?(message: ContextMessage): boolean;
	/** All messages before this position are valid, and all their calls have results. */
	start?: number;
}

/** Skips the check of the form: the log checks its own messages, and `traceAnswer` those of hooks. */
export const KNOWN_GOOD: CheckOptions = { isKnownGood: () => true };

/**
 * Finds faults for which a model would refuse a list: unknown roles, malformed content, tool results without an earlier
 * call, tool calls without a result in a non-final assistant message, two results for one call, no non-empty user message,
 * and a reply at the end with nothing to answer. Several user messages in a row are valid. Linear in the number of messages.
 */
export function checkMessages(messages: readonly ContextMessage[], options: CheckOptions = {}): Violation[] {
	const violations = isSimplyValid(messages, options) ? [] : findViolations(messages, options);
	const position = findUnansweredEnd(messages);
	if (position >= 0) violations.push({ rule: "prompt_comes_last", position, key: "prompt_comes_last" });
	return violations;
}

/** Fast check for the common case: every call is answered right after its message. @returns false to check in full */
export function isSimplyValid(
	messages: readonly ContextMessage[],
	{ isKnownGood, start = 0 }: CheckOptions = {},
): boolean {
	let hasUser = false;
	for (let position = 0; position < start && !hasUser; position++) hasUser = isSentAsUser(messages[position]?.message);
	for (let position = start; position < messages.length; position++) {
		const item = messages[position];
		if (!item || (isKnownGood ? !isKnownGood(item) : !isWellFormed(item.message))) return false;
		const { message } = item;
		if (message.role === "toolResult") return false;
		if (message.role !== "assistant") hasUser ||= isSentAsUser(message);
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

/** True for a message that is sent with the role `user`. */
function isSentAsUser(message: AppMessage | undefined): boolean {
	if (message?.role === "user") return !isBlank(message.content);
	return message?.role === "bashExecution" && message.excludeFromContext !== true;
}

/**
 * Position of the last reply if nothing after it needs an answer; -1 otherwise. Results are sent right after their calls,
 * so those of earlier replies do not count.
 */
function findUnansweredEnd(messages: readonly ContextMessage[]): number {
	const results = new Set<string>();
	for (let position = messages.length - 1; position >= 0; position--) {
		const message = messages[position]?.message;
		if (!isWellFormed(message) || isSentAsUser(message)) return -1;
		if (message.role === "toolResult") results.add(message.toolCallId);
		if (message.role !== "assistant" || !isSentReply(message)) continue;
		const isAnswered = message.content.some((block) => block.type === "toolCall" && results.has(block.id));
		return isAnswered && message.stopReason !== "aborted" ? -1 : position;
	}
	return -1;
}

function findViolations(messages: readonly ContextMessage[], options: CheckOptions): Violation[] {
	const violations: Violation[] = [];
	/** Positions of calls without a result so far, by id. Some providers use an id more than once. */
	const open = new Map<string, number[]>();
	const answered = new Set<string>();
	let users = 0;
	let lastAssistant = -1;
	for (let position = 0; position < messages.length; position++) {
		const item = messages[position];
		if (!item || (!options.isKnownGood?.(item) && !isWellFormed(item.message))) {
			const role = roleOf(item?.message);
			const rule = ROLES.has(role) ? "well_formed_content" : "known_role";
			violations.push({ rule, position, ...detailOf(role), key: `${rule}:${item?.entryIndex ?? `at ${position}`}` });
			continue;
		}
		const { message } = item;
		if (message.role === "system") continue;
		if (message.role === "user" || message.role === "bashExecution") {
			if (isSentAsUser(message)) users++;
		} else if (message.role === "assistant") {
			lastAssistant = position;
			for (const block of message.content) {
				if (block.type !== "toolCall") continue;
				open.set(block.id, [...(open.get(block.id) ?? []), position]);
				answered.delete(block.id);
			}
		} else if (open.get(message.toolCallId)?.shift() !== undefined) answered.add(message.toolCallId);
		else {
			const rule = answered.has(message.toolCallId) ? "one_result_per_call" : "result_answers_call";
			const { toolCallId } = message;
			violations.push({ rule, position, detail: toolCallId, key: `${rule}:${toolCallId}` });
		}
	}
	for (const [id, positions] of open) {
		for (const position of positions) {
			if (position === lastAssistant && lastAssistant === messages.length - 1) continue;
			violations.push({ rule: "call_has_result", position, detail: id, key: `call_has_result:${id}` });
		}
	}
	if (users === 0) violations.push({ rule: "user_message_remains", position: 0, key: "user_message_remains" });
	return violations;
}

const ROLES: ReadonlySet<unknown> = new Set(["user", "assistant", "toolResult", "bashExecution"]);

/** True for a value with the form of a message: a known role, content and ids of the right types. */
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
				value.toolCallId !== "" &&
				typeof value.toolName === "string" &&
				isBlockList(value.content, isTextOrImage)
			);
		case "bashExecution":
			return typeof value.command === "string" && typeof value.output === "string";
		default:
			return false;
	}
}

/** True for an object with a role that context messages can have. */
export function isKnownRole(value: object): boolean {
	return ROLES.has(roleOf(value));
}

/** The role of a value as the detail of a problem. */
export function detailOf(role: unknown): { detail?: string } {
	return typeof role === "string" ? { detail: role } : {};
}

export function roleOf(value: unknown): unknown {
	return isRecord(value) ? value.role : undefined;
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
		block.id !== "" &&
		typeof block.name === "string" &&
		isRecord(block.arguments)
	);
}

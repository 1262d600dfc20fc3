import type { ContextMessage } from "../../src/context/context-message.js";
import type { SessionEntry } from "../../src/log/entry.js";

/**
 * The rules for a hook's answer from docs/context.md, implemented a second time as simply as possible to verify the real
 * check. The previous list must be valid and end with a user message.
 */
export function isAcceptable(
	answer: unknown,
	before: readonly ContextMessage[],
	entries: readonly SessionEntry[],
): boolean {
	if (!isRecord(answer) || !Array.isArray(answer.messages)) return false;
	const items: Item[] = [];
	for (const given of answer.messages as unknown[]) {
		const item = readItem(given, before, entries);
		if (item === null || !hasShape(item.message)) return false;
		items.push(item);
	}
	const messages = items.map(({ message }) => message);
	const indices = items.flatMap(({ index }) => (index === null ? [] : [index]));
	if (new Set(messages).size < messages.length || new Set(indices).size < indices.length) return false;
	return answersMatch(messages) && messages.some(isUsers) && isOpenAtTheEnd(messages);
}

interface Item {
	message: Record<string, unknown>;
	index: number | null;
}

/** True when a user message or a result of its own call follows the last sent reply. */
function isOpenAtTheEnd(messages: readonly Record<string, unknown>[]): boolean {
	const last = messages.findLastIndex((message) => message.role === "assistant" && isSent(message));
	const reply = messages[last];
	if (!reply) return true;
	const calls = reply.stopReason === "aborted" ? [] : callIds(reply);
	return messages.slice(last + 1).some((message) => isUsers(message) || calls.includes(message.toolCallId));
}

export function isRecord(value: unknown): value is Record<string, unknown> {
	return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The message of an item and its entry; null for an invalid item. */
function readItem(item: unknown, before: readonly ContextMessage[], entries: readonly SessionEntry[]): Item | null {
	if (!isRecord(item)) return null;
	const given = (message: unknown) => before.find((one) => one.message === message);
	if (item.role !== undefined || item.message === undefined) {
		return { message: item, index: given(item)?.entryIndex ?? null };
	}
	const { message, entryIndex: index } = item;
	if (!isRecord(message)) return null;
	if (index === null) return { message, index };
	if (typeof index !== "number" || !Number.isInteger(index)) return null;
	const own = entries.findIndex((entry) => messageOf(entry) === message);
	const owner = own >= 0 ? own : (given(message)?.entryIndex ?? index);
	return owner === index && messageOf(entries[index]) !== undefined ? { message, index } : null;
}

function messageOf(entry: unknown): unknown {
	return isRecord(entry) && entry.type === "message" ? entry.message : undefined;
}

function hasShape(message: Record<string, unknown>): boolean {
	const { role, content } = message;
	if (role === "user") return typeof content === "string" || all(content, isInput);
	if (role === "bashExecution") return typeof message.command === "string" && typeof message.output === "string";
	if (role === "toolResult") return isName(message.toolCallId) && isText(message.toolName) && all(content, isInput);
	return role === "assistant" && all(content, isOutput);
}

function isInput(block: Record<string, unknown>): boolean {
	if (block.type === "image") return isText(block.data) && isText(block.mimeType);
	return block.type === "text" && isText(block.text);
}

function isOutput(block: Record<string, unknown>): boolean {
	if (block.type === "toolCall") return isName(block.id) && isText(block.name) && isRecord(block.arguments);
	return block.type === "thinking" ? isText(block.thinking) : block.type === "text" && isText(block.text);
}

/** True when each result matches the first open call with its id before it, and no call remains. */
function answersMatch(messages: readonly Record<string, unknown>[]): boolean {
	const open: unknown[] = [];
	for (const message of messages) {
		open.push(...callIds(message));
		if (message.role !== "toolResult") continue;
		const at = open.indexOf(message.toolCallId);
		if (at < 0) return false;
		open.splice(at, 1);
	}
	return open.length === 0;
}

function callIds({ role, content }: Record<string, unknown>): unknown[] {
	if (role !== "assistant" || !Array.isArray(content)) return [];
	return content.filter((block) => block.type === "toolCall").map((block) => block.id);
}

/** True for a message that is sent with the role `user`. */
function isUsers(message: Record<string, unknown>): boolean {
	if (message.role === "bashExecution") return message.excludeFromContext !== true;
	return message.role === "user" && isSent(message);
}

/** False for messages that are not sent: `!!` commands, empty messages, failed replies. */
function isSent({ role, content, stopReason, excludeFromContext }: Record<string, unknown>): boolean {
	if (role === "bashExecution") return excludeFromContext !== true;
	if (role === "toolResult") return true;
	if (typeof content === "string") return content.trim() !== "";
	if (role === "assistant" && stopReason === "error") return false;
	const blocks = Array.isArray(content) ? content : [];
	const counts = stopReason === "aborted" ? blocks.filter(({ type }) => type === "text") : blocks;
	return counts.some(({ type, text, thinking }) => (type === "text" ? text : (thinking ?? "x")).trim() !== "");
}

function all(value: unknown, isFine: (block: Record<string, unknown>) => boolean): boolean {
	return Array.isArray(value) && value.every((block) => isRecord(block) && isFine(block));
}

function isText(value: unknown): boolean {
	return typeof value === "string";
}

function isName(value: unknown): boolean {
	return typeof value === "string" && value !== "";
}

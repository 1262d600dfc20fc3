import type { AssistantMessage, ThinkingContent } from "@mariozechner/pi-ai";
import { isUserMessageEntry } from "../log/entry.js";
import type { TracedMessage } from "./context-message.js";
import { isSentReply } from "./convert.js";
import { type EntrySource, entryMessage } from "./entry-message.js";
import type { TracedAnswer, TraceFault } from "./trace.js";

export interface SignedThinkingInput {
	/** The messages before any hook. */
	core: readonly TracedMessage[];
	/** The messages that the hook received. */
	before: readonly TracedMessage[];
	answer: TracedAnswer;
	entries: EntrySource;
}

/** A reply of the log. */
interface Reply {
	message: AssistantMessage;
	entryIndex: number;
}

/**
 * Finds a reply whose signed thinking a hook changed, which its provider would refuse. While the calls of the latest turn are
 * being answered, all signed thinking of the turn remains, or its reply is dropped; that of earlier turns may be removed, but
 * what remains is unchanged. Reads nothing unless the hook created replies.
 */
export function findChangedThinking({ core, before, answer, entries }: SignedThinkingInput): TraceFault | null {
	let openFrom: number | null = null;
	let gone: Reply[] | null = null;
	for (const item of answer.own) {
		const { message, entryIndex } = item;
		if (message.role !== "assistant") continue;
		const own = replyAt(entryIndex, entries);
		if (!own) gone ??= goneReplies(before, answer.messages, entries);
		const replies = own ? [own] : (gone ?? []).filter((reply) => isCopyOf(message, reply.message));
		const [changed] = replies;
		if (!changed || replies.some((reply) => keepsThinking(message, reply.message))) continue;
		openFrom ??= findOpenLoop(core, entries);
		const start = openFrom;
		const isAllowed = (reply: Reply) =>
			(reply.entryIndex < start && onlyRemovesThinking(message, reply.message)) ||
			isAsGiven(message, reply.entryIndex, before);
		if (replies.some(isAllowed)) continue;
		return {
			rule: "signed_thinking_unchanged",
			position: answer.messages.indexOf(item),
			detail: String(changed.entryIndex),
		};
	}
	return null;
}

/** A frozen request of an older version may lack thinking already. */
function isAsGiven(message: AssistantMessage, index: number, before: readonly TracedMessage[]): boolean {
	const given = before.find(({ entryIndex }) => entryIndex === index)?.message;
	return given?.role === "assistant" && hasSameThinking(message, given);
}

function replyAt(entryIndex: number | null, entries: EntrySource): Reply | undefined {
	const message = entryIndex === null ? null : entryMessage(entries.at(entryIndex));
	return entryIndex !== null && message?.role === "assistant" ? { message, entryIndex } : undefined;
}

/** Replies that an answer does not have under their index. It may have copies of them without an index. */
function goneReplies(before: readonly TracedMessage[], after: readonly TracedMessage[], entries: EntrySource): Reply[] {
	const kept = new Set(after.map(({ entryIndex }) => entryIndex));
	return before.flatMap(({ message, entryIndex }) => {
		const reply = message.role !== "assistant" || kept.has(entryIndex) ? undefined : replyAt(entryIndex, entries);
		return reply ? [reply] : [];
	});
}

/** True for a message that has a call, a signature or a signed thought of a reply. */
function isCopyOf(message: AssistantMessage, reply: AssistantMessage): boolean {
	const signed = signedOf(reply);
	return message.content.some((block) => {
		if (block.type === "toolCall") return reply.content.some((one) => one.type === "toolCall" && one.id === block.id);
		if (block.type !== "thinking") return false;
		return signed.some(
			(one) =>
				(isSigned(block) && one.thinkingSignature === block.thinkingSignature) ||
				(one.thinking !== "" && one.thinking === block.thinking),
		);
	});
}

/** Index from which the replies of entries belong to the open tool loop; infinite if the last reply called no tool. */
function findOpenLoop(core: readonly TracedMessage[], entries: EntrySource): number {
	let isOpen: boolean | null = null;
	for (let position = core.length - 1; position >= 0; position--) {
		const item = core[position];
		if (!item) continue;
		const { message, entryIndex } = item;
		if (message.role === "toolResult") isOpen ??= true;
		if (message.role === "assistant" && isSentReply(message)) isOpen ??= callsTools(message);
		if (entryIndex !== null && isUserMessageEntry(entries.at(entryIndex)))
			return isOpen === true ? entryIndex : Number.POSITIVE_INFINITY;
	}
	return isOpen === true ? 0 : Number.POSITIVE_INFINITY;
}

function callsTools({ content, stopReason }: AssistantMessage): boolean {
	return stopReason !== "aborted" && content.some(({ type }) => type === "toolCall");
}

/** True if a message has all signed thinking of a reply, and no other. */
function keepsThinking(message: AssistantMessage, reply: AssistantMessage): boolean {
	const [kept, had] = [signedOf(message), signedOf(reply)];
	return kept.length === had.length && kept.every((block, at) => isSame(block, had[at]));
}

/** True if a message has some signed thinking of a reply, and instead of the rest nothing. */
function onlyRemovesThinking(message: AssistantMessage, reply: AssistantMessage): boolean {
	const had = thinkingOf(reply);
	let next = 0;
	return thinkingOf(message).every((block) => {
		while (next < had.length && !isSame(block, had[next])) next++;
		return next++ < had.length;
	});
}

function hasSameThinking(a: AssistantMessage, b: AssistantMessage): boolean {
	const [first, second] = [thinkingOf(a), thinkingOf(b)];
	return first.length === second.length && first.every((block, at) => isSame(block, second[at]));
}

function thinkingOf({ content }: AssistantMessage): ThinkingContent[] {
	return content.flatMap((block) => (block.type === "thinking" ? [block] : []));
}

function signedOf(message: AssistantMessage): ThinkingContent[] {
	return thinkingOf(message).filter(isSigned);
}

function isSigned({ thinkingSignature, redacted }: ThinkingContent): boolean {
	return redacted === true || (thinkingSignature ?? "") !== "";
}

function isSame(a: ThinkingContent, b: ThinkingContent | undefined): boolean {
	return (
		a.thinking === b?.thinking &&
		(a.thinkingSignature ?? "") === (b.thinkingSignature ?? "") &&
		(a.redacted ?? false) === (b.redacted ?? false)
	);
}

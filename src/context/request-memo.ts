import type { Message, ToolResultMessage } from "@mariozechner/pi-ai";
import type { AppMessage } from "../log/entry.js";
import { callIdPart } from "../tools/legal-names.js";
import type { TracedMessage } from "./context-message.js";
import { convertToLlm, openedByUser, repairMessages } from "./convert.js";
import { RunningDigest } from "./digest.js";
import { sharedLength } from "./shared-length.js";
import { estimateTokens } from "./tokens.js";

/** A context in the form that is sent. */
export interface ContextRequest {
	/** Provider messages, valid for any context; the caller owns the list. */
	messages: Message[];
	/** The result of `digestContext`. */
	digest: string;
}

/**
 * Turns the contexts of one log into requests: `openedByUser(repairMessages(convertToLlm(…)))` and `digestContext(…)`. Does
 * not convert or hash again the start that a context shares with the previous one.
 */
export class RequestMemo {
	readonly #digest = new RunningDigest();
	readonly #groups = new SentGroups();

	request(context: readonly TracedMessage[]): ContextRequest {
		return { messages: this.#groups.update(context), digest: this.#digest.update(context) };
	}
}

/** Estimates the tokens of successive contexts, counting only the part that changed. */
export class TokenSum {
	#seen: readonly TracedMessage[] = [];
	#tokens = 0;

	/** @returns the estimate for the complete context */
	update(context: readonly TracedMessage[]): number {
		const shared = sharedLength(this.#seen, context);
		for (let at = shared; at < this.#seen.length; at++) this.#tokens -= tokensAt(this.#seen, at);
		for (let at = shared; at < context.length; at++) this.#tokens += tokensAt(context, at);
		this.#seen = context;
		return this.#tokens;
	}
}

function tokensAt(context: readonly TracedMessage[], position: number): number {
	const message = context[position]?.message;
	return message ? estimateTokens(message) : 0;
}

/**
 * Provider messages in groups: a user message, or a reply with its results. As long as every result follows its own call
 * and no call id is used twice, each group is repaired on its own; otherwise the complete list is repaired.
 */
class SentGroups {
	/** Context of the groups so far; the messages before `#end` are in `#sent`. */
	#context: readonly TracedMessage[] = [];
	#end = 0;
	readonly #sent: Message[] = [];
	/** Length of `#sent` before each group, at the position of its first message. */
	readonly #sentBefore: number[] = [];
	/** The parts of their call ids that must be unique. */
	readonly #callIds = new Set<string>();

	update(context: readonly TracedMessage[]): Message[] {
		this.#cutBack(Math.min(sharedLength(this.#context, context), this.#end));
		this.#context = context;
		while (this.#end < context.length) {
			const group = groupAt(context, this.#end);
			if (!this.#admit(group)) return openedByUser(repairMessages(convertToLlm(context.map(({ message }) => message))));
			this.#sentBefore[this.#end] = this.#sent.length;
			for (const message of repairMessages(convertToLlm(group))) this.#sent.push(message);
			this.#end += group.length;
		}
		return openedByUser(this.#sent.slice());
	}

	/** Drops the groups after a length, and the last one before it, which may have grown. */
	#cutBack(length: number): void {
		if (this.#end === 0) return;
		let start = Math.max(0, length - 1);
		while (start > 0 && this.#context[start]?.message.role === "toolResult") start--;
		for (let at = start; at < this.#end; at++) {
			for (const id of callIds(this.#context[at]?.message)) this.#callIds.delete(callIdPart(id));
		}
		this.#sent.length = this.#sentBefore[start] ?? 0;
		this.#sentBefore.length = start;
		this.#end = start;
	}

	/** Adds a group. @returns false when it cannot be repaired on its own */
	#admit([first, ...results]: readonly AppMessage[]): boolean {
		const ids = callIds(first);
		const open = new Set(ids);
		const parts = new Set(ids.map(callIdPart));
		if (first?.role === "toolResult" || parts.size < ids.length) return false;
		if ([...parts].some((part) => this.#callIds.has(part))) return false;
		if (!results.every((result) => result.role === "toolResult" && open.delete(result.toolCallId))) return false;
		for (const part of parts) this.#callIds.add(part);
		return true;
	}
}

/** A message of a context, with the results that follow it if it is a reply. */
function groupAt(context: readonly TracedMessage[], start: number): AppMessage[] {
	let end = start + 1;
	if (context[start]?.message.role === "assistant") {
		while (context[end]?.message.role === "toolResult") end++;
	}
	return context.slice(start, end).map(({ message }) => message);
}

function callIds(message: AppMessage | undefined): ToolResultMessage["toolCallId"][] {
	if (message?.role !== "assistant") return [];
	return message.content.flatMap((block) => (block.type === "toolCall" ? [block.id] : []));
}

import type { AssistantMessage, ToolCall } from "@mariozechner/pi-ai";

/** The mark that the clients of pi-ai, as patched, put on a call whose arguments were cut off. */
const CUT_OFF = Symbol.for("pi-ai.argumentsCutOff");

/**
 * Why a tool call of a reply must not run: its arguments did not arrive completely. In a reply that reached the output limit,
 * the last block was cut off, even if its arguments can be read.
 * @returns a sentence for the model; null for a complete call
 */
export function describeIncompleteCall(call: ToolCall, { content, stopReason }: AssistantMessage): string | null {
	const isCutOff = CUT_OFF in call;
	if (stopReason === "length" && (isCutOff || content.at(-1) === call)) {
		return "The reply was cut off at the model's output limit, so this call was not run. Send it again, in smaller parts.";
	}
	return isCutOff ? "The arguments of this call are not complete JSON, so it was not run. Send it again." : null;
}

/** Replies with incomplete calls in a row after which a run ends. */
const MAX_REPLIES = 3;

/** Counts the replies in a row whose tool calls were incomplete: a model that always sends such calls would never finish. */
export class IncompleteReplies {
	#count = 0;

	/** @returns why the run must end after this reply, for the user; null to continue */
	add(reply: AssistantMessage): string | null {
		const isIncomplete = reply.content.some(
			(block) => block.type === "toolCall" && describeIncompleteCall(block, reply) !== null,
		);
		this.#count = isIncomplete ? this.#count + 1 : 0;
		if (this.#count < MAX_REPLIES) return null;
		return `${MAX_REPLIES} replies in a row had incomplete tool calls · raise maxTokens of the model in models.json, or ask for smaller steps`;
	}
}

import type { BuiltContext } from "./context-message.js";
import { convertToLlm } from "./convert.js";

/**
 * Where a request asks its provider to cache what comes before: Anthropic, also through OpenRouter and, except for the tools,
 * Bedrock. Other providers cache without being asked.
 */
export interface CacheBreakpoints {
	/** After the tools. */
	readonly tools: boolean;
	/** After the system prompt. */
	readonly systemPrompt: boolean;
	/** After so many messages of the context, ascending. */
	readonly messages: readonly number[];
}

/**
 * The number of messages before the last ones that hooks made without an entry, such as a reminder. Those are others, or at
 * another place, in the next request: a cache that ends with them is never found again.
 */
export function stableEnd({ messages }: Pick<BuiltContext, "messages">): number {
	return (
		messages.findLastIndex(
			// What is added in the middle of the conversation stays there.
			({ origin, entryIndex, message }) => origin.kind !== "hook" || entryIndex !== null || message.role === "system",
		) + 1
	);
}

/** The breakpoints of a request, unless the setting `cacheRetention` is `none`. */
export function cacheBreakpoints(context: BuiltContext): CacheBreakpoints {
	const { length } = context.messages;
	const stable = sentTail(context) > 0 ? stableEnd(context) : length;
	return {
		tools: context.preamble.tools.length > 0,
		systemPrompt: context.preamble.systemPrompt !== "",
		messages: [...new Set([stable, length])].filter((end) => end > 0),
	};
}

/**
 * The number of messages after the stable part as they are sent. 0 if there is no stable part, and for a tail with replies or
 * results: providers join these with others.
 */
export function sentTail(context: Pick<BuiltContext, "messages">): number {
	const end = stableEnd(context);
	const tail = convertToLlm(context.messages.slice(end).map(({ message }) => message));
	return end > 0 && tail.every(({ role }) => role === "user") ? tail.length : 0;
}

import type { Api, AssistantMessage, Model } from "@mariozechner/pi-ai";

/** A reply that failed, with a copy of the content that had arrived and without usage. */
export function failedReply(
	{ api, provider, id }: Model<Api>,
	content: AssistantMessage["content"],
	stopReason: "error" | "aborted",
	errorMessage: string,
): AssistantMessage {
	const none = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };
	return {
		role: "assistant",
		content: structuredClone(content),
		api,
		provider,
		model: id,
		usage: { ...none, totalTokens: 0, cost: { ...none, total: 0 } },
		stopReason,
		errorMessage,
		timestamp: Date.now(),
	};
}

import type { MessageEntry } from "../../src/log/entry.js";
import { assistantMessage } from "./entries.js";

/** Usage of a reply in a test. */
export interface ReplyFacts {
	/** `provider/id`. Default: `anthropic/opus`. */
	model?: string;
	input?: number;
	output?: number;
	cacheRead?: number;
	cacheWrite?: number;
	/** US dollars. */
	cost?: number;
	subscription?: true;
	/** The request failed. */
	failed?: true;
	/** Default: `ok`. */
	text?: string;
}

/** An entry with a reply that was written at an ISO time. */
export function replyAt(timestamp: string, facts: ReplyFacts = {}): MessageEntry {
	const { model: name = "anthropic/opus", input = 100, output = 10, cacheRead = 0, cacheWrite = 0 } = facts;
	const [provider = "", model = ""] = name.split("/");
	const cost = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: facts.cost ?? 0 };
	return {
		type: "message",
		timestamp,
		message: {
			...assistantMessage(facts.text ?? "ok"),
			...(facts.failed && { stopReason: "error", errorMessage: "no" }),
			provider,
			model,
			usage: { input, output, cacheRead, cacheWrite, totalTokens: input + output + cacheRead + cacheWrite, cost },
			timestamp: Date.parse(timestamp) - 1000,
		},
		...(facts.subscription && { context: { digest: "", messages: 1, tokens: input, subscription: true } }),
	};
}

import type { Usage } from "@mariozechner/pi-ai";
import { isMessageEntry, isRequestUsageEntry, type SessionEntry } from "./entry.js";

/** Tokens and price. */
export interface UsageAmounts {
	input: number;
	output: number;
	cacheRead: number;
	cacheWrite: number;
	/** US dollars; 0 also for a model without a price. null if a subscription paid for the request. */
	cost: number | null;
	/** Set if the server reported no usage for a complete reply, so that tokens and cost are unknown. */
	isUnreported?: true;
}

/** Tokens and price of one request. */
export interface RequestUsage extends UsageAmounts {
	/** When its entry was written, ms since the epoch. */
	at: number;
	/** When it was sent, ms since the epoch. */
	sentAt: number;
	/** `provider/id`. */
	model: string;
}

/** The usage that an entry records; null for entries that record none. */
export function usageOf(entry: SessionEntry | undefined): RequestUsage | null {
	if (isRequestUsageEntry(entry)) {
		const { timestamp, provider, modelId, usage, subscription } = entry;
		const at = Date.parse(timestamp) || 0;
		return { at, sentAt: at, model: `${provider}/${modelId}`, ...amounts(usage, subscription) };
	}
	if (!isMessageEntry(entry) || entry.message.role !== "assistant") return null;
	const { provider, model, usage, timestamp, stopReason } = entry.message;
	const at = Date.parse(entry.timestamp) || 0;
	const counted = amounts(usage, entry.context?.subscription);
	const { input, output, cacheRead, cacheWrite } = counted;
	const isComplete = stopReason !== "error" && stopReason !== "aborted";
	const isUnreported = isComplete && counted.cost === 0 && input + output + cacheRead + cacheWrite === 0;
	const name = `${provider}/${model}`;
	return { at, sentAt: timestamp, model: name, ...counted, ...(isUnreported && { isUnreported }) };
}

function amounts({ input, output, cacheRead, cacheWrite, cost }: Usage, subscription: true | undefined): UsageAmounts {
	// pi-ai stores negative prices for routers, whose price depends on the model that they choose.
	return { input, output, cacheRead, cacheWrite, cost: subscription ? null : Math.max(0, cost.total) };
}

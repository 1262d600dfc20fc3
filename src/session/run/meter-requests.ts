import type { AssistantMessage } from "@mariozechner/pi-ai";
import type { StreamFunction } from "../../agent/stream.js";
import { entryTimestamp, type RequestUsageEntry } from "../../log/entry.js";
import type { SessionCore } from "../session-core.js";

/** Sends requests whose replies are not entries, and writes their usage to the log of the session. */
export interface RequestMeter {
	stream: StreamFunction;
	/** Writes the usage of the requests so far; that of later ones is written as soon as it is known. */
	write(): void;
}

/**
 * @param purpose see `RequestUsageEntry`
 * @param send sends the requests. Default: the client of the session
 */
export function meterRequests(
	{ state, models }: Pick<SessionCore, "state" | "models">,
	purpose: string,
	send: StreamFunction = (...request) => models.client.stream(...request),
): RequestMeter {
	const { log } = state;
	let waiting: RequestUsageEntry[] | null = [];
	const add = ({ provider, model: modelId, usage }: AssistantMessage) => {
		if (usage.totalTokens === 0) return;
		const entry: RequestUsageEntry = {
			type: "request_usage",
			timestamp: entryTimestamp(),
			purpose,
			provider,
			modelId,
			usage,
			...(models.offers.keyState(provider) === "login" && { subscription: true }),
		};
		if (waiting) waiting.push(entry);
		// A canceled request may end after the session has changed.
		else if (state.log === log) state.append(entry);
	};
	return {
		stream(model, context, options) {
			const events = send(model, context, options);
			// The reader of the events reports failures; a closed log cannot be written to.
			void events
				.result()
				.then(add)
				.catch(() => {});
			return events;
		},
		write() {
			if (waiting) state.appendAll(waiting);
			waiting = null;
		},
	};
}

/** Settings and sizes from which a budget is computed. All values in tokens. */
export interface WindowInputs {
	/** The model's context window. */
	window: number;
	/** System prompt and tools, which start every request. */
	preamble: number;
	/** Kept free for the reply, and kept of the recent conversation, in a large window. */
	reserveTokens: number;
	keepRecentTokens: number;
}

/** How the window of a model is divided. All values in tokens, of requests that include the preamble. */
export interface WindowBudget {
	/** A request above this size is compacted first. */
	limit: number;
	/** The size that a request must not exceed after a compaction. */
	target: number;
	/** No request above this size is sent: the model would have no room to reply. */
	max: number;
	/** The longest summary. */
	summary: number;
	/** Of the recent messages, how much a compaction keeps, without the summary. */
	keepRecent: number;
}

/** Room that every request leaves for the reply, in tokens. */
export function minReply(window: number): number {
	return Math.max(64, Math.min(1024, Math.floor(window / 16)));
}

/** Windows below this size scale down what is reserved and kept. */
const FULL_SCALE_WINDOW = 65_536;
const MAX_SUMMARY = 8_000;

/**
 * Divides the window of a model. After a compaction a request takes at most 60 % of what the window leaves after the
 * reserve, or the preamble and 15 % of the window if that is more; so even a window of 4k leaves room to continue.
 */
export function divideWindow({ window, preamble, reserveTokens, keepRecentTokens }: WindowInputs): WindowBudget {
	const scale = Math.min(1, window / FULL_SCALE_WINDOW);
	const max = window - minReply(window);
	const usable = Math.max(0, window - Math.floor(reserveTokens * scale));
	const target = Math.min(max, Math.floor(Math.max(0.6 * usable, preamble + 0.15 * window)));
	// A limit at or below the target would compact again and again.
	const limit = Math.min(max, Math.max(usable, Math.floor(target + 0.1 * window)));
	const room = Math.max(0, target - preamble);
	const summary = Math.min(MAX_SUMMARY, Math.max(100, Math.floor(room * 0.4)));
	const keepRecent = Math.max(0, Math.min(Math.floor(keepRecentTokens * scale), room - summary));
	return { limit, target, max, summary, keepRecent };
}

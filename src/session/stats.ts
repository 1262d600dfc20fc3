import type { SessionStats } from "../commands/command.js";
import { isMessageEntry } from "../log/entry.js";
import { usageOf } from "../log/request-usage.js";
import type { SessionLog } from "../log/session-log.js";
import { roundCost } from "../util/format-amounts.js";

type Totals = Omit<SessionStats, "sessionFile" | "sessionId">;

/**
 * Counts the messages and requests of a log incrementally. Parses only entries that record usage, and keeps nothing of
 * them; the line heads of other entries suffice.
 */
export class StatsCounter {
	#log: SessionLog | null = null;
	#next = 0;
	#totals = emptyTotals();

	/** Statistics of the current log; a snapshot. */
	count(log: SessionLog): SessionStats {
		if (this.#log !== log) {
			this.#log = log;
			this.#next = 0;
			this.#totals = emptyTotals();
		}
		for (; this.#next < log.length; this.#next++) this.#add(log, this.#next);
		const { tokens, cost, ...rest } = this.#totals;
		return { sessionFile: log.path, sessionId: log.id, ...rest, tokens: { ...tokens }, cost: roundCost(cost) };
	}

	#add(log: SessionLog, index: number): void {
		const totals = this.#totals;
		const role = log.roleOf(index);
		if (role !== undefined) totals.totalMessages++;
		if (role === "user") totals.userMessages++;
		else if (role === "toolResult") totals.toolResults++;
		if (role !== "assistant" && log.typeOf(index) !== "request_usage") return;
		const entry = log.peek(index);
		if (isMessageEntry(entry) && entry.message.role === "assistant") {
			totals.assistantMessages++;
			totals.toolCalls += entry.message.content.filter((block) => block.type === "toolCall").length;
		}
		const usage = usageOf(entry);
		if (!usage) return;
		const { input, output, cacheRead, cacheWrite, cost } = usage;
		totals.tokens.input += input;
		totals.tokens.output += output;
		totals.tokens.cacheRead += cacheRead;
		totals.tokens.cacheWrite += cacheWrite;
		totals.tokens.total += input + output + cacheRead + cacheWrite;
		totals.cost += cost ?? 0;
		if (usage.isUnreported) totals.unreported++;
	}
}

function emptyTotals(): Totals {
	return {
		userMessages: 0,
		assistantMessages: 0,
		toolCalls: 0,
		toolResults: 0,
		totalMessages: 0,
		tokens: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 },
		cost: 0,
		unreported: 0,
	};
}

import type { SessionStats } from "../commands/command.js";
import { isMessageEntry } from "../log/entry.js";
import type { MessageRole } from "../log/line-patterns.js";
import type { SessionLog } from "../log/session-log.js";

type Totals = Omit<SessionStats, "sessionFile" | "sessionId">;

/** Number of replies that `countSome` parses per call: a few ms. */
const REPLIES_AT_A_TIME = 200;

/**
 * Counts the messages of a log incrementally. Parses only replies, for their usage, and keeps nothing of them; the line
 * heads of other messages suffice.
 */
export class StatsCounter {
	#log: SessionLog | null = null;
	#next = 0;
	#totals = emptyTotals();

	/** Statistics of the current log; a snapshot. */
	count(log: SessionLog): SessionStats {
		this.#advance(log, Number.POSITIVE_INFINITY);
		return this.#snapshot(log);
	}

	/** Like `count`, in small steps that continue where the last call stopped. @returns null until all is counted */
	countSome(log: SessionLog): SessionStats | null {
		this.#advance(log, REPLIES_AT_A_TIME);
		return this.#next < log.length ? null : this.#snapshot(log);
	}

	#advance(log: SessionLog, maxReplies: number): void {
		if (this.#log !== log) {
			this.#log = log;
			this.#next = 0;
			this.#totals = emptyTotals();
		}
		for (let replies = 0; this.#next < log.length && replies < maxReplies; this.#next++) {
			if (this.#add(log, this.#next) === "assistant") replies++;
		}
	}

	#snapshot(log: SessionLog): SessionStats {
		const { tokens, ...rest } = this.#totals;
		return { sessionFile: log.path, sessionId: log.id, ...rest, tokens: { ...tokens } };
	}

	#add(log: SessionLog, index: number): MessageRole | undefined {
		const totals = this.#totals;
		const role = log.roleOf(index);
		if (role === undefined) return undefined;
		if (role === "user") totals.userMessages++;
		else if (role === "toolResult") totals.toolResults++;
		else if (role === "assistant") {
			const entry = log.peek(index);
			if (!isMessageEntry(entry) || entry.message.role !== "assistant") return undefined;
			const { content, usage } = entry.message;
			totals.assistantMessages++;
			totals.toolCalls += content.filter((block) => block.type === "toolCall").length;
			totals.tokens.input += usage.input;
			totals.tokens.output += usage.output;
			totals.tokens.cacheRead += usage.cacheRead;
			totals.tokens.cacheWrite += usage.cacheWrite;
			totals.tokens.total += usage.input + usage.output + usage.cacheRead + usage.cacheWrite;
			totals.cost += usage.cost.total;
		}
		totals.totalMessages++;
		return role;
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
	};
}

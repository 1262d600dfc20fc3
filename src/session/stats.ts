import type { SessionStats } from "../commands/command.js";
import { isMessageEntry } from "../log/entry.js";
import type { SessionLog } from "../log/session-log.js";

type Totals = Omit<SessionStats, "sessionFile" | "sessionId">;

/** Counts the messages of a log. Reads each entry once, however often it is asked. */
export class StatsCounter {
	#log: SessionLog | null = null;
	#next = 0;
	#totals = emptyTotals();

	/** Numbers of the log as it is now; a snapshot. */
	count(log: SessionLog): SessionStats {
		if (this.#log !== log) {
			this.#log = log;
			this.#next = 0;
			this.#totals = emptyTotals();
		}
		for (; this.#next < log.length; this.#next++) this.#add(log, this.#next);
		const { tokens, ...rest } = this.#totals;
		return { sessionFile: log.path, sessionId: log.id, ...rest, tokens: { ...tokens } };
	}

	#add(log: SessionLog, index: number): void {
		const entry = log.entry(index);
		if (!isMessageEntry(entry)) return;
		const totals = this.#totals;
		const { message } = entry;
		totals.totalMessages++;
		if (message.role === "user") totals.userMessages++;
		else if (message.role === "toolResult") totals.toolResults++;
		else if (message.role === "assistant") {
			totals.assistantMessages++;
			totals.toolCalls += message.content.filter((block) => block.type === "toolCall").length;
			const { usage } = message;
			totals.tokens.input += usage?.input ?? 0;
			totals.tokens.output += usage?.output ?? 0;
			totals.tokens.cacheRead += usage?.cacheRead ?? 0;
			totals.tokens.cacheWrite += usage?.cacheWrite ?? 0;
			totals.tokens.total = sum(totals.tokens);
			totals.cost += usage?.cost?.total ?? 0;
		}
	}
}

function sum({ input, output, cacheRead, cacheWrite }: Totals["tokens"]): number {
	return input + output + cacheRead + cacheWrite;
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

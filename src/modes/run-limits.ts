import { hasToolCalls } from "../log/entry.js";
import type { AgentSession } from "../sdk/agent-session.js";
import { formatCost, formatDuration } from "../util/format-amounts.js";

/** What a script allows its prompts to take together. Absent: no limit. */
export interface RunLimits {
	/** Replies of the model, whose tool calls are still carried out. */
	turns?: number;
	/** US dollars. Spent as soon as reached: the last request may exceed it. */
	cost?: number;
	/** ms. */
	time?: number;
}

/**
 * Ends the run of a session when a limit is reached: turns and cost after a turn, whose tool results are in the log, time at once. A
 * run that ends on its own with its last turn has reached nothing.
 */
export class RunWatch {
	readonly #startCost: number;
	readonly #release: () => void;
	#turns = 0;
	#reached: string | null = null;

	constructor(
		private readonly session: AgentSession,
		private readonly limits: RunLimits,
		/** Whether a reply without calls may be followed by another one, which mends it. */
		goesOn = false,
	) {
		// Counting reads the complete session.
		this.#startCost = limits.cost === undefined ? 0 : session.stats().cost;
		const unsubscribe = session.subscribe((event) => {
			if (event.type !== "turn_end") return;
			this.#turns++;
			if (event.message.role === "assistant" && (goesOn || hasToolCalls(event.message))) this.#check();
		});
		const { time } = limits;
		const timer =
			time === undefined ? undefined : setTimeout(() => this.#end(`${formatDuration(time)} (--max-time)`), time);
		this.#release = () => {
			unsubscribe();
			clearTimeout(timer);
		};
	}

	/** Whether a limit is reached, so that the next prompt must not begin. */
	isOver(): boolean {
		this.#check();
		return this.#reached !== null;
	}

	/** Which limit is reached, in words; null for none. */
	get reached(): string | null {
		return this.#reached;
	}

	release(): void {
		this.#release();
	}

	#check(): void {
		const { turns, cost } = this.limits;
		if (turns !== undefined && this.#turns >= turns)
			this.#end(`${turns === 1 ? "1 turn" : `${turns} turns`} (--max-turns)`);
		if (cost === undefined) return;
		const spent = this.session.stats().cost - this.#startCost;
		if (spent >= cost) this.#end(`${formatCost(spent)} of ${formatCost(cost)} (--max-cost)`);
	}

	#end(reached: string): void {
		this.#reached ??= reached;
		void this.session.abort();
	}
}

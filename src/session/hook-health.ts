import type { HookFigures } from "../commands/inspection.js";
import type { HookError } from "../errors.js";
import type { HookCallReport } from "../hooks/runner.js";
import type { AgentSessionEvent } from "./events.js";

/** Durations that are kept of each hook. */
const KEPT_CALLS = 500;

interface HookRecord {
	calls: number;
	events: Map<string, number>;
	durationsMs: number[];
	timeouts: number;
	blocks: number;
	lastError: string | null;
	isUnstable: boolean;
}

/** Takes down how hooks do. Hooks are known by their paths, so figures go on over a reload. */
export class HookHealth {
	readonly #records = new Map<string, HookRecord>();

	/** A handler or a command has been called and is done. */
	recordCall({ hookPath, event, ms, outcome }: HookCallReport): void {
		const record = this.#record(hookPath);
		record.durationsMs[record.calls % KEPT_CALLS] = ms;
		record.calls++;
		record.events.set(event, (record.events.get(event) ?? 0) + 1);
		if (outcome === "timed_out") record.timeouts++;
		if (outcome === "blocked") record.blocks++;
	}

	recordError({ hookPath, event, reason }: HookError): void {
		this.#record(hookPath).lastError = `${event}: ${reason}`;
	}

	/** @returns true when this was not known of the hook */
	markUnstable(hookPath: string): boolean {
		const record = this.#record(hookPath);
		const isNew = !record.isUnstable;
		record.isUnstable = true;
		return isNew;
	}

	/** The figures of a hook as they are now. */
	figures(hookPath: string): HookFigures {
		const { calls, events, durationsMs, timeouts, blocks, lastError, isUnstable } = this.#record(hookPath);
		const sorted = [...durationsMs].sort((a, b) => a - b);
		return {
			calls,
			events: Object.fromEntries(events),
			p50Ms: percentile(sorted, 0.5),
			p95Ms: percentile(sorted, 0.95),
			timeouts,
			blocks,
			lastError,
			isUnstable,
		};
	}

	#record(hookPath: string): HookRecord {
		const known = this.#records.get(hookPath);
		if (known) return known;
		const record: HookRecord = {
			calls: 0,
			events: new Map(),
			durationsMs: [],
			timeouts: 0,
			blocks: 0,
			lastError: null,
			isUnstable: false,
		};
		this.#records.set(hookPath, record);
		return record;
	}
}

/** The least value that at least `share` of all are not above; null of none. */
function percentile(sorted: readonly number[], share: number): number | null {
	return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? null;
}

/** A handler that runs for so long is told of, ms. */
const LONG_MS = 250;

/** Tells of handlers that keep the session waiting. Of those that are quick nobody hears. */
export class LongCalls {
	/** @param emit hears that a handler runs long, and later that it is done */
	constructor(
		private readonly emit: (event: Extract<AgentSessionEvent, { type: "hook_running" | "hook_done" }>) => void,
	) {}

	/** A handler begins. @returns what to call when it is done */
	begin(hookPath: string, event: string): () => void {
		let isTold = false;
		const timer = setTimeout(() => {
			isTold = true;
			this.emit({ type: "hook_running", hookPath, event, ms: LONG_MS });
		}, LONG_MS);
		timer.unref();
		return () => {
			clearTimeout(timer);
			if (isTold) this.emit({ type: "hook_done", hookPath, event });
		};
	}
}

import type { HookFigures } from "../../commands/inspection.js";
import type { HookError } from "../../errors.js";
import type { HookCallReport } from "../../hooks/handler-calls.js";
import type { AgentSessionEvent } from "../events.js";

/** Number of recent durations kept for each hook. */
const MAX_DURATIONS = 500;
/** Drawing a component for longer than this delays the frame, ms. */
const FRAME_MS = 16;

interface HookRecord {
	calls: number;
	events: Map<string, number>;
	durationsMs: number[];
	timeouts: number;
	blocks: number;
	lastError: HookFigures["lastError"];
	lastPlace: HookFigures["lastPlace"];
	lastStack: HookFigures["lastStack"];
	isUnstable: boolean;
	drawsMs: number[];
	draws: number;
}

/** Records calls, timings and errors of hooks, by path: the figures continue across reloads. */
export class HookHealth {
	readonly #records = new Map<string, HookRecord>();

	recordCall({ hookPath, event, ms, outcome }: HookCallReport): void {
		const record = this.#record(hookPath);
		record.durationsMs[record.calls % MAX_DURATIONS] = ms;
		record.calls++;
		record.events.set(event, (record.events.get(event) ?? 0) + 1);
		if (outcome === "timed_out") record.timeouts++;
		if (outcome === "blocked") record.blocks++;
	}

	/** Records a tool call that it blocked in another way than with its answer. */
	recordBlock(hookPath: string): void {
		this.#record(hookPath).blocks++;
	}

	/** Records how long a component, tool call, result or entry took to draw. */
	recordDraw(hookPath: string, ms: number): void {
		const record = this.#record(hookPath);
		record.drawsMs[record.draws % MAX_DURATIONS] = ms;
		record.draws++;
	}

	/** @param verbose keeps the stack trace */
	recordError({ hookPath, event, reason, place, trace }: HookError, verbose: boolean): void {
		const record = this.#record(hookPath);
		record.lastError = `${event}: ${reason}`;
		record.lastPlace = place;
		record.lastStack = verbose ? trace : null;
	}

	/** @returns true the first time */
	markUnstable(hookPath: string): boolean {
		const record = this.#record(hookPath);
		const isNew = !record.isUnstable;
		record.isUnstable = true;
		return isNew;
	}

	/** The current figures of a hook; a snapshot. */
	figures(hookPath: string): HookFigures {
		const { durationsMs, drawsMs, draws: _, ...record } = this.#record(hookPath);
		const sorted = [...durationsMs].sort((a, b) => a - b);
		return {
			...record,
			events: Object.fromEntries(record.events),
			p50Ms: percentile(sorted, 0.5),
			p95Ms: percentile(sorted, 0.95),
			slowDrawMs: drawsMs.some((ms) => ms > FRAME_MS)
				? percentile(
						[...drawsMs].sort((a, b) => a - b),
						0.95,
					)
				: null,
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
			lastPlace: null,
			lastStack: null,
			isUnstable: false,
			drawsMs: [],
			draws: 0,
		};
		this.#records.set(hookPath, record);
		return record;
	}
}

/** The smallest value that at least `share` of all values do not exceed; null for an empty list. */
function percentile(sorted: readonly number[], share: number): number | null {
	return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? null;
}

/** Handlers that run longer are reported, ms. */
const LONG_MS = 250;

/** Reports handlers that keep the session waiting for more than `LONG_MS`. */
export class LongCalls {
	/** @param emit receives `hook_running`, and `hook_done` when the handler returns */
	constructor(
		private readonly emit: (event: Extract<AgentSessionEvent, { type: "hook_running" | "hook_done" }>) => void,
	) {}

	/** Call when a handler starts. @returns a function to call when it returns */
	begin(hookPath: string, event: string): () => void {
		let isReported = false;
		const timer = setTimeout(() => {
			isReported = true;
			this.emit({ type: "hook_running", hookPath, event, ms: LONG_MS });
		}, LONG_MS);
		timer.unref();
		return () => {
			clearTimeout(timer);
			if (isReported) this.emit({ type: "hook_done", hookPath, event });
		};
	}
}

import { type HookError, inspectable, PiError } from "../errors.js";
import { monotonicMs } from "../util/clock.js";
import { createHookContext, type HookSession } from "./context-object.js";
import type { HookCallReport } from "./handler-calls.js";
import type { HookCall } from "./hook-call.js";
import type { LoadedHook } from "./hook-registry.js";
import { isPartOfPi } from "./hook-scope.js";
import { createHookError } from "./source-position.js";
import type { BusHandler } from "./types.js";
import type { HandlerWatch } from "./watchdog.js";

/** How often handlers of an event may emit it again within one another. */
const MAX_DEPTH = 20;
/** How often an event may be emitted before pi handles input and timers again: handlers can also continue in promises. */
const MAX_PER_TURN = 10_000;

export interface EventBusOptions {
	/** The running hooks, in load order. */
	hooks(): readonly LoadedHook[];
	host: HookSession;
	/** Detects handlers that block the event loop. */
	watch?: HandlerWatch;
	/** In ms, for `watch`; read again for each call. */
	hookTimeoutMs(): number;
	/** Called after each call of a handler. */
	onCall(report: HookCallReport): void;
	/** Receives each failure of a handler. */
	onError(error: HookError): void;
}

/** Passes events between the hooks of one session, for `pi.events`. */
export class EventBus {
	/** Running and recent emissions of each event, until the next turn of the event loop. */
	readonly #turn = new Map<string, { depth: number; count: number; isRefused: boolean }>();

	constructor(private readonly options: EventBusOptions) {}

	/**
	 * Calls the handlers of an event, in load order. A failure is reported and does not stop the others. Does nothing for a
	 * hook that does not run: while it loads, or while it is off.
	 * @throws PiError `hook_failed` when handlers emit the event in an endless chain
	 */
	emit(from: LoadedHook, name: string, data: unknown): void {
		const hooks = this.options.hooks();
		if (!hooks.includes(from)) return;
		const turn = this.#enter(name);
		if (!turn) return;
		const called = hooks.flatMap((hook) => [...(hook.busHandlers.get(name) ?? [])].map((record) => ({ hook, record })));
		try {
			for (const { hook, record } of called) {
				// An earlier handler may have removed it or unloaded its hook.
				if (hook.active && hook.busHandlers.get(name)?.has(record)) this.#call(hook, name, record.handler, data);
			}
		} finally {
			turn.depth--;
		}
	}

	/** Counts an emission. @returns null when it must be ignored, because an endless chain was reported */
	#enter(name: string): { depth: number } | null {
		if (this.#turn.size === 0) setImmediate(() => this.#endTurn());
		const turn = this.#turn.get(name) ?? { depth: 0, count: 0, isRefused: false };
		this.#turn.set(name, turn);
		if (turn.isRefused) return null;
		turn.isRefused = turn.depth >= MAX_DEPTH || turn.count >= MAX_PER_TURN;
		if (turn.isRefused) {
			const times = turn.depth >= MAX_DEPTH ? `${MAX_DEPTH} levels deep` : `${MAX_PER_TURN} times in a row`;
			throw new PiError("hook_failed", `the event ${JSON.stringify(name)} is emitted ${times}`, {
				hint: "do not emit an event in its own handler without an end",
			});
		}
		turn.depth++;
		turn.count++;
		return turn;
	}

	#endTurn(): void {
		this.#turn.clear();
	}

	#call(hook: LoadedHook, name: string, handler: BusHandler, data: unknown): void {
		const { host, watch, hookTimeoutMs, onCall, onError } = this.options;
		const event = `event ${name}`;
		const call: HookCall = {
			hook,
			event,
			signal: hook.unloaded.signal,
			deadline: null,
			effects: true,
			defersRebuild: false,
		};
		const startedAt = monotonicMs();
		const end = (outcome: HookCallReport["outcome"]) =>
			onCall({ hookPath: hook.path, event, ms: monotonicMs() - startedAt, outcome });
		const fail = (thrown: unknown) => {
			end("failed");
			onError(createHookError("hook_failed", hook, event, inspectable(thrown), handler));
		};
		const isOwn = isPartOfPi(hook);
		const leave = isOwn ? undefined : watch?.enter(`hook ${hook.path} in ${event}`, hookTimeoutMs());
		try {
			const answer: unknown = host.enter(hook, () => handler(data, createHookContext(host, call)));
			if (answer instanceof Promise) answer.then(() => end("done"), fail);
			else end("done");
		} catch (thrown) {
			fail(thrown);
		} finally {
			leave?.();
		}
	}
}

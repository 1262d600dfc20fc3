import { errorText, type HookError, inspectable, PiError } from "../errors.js";
import { abortable, linkSignals } from "../util/abort.js";
import { monotonicMs } from "../util/clock.js";
import { CallClock } from "./call-clock.js";
import { type CheckedAnswer, checkAnswer, stops } from "./check-answer.js";
import { createHookContext, type HookSession } from "./context-object.js";
import { Deadline } from "./deadline.js";
import { EVENTS, type EventsThatCombine, type HandlerTimes, handlerTimes } from "./events.js";
import type { HookCall } from "./hook-call.js";
import type { HookRegistry, LoadedHook, Registration } from "./hook-registry.js";
import { isPartOfPi } from "./hook-scope.js";
import { createPureContext } from "./pure-context.js";
import { createHookError } from "./source-position.js";
import type { HandlerContext, HookEventName, HookEvents, HookResults } from "./types.js";
import type { HandlerWatch } from "./watchdog.js";

export interface HookCallOptions {
	registry: HookRegistry;
	host: HookSession;
	/** In ms; read again for each call. */
	hookTimeoutMs(): number;
	/** True if the contexts are only tried: `event.trial`. Default: false. */
	isTrial?: boolean;
	/** Receives each failure of a handler or command, and each rejected answer. */
	onError(error: HookError): void;
	/** Detects handlers that block the event loop. */
	watch?: HandlerWatch;
	/** Called when a handler starts. @returns a function that is called when it is done */
	onBegin?(hookPath: string, event: string): () => void;
	/** Called after each call. */
	onCall?(report: HookCallReport): void;
	/** Called when a hook blocks a tool call in another way than with its answer. */
	onBlock?(hookPath: string): void;
}

/** A finished call of a handler or command. */
export interface HookCallReport {
	hookPath: string;
	/** Name of the event, or `/name` of a command. */
	event: string;
	/** Without the time that a dialog was open. */
	ms: number;
	/** `blocked`: it stopped a tool call, a request or a session change. */
	outcome: "done" | "blocked" | "failed" | "timed_out" | "aborted";
}

/** The result of one call: the checked answer, or an error that blocks. */
export interface CallResult<N extends HookEventName> extends Registration<N> {
	/** Undefined without an answer, and for one that is malformed and stops nothing. */
	answer?: HookResults[N] | undefined;
	/** What is wrong with the answer; it is reported already. */
	problem?: string;
	/** Set for a handler that threw or timed out, unless an abort ended it. */
	failure?: { error: unknown };
}

/** Calls handlers one after another, with the deadlines and error policy of the table in events.ts. */
export class HandlerCalls {
	constructor(private readonly options: HookCallOptions) {}

	get registry(): HookRegistry {
		return this.options.registry;
	}

	/** Calls handlers in order until one of them decides. @returns its decision; null if none decided */
	async first<N extends EventsThatCombine<"first">, D>(
		name: N,
		event: HookEvents[N],
		signal: AbortSignal,
		decide: (called: CallResult<N>) => D | null,
	): Promise<D | null> {
		const handlers = this.registry.handlers(name);
		const times = this.times(event, handlers.length);
		for (const registration of handlers) {
			const decision = decide(await this.call(registration, event, signal, times));
			if (decision !== null) return decision;
		}
		return null;
	}

	/**
	 * Passes the state through the handlers until one of them decides.
	 * @returns the decision, or the state after the last handler
	 */
	async gate<N extends EventsThatCombine<"gate">, S, D>(
		name: N,
		start: S,
		eventWith: (state: S) => HookEvents[N],
		signal: AbortSignal,
		next: (called: CallResult<N>, state: S) => Promise<{ decision: D } | { state: S }>,
	): Promise<{ decision: D } | { state: S }> {
		let state = start;
		const handlers = this.registry.handlers(name);
		const times = this.times(eventWith(state), handlers.length);
		for (const registration of handlers) {
			const result = await next(await this.call(registration, eventWith(state), signal, times), state);
			if ("decision" in result) return result;
			state = result.state;
		}
		return { state };
	}

	/** Passes the state through all handlers. @returns the state after the last one */
	async chain<N extends EventsThatCombine<"chain">, S>(
		name: N,
		start: S,
		eventWith: (state: S) => HookEvents[N],
		signal: AbortSignal,
		next: (called: CallResult<N>, state: S) => S,
	): Promise<S> {
		let state = start;
		const handlers = this.registry.handlers(name);
		const times = this.times(eventWith(state), handlers.length);
		for (const registration of handlers) {
			state = next(await this.call(registration, eventWith(state), signal, times), state);
		}
		return state;
	}

	/** Calls one handler according to the policy of its event. Never rejects. */
	async call<N extends HookEventName>(
		registration: Registration<N>,
		event: HookEvents[N],
		signal: AbortSignal,
		times: HandlerTimes,
	): Promise<CallResult<N>> {
		const { hook, handler } = registration;
		const policy = EVENTS[event.type];
		const clock = new CallClock();
		let outcome: HookCallReport["outcome"] = "done";
		const limitMs = times.next();
		const own = new AbortController();
		const linked = linkSignals(signal, own.signal);
		let deadline: Deadline | null = null;
		const expired = new Promise<never>((_, reject) => {
			if (limitMs === null) return;
			deadline = new Deadline(limitMs, () => {
				reject(new PiError("hook_timeout", `timed out after ${Math.round(limitMs)} ms`));
				own.abort();
			});
		});
		expired.catch(() => {});
		const call: HookCall = {
			hook,
			event: event.type,
			signal: linked.signal,
			// pi is exiting: nothing extends the limit.
			deadline: event.type === "session" && event.reason === "shutdown" ? null : deadline,
			clock,
			effects: policy.effects,
			defersRebuild: policy.defersRebuild,
			holdsRun: policy.holdsRun,
		};
		const leave = this.enter(hook, event.type);
		const end = this.options.onBegin?.(hook.path, event.type);
		const { host } = this.options;
		// Extensions have handlers of another contract, which receive all of the session.
		const isPure = event.type === "context" && hook.kind !== "extension";
		const context = isPure ? createPureContext({ cwd: host.cwd, signal: call.signal }) : createHookContext(host, call);
		const answer = host.enter(hook, async () => handler(event, context as HandlerContext<N>));
		try {
			const given: unknown = await Promise.race([abortable(answer, signal), expired]);
			const checked = checkAnswer<N>(event, given);
			const blocks = checked.problem !== null && policy.onError === "block";
			if (blocks || stops(checked.answer)) outcome = "blocked";
			if (checked.problem === null) return { ...registration, answer: checked.answer };
			this.report(hook, event.type, withConsequence(checked, blocks), handler);
			return { ...registration, answer: checked.answer, problem: checked.problem };
		} catch (thrown) {
			const error = inspectable(thrown);
			outcome = signal.aborted ? "aborted" : isTimeout(error) ? "timed_out" : "failed";
			if (!signal.aborted) this.report(hook, event.type, error, handler);
			if (outcome === "timed_out") answer.catch((late: unknown) => this.#reportLate(hook, event.type, late, handler));
			return { ...registration, failure: { error } };
		} finally {
			leave();
			end?.();
			(deadline as Deadline | null)?.clear();
			linked.unlink();
			this.options.onCall?.({ hookPath: hook.path, event: event.type, ms: clock.ms, outcome });
		}
	}

	/** Counts a block that the outcome of a call does not show. */
	recordBlock({ path }: LoadedHook): void {
		this.options.onBlock?.(path);
	}

	/** The time limits of the next `count` handlers. */
	times(event: HookEvents[HookEventName], count: number): HandlerTimes {
		return handlerTimes(event, { count, hookTimeoutMs: this.options.hookTimeoutMs(), now: monotonicMs });
	}

	/** Starts to watch a call. @returns a function that is called when it is done */
	enter(hook: LoadedHook, event: string): () => void {
		const { watch, hookTimeoutMs } = this.options;
		// Hooks of pi need no watchdog, whose thread every start would wait for.
		return watch && !isPartOfPi(hook) ? watch.enter(`hook ${hook.path} in ${event}`, hookTimeoutMs()) : () => {};
	}

	/** Reports an error thrown after the timeout, unless it only says that the handler was aborted by it. */
	#reportLate(hook: LoadedHook, event: string, thrown: unknown, handler: object): void {
		const error = inspectable(thrown);
		if (error instanceof Error && error.name === "AbortError") return;
		const late = new Error(`failed after its timeout: ${errorText(error)}`);
		if (error instanceof Error && error.stack !== undefined) late.stack = error.stack;
		this.report(hook, event, late, handler);
	}

	/**
	 * Reports a failure of a handler or command, or a rejected answer.
	 * @param handler what failed, as it was registered: the place of an error without a position
	 */
	report(hook: LoadedHook, event: string, cause: unknown, handler: object): HookError {
		const error = createHookError(isTimeout(cause) ? "hook_timeout" : "hook_failed", hook, event, cause, handler);
		this.options.onError(error);
		return error;
	}
}

function isTimeout(error: unknown): boolean {
	return error instanceof PiError && error.code === "hook_timeout";
}

/** A problem of an answer with what pi does about it. */
function withConsequence({ answer, problem }: CheckedAnswer<HookEventName>, blocks: boolean): string {
	if (blocks) return `${problem}; the call is blocked`;
	return answer === undefined ? `${problem}; the answer was ignored` : `${problem}; the rest of the answer counts`;
}

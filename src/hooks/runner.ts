import type { ImageContent, TextContent } from "@mariozechner/pi-ai";
import type { ContextStage } from "../context/build-context.js";
import type { ContextMessage } from "../context/context-message.js";
import { errorText, type HookError, inspectable, locate, PiError } from "../errors.js";
import type { SessionEntry } from "../log/entry.js";
import { abortable, linkSignals } from "../util/abort.js";
import { checkAttachments, isCommandResult, isContent, isStop, jsonCopy, reasonOf } from "./answers.js";
import { Deadline } from "./deadline.js";
import { EVENTS, type EventsThatCombine, type HandlerTimes, handlerTimes, SESSION_REASONS } from "./events.js";
import type { HookCall } from "./hook-call.js";
import { createCommandContext, createHookContext, type HookHost } from "./host-context.js";
import type { HookRegistry, LoadedHook, Registration } from "./registry.js";
import { createHookError } from "./source-place.js";
import type {
	BeforeRequestEvent,
	CommandResult,
	CompletionItem,
	HookEventName,
	HookEvents,
	HookResults,
	SessionEvent,
	SessionEventResult,
	ToolCallEvent,
	ToolResultEvent,
} from "./types.js";
import type { HandlerWatch } from "./watchdog.js";

export interface HookRunnerOptions {
	registry: HookRegistry;
	host: HookHost;
	/** In ms; read again for each call. */
	hookTimeoutMs(): number;
	/** Receives each failure of a handler or command, and each rejected answer. */
	onError(error: HookError): void;
	/** Detects handlers that block the event loop. */
	watch?: HandlerWatch;
	/** Called when a handler starts. @returns a function that is called when it is done */
	onBegin?(hookPath: string, event: string): () => void;
	/** Called after each call. */
	onCall?(report: HookCallReport): void;
}

/** A finished call of a handler or command. */
export interface HookCallReport {
	hookPath: string;
	/** Name of the event, or `/name` of a command. */
	event: string;
	ms: number;
	/** `blocked`: it stopped a tool call, a request or a session change. */
	outcome: "done" | "blocked" | "failed" | "timed_out" | "aborted";
}

/** The merged answers of all `session` handlers. */
export interface SessionAnswer extends SessionEventResult {
	/** Name of the hook that canceled; set together with `cancel`. */
	canceledBy?: string;
	/** Name of the hook that provided `compactionEntry`. */
	compactedBy?: string;
}

type Changes = Partial<Pick<ToolResultFields, "content" | "details">>;

/** The result of one call: the answer, or an error that blocks. */
interface CallResult<N extends HookEventName> extends Registration<N> {
	answer?: HookResults[N] | undefined;
	/** Set only for events whose errors block. */
	failure?: { error: unknown };
}

/** The fields of a tool result that handlers can change. */
export interface ToolResultFields {
	content: (TextContent | ImageContent)[];
	details: unknown;
	isError: boolean;
}

/** Calls all handlers, with the order, deadlines and error policy of the table in events.ts. */
export class HookRunner {
	constructor(private readonly options: HookRunnerOptions) {}

	get registry(): HookRegistry {
		return this.options.registry;
	}

	/** Runs the handlers of an event that ignores answers, in order. */
	async emit(event: HookEvents[EventsThatCombine<"none">], signal: AbortSignal): Promise<void> {
		const handlers = this.registry.handlers(event.type);
		const times = this.#times(event, handlers.length);
		for (const registration of handlers) await this.#call(registration, event, signal, times);
	}

	/** Runs `session` handlers in order; the first `cancel` ends the chain. @returns their merged answers */
	async emitSession(event: SessionEvent, signal: AbortSignal): Promise<SessionAnswer> {
		const read: ReadonlySet<string> = new Set(SESSION_REASONS[event.reason].reads);
		const merged: SessionAnswer = {};
		const canceled = await this.#first("session", event, signal, ({ hook, answer }) => {
			if (typeof answer !== "object" || answer === null) return null;
			if (read.has("cancel") && answer.cancel === true) return { ...merged, cancel: true, canceledBy: hook.name };
			if (read.has("skipConversationRestore") && answer.skipConversationRestore === true)
				merged.skipConversationRestore = true;
			if (read.has("compactionEntry") && answer.compactionEntry) {
				merged.compactionEntry = answer.compactionEntry;
				merged.compactedBy = hook.name;
			}
			return null;
		});
		return canceled ?? merged;
	}

	/** Asks `before_request` handlers. @returns the reason of the first stop, or null */
	gateRequest(event: BeforeRequestEvent, signal: AbortSignal): Promise<string | null> {
		return this.#first("before_request", event, signal, ({ hook, handler, answer }) => {
			const given: unknown = answer;
			if (given === undefined || given === null) return null;
			if (isStop(given)) return reasonOf(given) ?? `Stopped by hook ${hook.name}`;
			const isKnown = typeof given === "object" && "action" in given && given.action === "continue";
			if (!isKnown)
				this.#report(hook, event.type, 'the action must be "continue" or "stop"; the request is sent', handler);
			return null;
		});
	}

	/** Asks `tool_call` handlers. @returns the reason of the first block, or null. A handler that throws blocks. */
	gateToolCall(event: ToolCallEvent, signal: AbortSignal): Promise<string | null> {
		return this.#first("tool_call", event, signal, ({ hook, answer, failure }) => {
			if (failure && signal.aborted) return "aborted: the user stopped the run";
			if (failure) return `Blocked: hook ${hook.name} failed: ${errorText(failure.error)}`;
			return isStop(answer) ? (reasonOf(answer) ?? `Blocked by hook ${hook.name}`) : null;
		});
	}

	/** Chains `tool_result` handlers: each receives the result of the one before it. */
	changeToolResult(event: ToolResultEvent, signal: AbortSignal): Promise<ToolResultFields> {
		const start: ToolResultFields = { content: [...event.content], details: event.details, isError: event.isError };
		const eventWith = ({ content, details, isError }: ToolResultFields) =>
			({ ...event, content: Object.freeze([...content]), details, isError }) as ToolResultEvent;
		return this.#chain("tool_result", start, eventWith, signal, ({ hook, handler, answer }, current) => {
			if (typeof answer !== "object" || answer === null) return current;
			if (answer.content !== undefined && !isContent(answer.content)) {
				this.#report(
					hook,
					event.type,
					"content must be a list of text and image blocks; the answer was ignored",
					handler,
				);
				return current;
			}
			try {
				const { content, details } = jsonCopy({ content: answer.content, details: answer.details }) as Changes;
				return {
					content: content ?? current.content,
					details: details === undefined ? current.details : details,
					isError: typeof answer.isError === "boolean" ? answer.isError : current.isError,
				};
			} catch (error) {
				this.#report(hook, event.type, `${errorText(error)}; the answer was ignored`, handler);
				return current;
			}
		});
	}

	/**
	 * `context` handlers as stages of the context pipeline, which chains and checks their answers.
	 * @param entries called only if a handler reads `event.entries`
	 * @param hasType whether an entry has one of these types, for hooks that need one
	 */
	contextStages(
		entries: () => readonly SessionEntry[],
		signal: AbortSignal,
		hasType: (types: readonly string[]) => boolean = (types) => entries().some(({ type }) => types.includes(type)),
	): ContextStage[] {
		const eventWith = (messages: readonly ContextMessage[]) => ({
			type: "context" as const,
			messages,
			get entries() {
				return entries();
			},
		});
		const handlers = this.registry
			.handlers("context")
			.filter(({ hook }) => hook.contextTypes === undefined || hasType(hook.contextTypes));
		return handlers.map((registration) => ({
			hook: registration.hook.path,
			transform: async (messages) => {
				const event = eventWith(messages);
				return (await this.#call(registration, event, signal, this.#times(event, 1))).answer;
			},
		}));
	}

	/**
	 * Runs a hook's command, without a time limit.
	 * @returns its answer; undefined if none exists
	 * @throws PiError `command_failed` if the handler throws
	 */
	async runCommand(name: string, argsRaw: string, signal: AbortSignal): Promise<CommandResult | undefined> {
		const found = this.registry.command(name);
		if (!found) throw new PiError("command_failed", `Unknown command /${name}`);
		const { hook, options } = found;
		const call: HookCall = { hook, event: `/${name}`, signal, deadline: null, effects: true, defersRebuild: false };
		const startedAt = performance.now();
		let outcome: HookCallReport["outcome"] = "done";
		const leave = this.#enter(hook, call.event);
		try {
			const answer = await abortable(
				Promise.resolve(options.handler(createCommandContext(this.options.host, call, argsRaw))),
				signal,
			);
			if (!isCommandResult(answer)) return undefined;
			if (typeof answer === "object" && "prompt" in answer) checkAttachments(answer.attachments ?? []);
			return answer;
		} catch (thrown) {
			const error = inspectable(thrown);
			outcome = signal.aborted ? "aborted" : "failed";
			if (signal.aborted) return undefined;
			const { place } = this.#report(hook, `/${name}`, error, options);
			const { subject, at } = locate({ hookPath: hook.path, ...place }, hook.path);
			const hint = error instanceof PiError && error.hint !== undefined ? { hint: error.hint } : {};
			throw new PiError("command_failed", `/${name} of ${subject} failed${at}: ${errorText(error)}`, {
				cause: error,
				...hint,
			});
		} finally {
			leave();
			this.options.onCall?.({ hookPath: hook.path, event: `/${name}`, ms: performance.now() - startedAt, outcome });
		}
	}

	/** Suggestions of a command for its arguments; empty if it has no `complete` or that fails. */
	async complete(name: string, prefix: string, signal: AbortSignal): Promise<CompletionItem[]> {
		const found = this.registry.command(name);
		if (!found?.options.complete) return [];
		const { hook, options } = found;
		const call: HookCall = { hook, event: `/${name}`, signal, deadline: null, effects: false, defersRebuild: false };
		const leave = this.#enter(hook, call.event);
		try {
			const items = await options.complete?.(prefix, createHookContext(this.options.host, call));
			return Array.isArray(items) ? items.filter((item) => typeof item?.value === "string") : [];
		} catch (thrown) {
			this.#report(hook, `/${name} completion`, inspectable(thrown), options);
			return [];
		} finally {
			leave();
		}
	}

	/** Calls handlers in order until one of them decides. @returns its decision; null if none decided */
	async #first<N extends EventsThatCombine<"first">, D>(
		name: N,
		event: HookEvents[N],
		signal: AbortSignal,
		decide: (called: CallResult<N>) => D | null,
	): Promise<D | null> {
		const handlers = this.registry.handlers(name);
		const times = this.#times(event, handlers.length);
		for (const registration of handlers) {
			const decision = decide(await this.#call(registration, event, signal, times));
			if (decision !== null) return decision;
		}
		return null;
	}

	/** Passes the state through all handlers. @returns the state after the last one */
	async #chain<N extends EventsThatCombine<"chain">, S>(
		name: N,
		start: S,
		eventWith: (state: S) => HookEvents[N],
		signal: AbortSignal,
		next: (called: CallResult<N>, state: S) => S,
	): Promise<S> {
		let state = start;
		const handlers = this.registry.handlers(name);
		const times = this.#times(eventWith(state), handlers.length);
		for (const registration of handlers) {
			state = next(await this.#call(registration, eventWith(state), signal, times), state);
		}
		return state;
	}

	/** Calls one handler according to the policy of its event. Never rejects. */
	async #call<N extends HookEventName>(
		registration: Registration<N>,
		event: HookEvents[N],
		signal: AbortSignal,
		times: HandlerTimes,
	): Promise<CallResult<N>> {
		const { hook, handler } = registration;
		const policy = EVENTS[event.type];
		const startedAt = performance.now();
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
			deadline,
			effects: policy.effects,
			defersRebuild: policy.defersRebuild,
		};
		const leave = this.#enter(hook, event.type);
		const end = this.options.onBegin?.(hook.path, event.type);
		const context = createHookContext(this.options.host, call);
		const answer = (async () => handler(event, context))();
		try {
			const given = await Promise.race([abortable(answer, signal), expired]);
			if (isStop(given)) outcome = "blocked";
			return { ...registration, answer: given };
		} catch (thrown) {
			const error = inspectable(thrown);
			outcome = signal.aborted ? "aborted" : isTimeout(error) ? "timed_out" : "failed";
			if (!signal.aborted) this.#report(hook, event.type, error, handler);
			if (outcome === "timed_out") answer.catch((late: unknown) => this.#reportLate(hook, event.type, late, handler));
			return policy.onError === "block" ? { ...registration, failure: { error } } : registration;
		} finally {
			leave();
			end?.();
			(deadline as Deadline | null)?.clear();
			linked.unlink();
			this.options.onCall?.({ hookPath: hook.path, event: event.type, ms: performance.now() - startedAt, outcome });
		}
	}

	#times(event: HookEvents[HookEventName], count: number): HandlerTimes {
		return handlerTimes(event, { count, hookTimeoutMs: this.options.hookTimeoutMs(), now: () => performance.now() });
	}

	#enter({ path, scope }: LoadedHook, event: string): () => void {
		const { watch, hookTimeoutMs } = this.options;
		// Built-in and bundled hooks are part of pi: they need no watchdog, whose thread every start would wait for.
		return watch && scope !== "builtin" && scope !== "bundled"
			? watch.enter(`hook ${path} in ${event}`, hookTimeoutMs())
			: () => {};
	}

	/** Reports an error thrown after the timeout, unless it only says that the handler was aborted by it. */
	#reportLate(hook: LoadedHook, event: string, thrown: unknown, handler: object): void {
		const error = inspectable(thrown);
		if (error instanceof Error && error.name === "AbortError") return;
		const late = new Error(`failed after its timeout: ${errorText(error)}`);
		if (error instanceof Error && error.stack !== undefined) late.stack = error.stack;
		this.#report(hook, event, late, handler);
	}

	/** @param handler what failed, as it was registered */
	#report(hook: LoadedHook, event: string, cause: unknown, handler: object): HookError {
		const code = isTimeout(cause) ? "hook_timeout" : "hook_failed";
		const error = createHookError(code, hook, event, cause, handler);
		this.options.onError(error);
		return error;
	}
}

function isTimeout(error: unknown): boolean {
	return error instanceof PiError && error.code === "hook_timeout";
}

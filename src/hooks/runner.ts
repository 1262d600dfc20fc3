import type { ImageContent, TextContent } from "@mariozechner/pi-ai";
import type { ContextStage } from "../context/build-context.js";
import type { ContextMessage } from "../context/context-message.js";
import { errorText, HookError, inspectable, PiError } from "../errors.js";
import type { SessionEntry } from "../log/entry.js";
import { abortable, linkSignals } from "../util/abort.js";
import { isCommandResult, isContent, isStop, reasonOf } from "./answers.js";
import { Deadline } from "./deadline.js";
import { EVENTS, type EventsThatCombine, type HandlerTimes, handlerTimes, SESSION_REASONS } from "./events.js";
import { createCommandContext, createHookContext, type HookCall, type HookHost } from "./host-context.js";
import type { HookRegistry, LoadedHook, Registration } from "./registry.js";
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

/** What the runner is made with. */
export interface HookRunnerOptions {
	registry: HookRegistry;
	host: HookHost;
	/** ms; read anew for each call. */
	hookTimeoutMs(): number;
	/** Receives each failure of a handler or command, and each answer that is refused. */
	onError(error: HookError): void;
	/** Watches over handlers of hook files while they run. */
	watch?: HandlerWatch;
	/** Hears that a handler begins. @returns what is called when it is done */
	onBegin?(hookPath: string, event: string): () => void;
	/** Hears of each call when it is done. */
	onCall?(report: HookCallReport): void;
}

/** A call of a handler or a command that is done. */
export interface HookCallReport {
	hookPath: string;
	/** Name of the event, or `/name` of a command. */
	event: string;
	ms: number;
	/** `blocked`: it stopped a tool call, a request or what was to happen with the session. */
	outcome: "done" | "blocked" | "failed" | "timed_out" | "aborted";
}

/** What the handlers of a `session` event answered, taken together. */
export interface SessionAnswer extends SessionEventResult {
	/** Name of the hook that cancelled; set together with `cancel`. */
	cancelledBy?: string;
	/** Name of the hook whose compaction it is. */
	compactedBy?: string;
}

/** What became of one call: the answer, or the error that stands for a refusal. */
interface Called<N extends HookEventName> {
	hook: LoadedHook;
	answer?: HookResults[N] | undefined;
	/** Only for events whose error blocks. */
	failure?: { error: unknown };
}

/** What is left of a tool result when all handlers have seen it. */
export interface ToolResultFields {
	content: (TextContent | ImageContent)[];
	details: unknown;
	isError: boolean;
}

/** The one place where handlers are called: order, deadlines and errors as the table in events.ts says. */
export class HookRunner {
	constructor(private readonly options: HookRunnerOptions) {}

	get registry(): HookRegistry {
		return this.options.registry;
	}

	/** Runs handlers of an event whose answers are not read, one after another. */
	async emit(event: HookEvents[EventsThatCombine<"none">], signal: AbortSignal): Promise<void> {
		const handlers = this.registry.handlers(event.type);
		const times = this.#times(event, handlers.length);
		for (const registration of handlers) await this.#call(registration, event, signal, times);
	}

	/** Runs `session` handlers in order; the first `cancel` ends the chain. @returns what they answered, merged */
	async emitSession(event: SessionEvent, signal: AbortSignal): Promise<SessionAnswer> {
		const read: ReadonlySet<string> = new Set(SESSION_REASONS[event.reason].reads);
		const merged: SessionAnswer = {};
		const cancelled = await this.#first("session", event, signal, ({ hook, answer }) => {
			if (typeof answer !== "object" || answer === null) return null;
			if (read.has("cancel") && answer.cancel === true) return { ...merged, cancel: true, cancelledBy: hook.name };
			if (read.has("skipConversationRestore") && answer.skipConversationRestore === true)
				merged.skipConversationRestore = true;
			if (read.has("compactionEntry") && answer.compactionEntry) {
				merged.compactionEntry = answer.compactionEntry;
				merged.compactedBy = hook.name;
			}
			return null;
		});
		return cancelled ?? merged;
	}

	/** Asks `before_request` handlers. @returns the reason of the first stop, or null */
	gateRequest(event: BeforeRequestEvent, signal: AbortSignal): Promise<string | null> {
		return this.#first("before_request", event, signal, ({ hook, answer }) => {
			const given: unknown = answer;
			if (given === undefined || given === null) return null;
			if (isStop(given)) return reasonOf(given) ?? `Stopped by the hook ${hook.name}`;
			const isKnown = typeof given === "object" && "action" in given && given.action === "continue";
			if (!isKnown) this.#report(hook, event.type, 'the action must be "continue" or "stop"; the request is made');
			return null;
		});
	}

	/** Asks `tool_call` handlers. @returns the reason of the first block, or null. A handler that throws blocks. */
	gateToolCall(event: ToolCallEvent, signal: AbortSignal): Promise<string | null> {
		return this.#first("tool_call", event, signal, ({ hook, answer, failure }) => {
			if (failure && signal.aborted) return "aborted: the user stopped the run";
			if (failure) return `Blocked: the hook ${hook.name} failed: ${errorText(failure.error)}`;
			return isStop(answer) ? (reasonOf(answer) ?? `Blocked by the hook ${hook.name}`) : null;
		});
	}

	/** Chains `tool_result` handlers: each sees what the one before it left. */
	changeToolResult(event: ToolResultEvent, signal: AbortSignal): Promise<ToolResultFields> {
		const start: ToolResultFields = { content: [...event.content], details: event.details, isError: event.isError };
		const eventWith = ({ content, details, isError }: ToolResultFields) =>
			({ ...event, content: Object.freeze([...content]), details, isError }) as ToolResultEvent;
		return this.#chain("tool_result", start, eventWith, signal, ({ hook, answer }, parts) => {
			if (typeof answer !== "object" || answer === null) return parts;
			if (answer.content !== undefined && !isContent(answer.content)) {
				this.#report(hook, event.type, "content must be a list of text and image blocks; kept as it was");
				return parts;
			}
			return {
				content: answer.content ?? parts.content,
				details: answer.details === undefined ? parts.details : answer.details,
				isError: typeof answer.isError === "boolean" ? answer.isError : parts.isError,
			};
		});
	}

	/**
	 * `context` handlers as stages of the context pipeline, which chains and checks what they give.
	 * @param entries read only when a handler asks for them
	 */
	contextStages(entries: () => readonly SessionEntry[], signal: AbortSignal): ContextStage[] {
		const eventWith = (messages: readonly ContextMessage[]) => ({
			type: "context" as const,
			messages,
			get entries() {
				return entries();
			},
		});
		return this.registry.handlers("context").map((registration) => ({
			hook: registration.hook.path,
			transform: async (messages) => {
				const event = eventWith(messages);
				return (await this.#call(registration, event, signal, this.#times(event, 1))).answer;
			},
		}));
	}

	/**
	 * Runs a hook's command; no time limit.
	 * @returns what it answered; undefined for nothing
	 * @throws PiError `command_failed` when the handler throws
	 */
	async runCommand(name: string, argsRaw: string, signal: AbortSignal): Promise<CommandResult | undefined> {
		const found = this.registry.command(name);
		if (!found) throw new PiError("command_failed", `There is no command /${name}`);
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
			return isCommandResult(answer) ? answer : undefined;
		} catch (thrown) {
			const error = inspectable(thrown);
			outcome = signal.aborted ? "aborted" : "failed";
			if (signal.aborted) return undefined;
			this.#report(hook, `/${name}`, error);
			const hint = error instanceof PiError && error.hint !== undefined ? { hint: error.hint } : {};
			throw new PiError("command_failed", `/${name} of ${hook.path} failed: ${errorText(error)}`, {
				cause: error,
				...hint,
			});
		} finally {
			leave();
			this.options.onCall?.({ hookPath: hook.path, event: `/${name}`, ms: performance.now() - startedAt, outcome });
		}
	}

	/** Suggestions of a command for its arguments; none when it has no `complete` or it fails. */
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
			this.#report(hook, `/${name} completion`, inspectable(thrown));
			return [];
		} finally {
			leave();
		}
	}

	/** Asks handlers in order until one of them decides. @returns what it decided; null when none did */
	async #first<N extends EventsThatCombine<"first">, D>(
		name: N,
		event: HookEvents[N],
		signal: AbortSignal,
		decide: (called: Called<N>) => D | null,
	): Promise<D | null> {
		const handlers = this.registry.handlers(name);
		const times = this.#times(event, handlers.length);
		for (const registration of handlers) {
			const decision = decide(await this.#call(registration, event, signal, times));
			if (decision !== null) return decision;
		}
		return null;
	}

	/** Gives each handler what the one before it left. @returns what the last one left */
	async #chain<N extends EventsThatCombine<"chain">, S>(
		name: N,
		start: S,
		eventWith: (state: S) => HookEvents[N],
		signal: AbortSignal,
		take: (called: Called<N>, state: S) => S,
	): Promise<S> {
		let state = start;
		const handlers = this.registry.handlers(name);
		const times = this.#times(eventWith(state), handlers.length);
		for (const registration of handlers) {
			state = take(await this.#call(registration, eventWith(state), signal, times), state);
		}
		return state;
	}

	/** Calls one handler as the table says. Never rejects. */
	async #call<N extends HookEventName>(
		{ hook, handler }: Registration<N>,
		event: HookEvents[N],
		signal: AbortSignal,
		times: HandlerTimes,
	): Promise<Called<N>> {
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
		try {
			const context = createHookContext(this.options.host, call);
			const answer = (async () => handler(event, context))();
			const given = await Promise.race([abortable(answer, signal), expired]);
			if (isStop(given)) outcome = "blocked";
			return { hook, answer: given };
		} catch (thrown) {
			const error = inspectable(thrown);
			outcome = signal.aborted ? "aborted" : isTimeout(error) ? "timed_out" : "failed";
			if (!signal.aborted) this.#report(hook, event.type, error);
			return policy.onError === "block" ? { hook, failure: { error } } : { hook };
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
		// What comes with the program is the program.
		return watch && scope !== "builtin" ? watch.enter(`hook ${path} in ${event}`, hookTimeoutMs()) : () => {};
	}

	#report(hook: LoadedHook, event: string, cause: unknown): void {
		const code = isTimeout(cause) ? "hook_timeout" : "hook_failed";
		this.options.onError(new HookError(code, hook.path, event, cause));
	}
}

function isTimeout(error: unknown): boolean {
	return error instanceof PiError && error.code === "hook_timeout";
}

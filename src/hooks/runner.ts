import { isDeepStrictEqual } from "node:util";
import type { ImageContent, TextContent } from "@mariozechner/pi-ai";
import type { ContextStage, TransformInput } from "../context/build-context.js";
import type { ContextMessage } from "../context/context-message.js";
import { RECORDED_FIELDS } from "../context/provider-fields.js";
import { describeHookError, errorText, hookFailure, inspectable, PiError } from "../errors.js";
import type { SessionEntry } from "../log/entry.js";
import { abortable } from "../util/abort.js";
import { isRecord } from "../util/is-record.js";
import { SerialQueue } from "../util/serial-queue.js";
import { CallClock } from "./call-clock.js";
import { checkCompletions, commandProblem } from "./check-answer.js";
import { checkAttachments, jsonCopy } from "./check-values.js";
import { createCommandContext, createHookContext } from "./context-object.js";
import type { EventsThatCombine } from "./events.js";
import {
	type GateContext,
	gatePrompt,
	gateToolCall,
	gateUserBash,
	type InputValidator,
	type PromptDecision,
	type ToolCallDecision,
	type UserBashDecision,
} from "./gates.js";
import { HandlerCalls, type HookCallOptions, type HookCallReport } from "./handler-calls.js";
import type { HookCall } from "./hook-call.js";
import { hookFileName } from "./hook-name.js";
import type { HookRegistry, LoadedHook } from "./hook-registry.js";
import type {
	BeforeRequestEvent,
	CommandOptions,
	CommandResult,
	CompletionItem,
	ContextEvent,
	HookEvents,
	PayloadEvent,
	PromptEvent,
	SessionEvent,
	SessionEventResult,
	ToolCallEvent,
	ToolResultEvent,
	UserBashEvent,
} from "./types.js";

/** The merged answers of all `session` handlers. */
export interface SessionAnswer extends SessionEventResult {
	/** Name of the hook that canceled; set together with `cancel`. */
	canceledBy?: string;
	/** Name of the hook that provided `compactionEntry`. */
	compactedBy?: string;
}

type Changes = Partial<Pick<ToolResultFields, "content" | "details">>;

/** The fields of a tool result that handlers can change. */
export interface ToolResultFields {
	content: (TextContent | ImageContent)[];
	details: unknown;
	isError: boolean;
}

/** Calls all handlers, with the order, deadlines and error policy of the table in events.ts. */
export class HookRunner {
	readonly #calls: HandlerCalls;
	readonly #gates: GateContext;
	/** Commands with malformed suggestions: reporting these for each key would bury everything else. */
	readonly #misfits = new WeakSet<CommandOptions>();

	constructor(private readonly options: HookCallOptions) {
		this.#calls = new HandlerCalls(options);
		this.#gates = { calls: this.#calls, host: options.host, queue: new SerialQueue() };
	}

	get registry(): HookRegistry {
		return this.options.registry;
	}

	/**
	 * Runs the handlers of an event that ignores answers, in order.
	 * @param failed handlers that are not called; receives those that fail
	 */
	async emit(event: HookEvents[EventsThatCombine<"none">], signal: AbortSignal, failed?: Set<object>): Promise<void> {
		const handlers = this.registry.handlers(event.type).filter(({ handler }) => !failed?.has(handler));
		const times = this.#calls.times(event, handlers.length);
		for (const registration of handlers) {
			const { handler, failure, problem } = await this.#calls.call(registration, event, signal, times);
			if (failure || problem !== undefined) failed?.add(handler);
		}
	}

	/** Runs `session` handlers in order; the first `cancel` ends the chain. @returns their merged answers */
	async emitSession(event: SessionEvent, signal: AbortSignal): Promise<SessionAnswer> {
		const merged: SessionAnswer = {};
		const canceled = await this.#calls.first("session", event, signal, ({ hook, answer }) => {
			if (answer?.cancel) return { ...merged, cancel: true, canceledBy: hook.name };
			if (answer?.skipConversationRestore) merged.skipConversationRestore = true;
			if (answer?.compactionEntry) {
				merged.compactionEntry = answer.compactionEntry;
				merged.compactedBy = hook.name;
			}
			if (answer?.nativeCompaction) merged.nativeCompaction = answer.nativeCompaction;
			return null;
		});
		return canceled ?? merged;
	}

	/** Asks `before_request` handlers. @returns the reason of the first stop, or null */
	gateRequest(event: BeforeRequestEvent, signal: AbortSignal): Promise<string | null> {
		return this.#calls.first("before_request", event, signal, ({ hook, answer }) =>
			answer?.action === "stop" ? answer.reason || `Stopped by hook ${hook.name}` : null,
		);
	}

	/** Asks `tool_call` handlers. See `gateToolCall`. */
	gateToolCall(event: ToolCallEvent, validate: InputValidator, signal: AbortSignal): Promise<ToolCallDecision> {
		return gateToolCall(this.#gates, event, validate, signal);
	}

	/** Asks `prompt` handlers. See `gatePrompt`. */
	gatePrompt(event: PromptEvent, signal: AbortSignal): Promise<PromptDecision> {
		return gatePrompt(this.#gates, event, signal);
	}

	/** Asks `user_bash` handlers. See `gateUserBash`. */
	gateUserBash(event: UserBashEvent, signal: AbortSignal): Promise<UserBashDecision> {
		return gateUserBash(this.#gates, event, signal);
	}

	/** Chains `tool_result` handlers: each receives the result of the one before it. */
	changeToolResult(event: ToolResultEvent, signal: AbortSignal): Promise<ToolResultFields> {
		const start: ToolResultFields = { content: [...event.content], details: event.details, isError: event.isError };
		const eventWith = ({ content, details, isError }: ToolResultFields) =>
			({ ...event, content: Object.freeze([...content]), details, isError }) as ToolResultEvent;
		return this.#calls.chain("tool_result", start, eventWith, signal, ({ hook, handler, answer }, current) => {
			if (!answer) return current;
			try {
				const { content, details } = jsonCopy({ content: answer.content, details: answer.details }) as Changes;
				return {
					content: content ?? current.content,
					details: details === undefined ? current.details : details,
					isError: answer.isError ?? current.isError,
				};
			} catch (error) {
				this.#calls.report(hook, event.type, `${errorText(error)}; the answer was ignored`, handler);
				return current;
			}
		});
	}

	/** Chains `payload` handlers: each receives the request of the one before it. @returns the request to send */
	changePayload(event: PayloadEvent, signal: AbortSignal): Promise<Payload> {
		let seen: Payload = {};
		const eventWith = (payload: Payload) => {
			seen = frozenPayload(payload);
			return Object.freeze({ ...event, payload: seen });
		};
		return this.#calls.chain("payload", event.payload, eventWith, signal, ({ hook, handler, answer }, current) => {
			if (!answer?.payload) return current;
			const changed = changePayload(current, seen, answer.payload);
			if (typeof changed !== "string") return changed;
			const reason = `${changed} must stay as it is recorded, use context; the answer was ignored`;
			this.#calls.report(hook, "payload", reason, handler);
			return current;
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
		const eventWith = (
			messages: readonly ContextMessage[],
			{ systemPrompt, tools, facts }: TransformInput,
		): ContextEvent => ({
			type: "context" as const,
			messages,
			systemPrompt,
			tools,
			trial: this.options.isTrial ?? false,
			get entries() {
				return entries();
			},
			get facts() {
				return facts.facts;
			},
		});
		const handlers = this.registry
			.handlers("context")
			.filter(({ hook }) => hook.contextTypes === undefined || hasType(hook.contextTypes));
		return handlers.map((registration) => ({
			hook: registration.hook.path,
			name: registration.hook.name,
			handler: registration.handler,
			transform: async (messages, input) => {
				const event = eventWith(messages, input);
				return (await this.#calls.call(registration, event, signal, this.#calls.times(event, 1))).answer;
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
		return this.#runHandler(found.hook, `/${name}`, found.options, argsRaw, signal);
	}

	/** Like `runCommand`, for a shortcut. Does nothing if it is not registered anymore. */
	async runShortcut(id: string, signal: AbortSignal): Promise<CommandResult | undefined> {
		const found = this.registry.shortcuts.find((shortcut) => shortcut.id === id);
		return found && this.#runHandler(found.hook, `shortcut ${found.key}`, found.options, "", signal);
	}

	async #runHandler(
		hook: LoadedHook,
		event: string,
		options: Pick<CommandOptions, "handler">,
		argsRaw: string,
		signal: AbortSignal,
	): Promise<CommandResult | undefined> {
		const clock = new CallClock();
		const call: HookCall = { hook, event, signal, deadline: null, clock, effects: true, defersRebuild: false };
		let outcome: HookCallReport["outcome"] = "done";
		const leave = this.#calls.enter(hook, event);
		try {
			const answer = await abortable(
				this.options.host.enter(hook, async () =>
					options.handler(createCommandContext(this.options.host, call, argsRaw)),
				),
				signal,
			);
			const problem = commandProblem(answer);
			if (problem !== null) {
				// An event of its own: modes show errors of the command as its failure.
				this.#calls.report(hook, `${event} result`, `${problem}; the answer was ignored`, options);
				return undefined;
			}
			if (!answer) return undefined;
			if (typeof answer === "object" && "prompt" in answer) checkAttachments(answer.attachments ?? []);
			return answer;
		} catch (thrown) {
			const error = inspectable(thrown);
			outcome = signal.aborted ? "aborted" : "failed";
			if (signal.aborted) return undefined;
			const failure = this.#calls.report(hook, event, error, options);
			const hint = error instanceof PiError && error.hint !== undefined ? { hint: error.hint } : {};
			const facts = { ...hookFailure(failure), error: errorText(error) };
			throw new PiError("command_failed", describeHookError(facts, hookFileName(hook.path)), {
				cause: error,
				...hint,
			});
		} finally {
			leave();
			this.options.onCall?.({ hookPath: hook.path, event, ms: clock.ms, outcome });
		}
	}

	/** Suggestions of a command for its arguments; empty if it has no `complete` or that fails. */
	async complete(name: string, prefix: string, signal: AbortSignal): Promise<CompletionItem[]> {
		const found = this.registry.command(name);
		if (!found?.options.complete) return [];
		const { hook, options } = found;
		const call: HookCall = { hook, event: `/${name}`, signal, deadline: null, effects: false, defersRebuild: false };
		const leave = this.#calls.enter(hook, call.event);
		try {
			const { host } = this.options;
			const given: unknown = await host.enter(hook, () => options.complete?.(prefix, createHookContext(host, call)));
			const { items, problem } = checkCompletions(given);
			if (problem !== null && !this.#misfits.has(options)) {
				this.#misfits.add(options);
				this.#calls.report(hook, `/${name} completion`, problem, options);
			}
			return items;
		} catch (thrown) {
			this.#calls.report(hook, `/${name} completion`, inspectable(thrown), options);
			return [];
		} finally {
			leave();
		}
	}
}

/** The body of a request, in the format of its provider. */
type Payload = Readonly<Record<string, unknown>>;

/** Fields of Google that hold what pi has recorded of a request. */
const RECORDED_IN_CONFIG = ["systemInstruction", "tools"];

/** A copy of plain objects and lists that cannot be changed; other objects, such as signals, are the same. */
export function frozenPayload(payload: Payload): Payload {
	return frozen(payload) as Payload;
}

function frozen(value: unknown): unknown {
	if (Array.isArray(value)) return Object.freeze(value.map(frozen));
	if (!isPlain(value)) return value;
	return Object.freeze(Object.fromEntries(Object.entries(value).map(([name, field]) => [name, frozen(field)])));
}

/**
 * The request with the changes of a hook.
 * @param seen the copy of the request that the hook received
 * @returns the name of the field that it must not change, instead of a request
 */
export function changePayload(payload: Payload, seen: Payload, changed: Payload): Payload | string {
	const differs = (name: string, before: Payload, after: Payload) => !isDeepStrictEqual(before[name], after[name]);
	const forbidden = RECORDED_FIELDS.find((name) => differs(name, seen, changed));
	if (forbidden !== undefined) return forbidden;
	const [before, after] = [seen, changed].map(({ config }) => (isRecord(config) ? config : {})) as [Payload, Payload];
	const hidden = RECORDED_IN_CONFIG.find((name) => differs(name, before, after));
	if (hidden !== undefined) return `config.${hidden}`;
	// What the hook has not changed is the provider's own object, which is not frozen.
	const merged = Object.entries(changed).map(([name, value]) => [name, value === seen[name] ? payload[name] : value]);
	return Object.fromEntries(merged);
}

function isPlain(value: unknown): value is Record<string, unknown> {
	if (!isRecord(value)) return false;
	const prototype: unknown = Object.getPrototypeOf(value);
	return prototype === Object.prototype || prototype === null;
}

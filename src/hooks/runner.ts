import type { ImageContent, TextContent } from "@mariozechner/pi-ai";
import type { ContextStage } from "../context/build-context.js";
import { errorText, PiError } from "../errors.js";
import type { SessionEntry } from "../log/entry.js";
import { abortable, linkSignals } from "../util/abort.js";
import { Deadline } from "./deadline.js";
import { deadlineOf, EVENTS } from "./events.js";
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

/** A failure inside a hook, as events and notices carry it. */
export interface HookErrorReport {
	hookPath: string;
	/** Name of the event, or `/name` of a command. */
	event: string;
	error: string;
}

/** What the runner is made with. */
export interface HookRunnerOptions {
	registry: HookRegistry;
	host: HookHost;
	/** ms; read anew for each call. */
	hookTimeoutMs(): number;
	onError(report: HookErrorReport): void;
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

/** What `session` handlers answered, taken together. */
export interface SessionAnswer extends SessionEventResult {
	/** Name of the hook whose compaction it is. */
	compactedBy?: string;
}

/** Events whose answers are not read. */
type PlainEvent = HookEvents["agent_start" | "agent_end" | "turn_start" | "turn_end"];

/** Events inside a run whose next request computes the context anyway. */
const DEFER_REBUILD: ReadonlySet<HookEventName> = new Set(["before_request", "tool_call", "tool_result"]);

/** What is left of a tool result when all handlers have seen it. */
export interface ToolResultParts {
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
	async emit(event: PlainEvent, signal: AbortSignal): Promise<void> {
		for (const registration of this.registry.handlers(event.type)) await this.#call(registration, event, signal);
	}

	/** Runs `session` handlers in order; the first `cancel` ends the chain. @returns what they answered, merged */
	async emitSession(event: SessionEvent, signal: AbortSignal): Promise<SessionAnswer> {
		const merged: SessionAnswer = {};
		const canAnswer = event.reason.startsWith("before_");
		for (const registration of this.registry.handlers("session")) {
			const answer = await this.#call(registration, event, signal);
			if (!canAnswer || typeof answer !== "object" || answer === null) continue;
			if (answer.cancel === true) return { ...merged, cancel: true };
			if (answer.skipConversationRestore === true) merged.skipConversationRestore = true;
			if (answer.compactionEntry) {
				merged.compactionEntry = answer.compactionEntry;
				merged.compactedBy = registration.hook.name;
			}
		}
		return merged;
	}

	/** Asks `before_request` handlers. @returns the reason of the first stop, or null */
	async gateRequest(event: BeforeRequestEvent, signal: AbortSignal): Promise<string | null> {
		for (const registration of this.registry.handlers("before_request")) {
			const answer: unknown = await this.#call(registration, event, signal);
			if (answer === undefined || answer === null) continue;
			const action = typeof answer === "object" && "action" in answer ? answer.action : undefined;
			if (action === "continue") continue;
			if (action !== "stop") {
				this.#report(registration.hook, event.type, 'the action must be "continue" or "stop"; the request is made');
				continue;
			}
			const reason = typeof answer === "object" && "reason" in answer ? answer.reason : undefined;
			return typeof reason === "string" && reason ? reason : `Stopped by the hook ${registration.hook.name}`;
		}
		return null;
	}

	/** Asks `tool_call` handlers. @returns the reason of the first block, or null. A handler that throws blocks. */
	async gateToolCall(event: ToolCallEvent, signal: AbortSignal): Promise<string | null> {
		for (const registration of this.registry.handlers("tool_call")) {
			try {
				const answer = await this.#call(registration, event, signal);
				if (typeof answer === "object" && answer !== null && answer.block === true) {
					return typeof answer.reason === "string" && answer.reason
						? answer.reason
						: `Blocked by the hook ${registration.hook.name}`;
				}
			} catch (error) {
				if (signal.aborted) return "aborted: the user stopped the run";
				return `Blocked: the hook ${registration.hook.name} failed: ${errorText(error)}`;
			}
		}
		return null;
	}

	/** Chains `tool_result` handlers: each sees what the one before it left. */
	async changeToolResult(event: ToolResultEvent, signal: AbortSignal): Promise<ToolResultParts> {
		let parts: ToolResultParts = { content: [...event.content], details: event.details, isError: event.isError };
		for (const registration of this.registry.handlers("tool_result")) {
			const given = {
				...event,
				content: Object.freeze([...parts.content]),
				details: parts.details,
				isError: parts.isError,
			};
			const answer = await this.#call(registration, given as ToolResultEvent, signal);
			if (typeof answer !== "object" || answer === null) continue;
			if (answer.content !== undefined && !isContent(answer.content)) {
				this.#report(registration.hook, event.type, "content must be a list of text and image blocks; kept as it was");
				continue;
			}
			parts = {
				content: answer.content ?? parts.content,
				details: answer.details === undefined ? parts.details : answer.details,
				isError: typeof answer.isError === "boolean" ? answer.isError : parts.isError,
			};
		}
		return parts;
	}

	/** `context` handlers as stages of the context pipeline. @param entries read only when a handler asks for them */
	contextStages(entries: () => readonly SessionEntry[], signal: AbortSignal): ContextStage[] {
		return this.registry.handlers("context").map((registration) => ({
			hook: registration.hook.path,
			transform: (messages) =>
				this.#call(
					registration,
					{
						type: "context",
						messages,
						get entries() {
							return entries();
						},
					},
					signal,
				),
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
		try {
			const answer = await abortable(
				Promise.resolve(options.handler(createCommandContext(this.options.host, call, argsRaw))),
				signal,
			);
			return isCommandResult(answer) ? answer : undefined;
		} catch (error) {
			outcome = signal.aborted ? "aborted" : "failed";
			if (signal.aborted) return undefined;
			this.#report(hook, `/${name}`, errorText(error));
			throw new PiError("command_failed", `/${name} failed: ${errorText(error)}`, { cause: error });
		} finally {
			this.options.onCall?.({ hookPath: hook.path, event: `/${name}`, ms: performance.now() - startedAt, outcome });
		}
	}

	/** Suggestions of a command for its arguments; none when it has no `complete` or it fails. */
	async complete(name: string, prefix: string, signal: AbortSignal): Promise<CompletionItem[]> {
		const found = this.registry.command(name);
		if (!found?.options.complete) return [];
		const { hook, options } = found;
		const call: HookCall = { hook, event: `/${name}`, signal, deadline: null, effects: false, defersRebuild: false };
		try {
			const items = await options.complete?.(prefix, createHookContext(this.options.host, call));
			return Array.isArray(items) ? items.filter((item) => typeof item?.value === "string") : [];
		} catch (error) {
			this.#report(hook, `/${name} completion`, errorText(error));
			return [];
		}
	}

	/** @throws only for events whose error blocks */
	async #call<N extends HookEventName>(
		{ hook, handler }: Registration<N>,
		event: HookEvents[N],
		signal: AbortSignal,
	): Promise<HookResults[N] | undefined> {
		const policy = EVENTS[event.type];
		const startedAt = performance.now();
		let outcome: HookCallReport["outcome"] = "done";
		const limitMs = deadlineOf(event, this.options.hookTimeoutMs());
		const own = new AbortController();
		const linked = linkSignals(signal, own.signal);
		let deadline: Deadline | null = null;
		const expired = new Promise<never>((_, reject) => {
			if (limitMs === null) return;
			deadline = new Deadline(limitMs, () => {
				reject(new PiError("hook_timeout", `it did not settle within ${limitMs} ms`));
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
			defersRebuild: DEFER_REBUILD.has(event.type),
		};
		try {
			const context = createHookContext(this.options.host, call);
			const answer = (async () => handler(event, context))();
			const given = await Promise.race([abortable(answer, signal), expired]);
			if (isStop(given)) outcome = "blocked";
			return given;
		} catch (error) {
			outcome = signal.aborted ? "aborted" : isTimeout(error) ? "timed_out" : "failed";
			if (signal.aborted && policy.onError === "pass") return undefined;
			if (!signal.aborted) this.#report(hook, event.type, errorText(error));
			if (policy.onError === "block") throw error;
			return undefined;
		} finally {
			(deadline as Deadline | null)?.clear();
			linked.unlink();
			this.options.onCall?.({ hookPath: hook.path, event: event.type, ms: performance.now() - startedAt, outcome });
		}
	}

	#report(hook: LoadedHook, event: string, error: string): void {
		this.options.onError({ hookPath: hook.path, event, error });
	}
}

/** True for an answer that stops what it was asked about. */
function isStop(answer: unknown): boolean {
	if (typeof answer !== "object" || answer === null) return false;
	return (
		("block" in answer && answer.block === true) ||
		("cancel" in answer && answer.cancel === true) ||
		("action" in answer && answer.action === "stop")
	);
}

function isTimeout(error: unknown): boolean {
	return error instanceof PiError && error.code === "hook_timeout";
}

function isContent(value: unknown): value is (TextContent | ImageContent)[] {
	return (
		Array.isArray(value) &&
		value.every(
			(block: unknown) =>
				typeof block === "object" &&
				block !== null &&
				"type" in block &&
				((block.type === "text" && "text" in block && typeof block.text === "string") ||
					(block.type === "image" && "data" in block && typeof block.data === "string")),
		)
	);
}

function isCommandResult(value: unknown): value is CommandResult {
	if (typeof value === "string") return true;
	if (typeof value !== "object" || value === null) return false;
	return (
		("prompt" in value && typeof value.prompt === "string") || ("status" in value && typeof value.status === "string")
	);
}

import type { AssistantMessage, ToolResultMessage } from "@mariozechner/pi-ai";
import type { AppMessage, ContextRecord } from "../log/entry.js";
import { sleep } from "../util/abort.js";
import type { AgentEvent } from "./events.js";
import { describeFailure, retryTime } from "./failure.js";
import { normalizeToolCalls } from "./legal-calls.js";
import { isRetryable, MAX_DELAY_MS, type RetryPolicy, retryDelay } from "./retry.js";
import { type ModelRequest, readReply, type StreamFunction } from "./stream.js";
import { runToolCalls, type ToolCallDeps } from "./tool-calls.js";

/** A request, and the record of its context for the log. */
export interface PreparedRequest extends ModelRequest {
	record?: ContextRecord;
}

/** Why the next request must not be sent, for the user. */
export interface RequestStop {
	stop: string;
}

/** The collaborators of the loop. */
export interface AgentDeps extends Omit<ToolCallDeps, "tools" | "shellPath"> {
	stream: StreamFunction;
	/** Creates the next request from the current entries. Called before every request, also inside a tool loop. */
	prepareRequest(turnIndex: number): Promise<PreparedRequest | RequestStop>;
	/** The tools that the model may call now. */
	tools(): ToolCallDeps["tools"];
	shellPath(): string | undefined;
	/** Writes a message to the log, before any event reports it. @returns its entry index */
	record(message: AppMessage, context?: ContextRecord): number;
	/** Removes and returns the queued prompts to send between turns. */
	takeSteering(): AppMessage[];
	/** Removes and returns the queued prompts to send at the end of the run. */
	takeFollowUps(): AppMessage[];
	eventPoints: AgentEventPoints;
	retry(): RetryPolicy;
	idleTimeoutMs(): number;
	/**
	 * Called when the model refused the request as too long. @returns true when the next request is smaller and may be sent
	 */
	onOverflow(message: AssistantMessage): Promise<boolean>;
	isOverflow(message: AssistantMessage): boolean;
	/** True if the provider refused the request because of an image. */
	isImageRefusal(message: AssistantMessage): boolean;
	/** Called after an image refusal. @returns true when the next request lacks the image and may be sent */
	onImageRefusal(message: AssistantMessage): Promise<boolean>;
	/** Removes secrets from error messages. */
	redact(text: string): string;
	signal: AbortSignal;
	emit(event: AgentEvent): void;
}

/** Points at which the run waits for hooks. */
export interface AgentEventPoints {
	agentStart(): Promise<void>;
	agentEnd(messages: readonly AppMessage[]): Promise<void>;
	turnStart(turnIndex: number, timestamp: number): Promise<void>;
	turnEnd(turnIndex: number, message: AssistantMessage, toolResults: readonly ToolResultMessage[]): Promise<void>;
}

/** Requests in a row that may be refused as too long; each is followed by a shorter one. */
const MAX_REFUSALS = 10;

/** How a run ended. */
export interface AgentRunResult {
	/** Messages of this run, including the prompts. */
	messages: AppMessage[];
	/** The last reply; null when no request was sent. */
	last: AssistantMessage | null;
	/** Why a request was not sent; null when all were. */
	stopped: string | null;
}

/**
 * Runs the agent: logs the prompts, then repeats turns — stream, tool calls, tool results — until the model asks for no
 * more tools and no prompt is queued. Every message is logged before its `message_end` event, and every tool call gets a
 * result, even if the run is aborted.
 */
export async function runAgent(prompts: readonly AppMessage[], deps: AgentDeps): Promise<AgentRunResult> {
	const messages: AppMessage[] = [];
	const write = (message: AppMessage, context?: ContextRecord) => {
		const entryIndex = deps.record(message, context);
		messages.push(message);
		deps.emit({ type: "message_end", message, entryIndex });
	};
	const writeAll = (list: readonly AppMessage[]) => {
		for (const message of list) {
			deps.emit({ type: "message_start", message });
			write(message);
		}
	};

	let last: AssistantMessage | null = null;
	let stopped: string | null = null;
	let refusals = 0;
	deps.emit({ type: "agent_start" });
	try {
		await deps.eventPoints.agentStart();
		writeAll(prompts);
		for (let turnIndex = 0; ; turnIndex++) {
			const timestamp = Date.now();
			deps.emit({ type: "turn_start", turnIndex, timestamp });
			await deps.eventPoints.turnStart(turnIndex, timestamp);
			const reply = await requestReply(turnIndex, deps);
			if ("stop" in reply) {
				stopped = reply.stop;
				break;
			}
			last = normalizeToolCalls(reply.message);
			if (reply.isImageRefusal && (await deps.onImageRefusal(last))) continue;
			if (reply.isOverflow) {
				refusals += 1;
				if (refusals <= MAX_REFUSALS && (await deps.onOverflow(last))) continue;
			} else refusals = 0;
			write(last, reply.record);
			const results = await answerToolCalls(last, deps);
			writeAll(results);
			deps.emit({ type: "turn_end", turnIndex, message: last, toolResults: results });
			await deps.eventPoints.turnEnd(turnIndex, last, results);
			if (deps.signal.aborted || last.stopReason === "aborted" || last.stopReason === "error") break;
			const steering = deps.takeSteering();
			const next = steering.length > 0 || results.length > 0 ? steering : deps.takeFollowUps();
			if (next.length === 0 && results.length === 0) break;
			writeAll(next);
			if (deps.signal.aborted) break;
		}
	} finally {
		// Even if no request could be sent: each agent_start is followed by an agent_end.
		await deps.eventPoints.agentEnd(messages);
		deps.emit({ type: "agent_end", messages });
	}
	return { messages, last, stopped };
}

type Reply = (StreamedReply & { record?: ContextRecord }) | RequestStop;

interface StreamedReply {
	message: AssistantMessage;
	isOverflow: boolean;
	isImageRefusal: boolean;
}

/** Sends a request, and retries temporary failures. A failed reply is reported only by `auto_retry_start`. */
async function requestReply(turnIndex: number, deps: AgentDeps): Promise<Reply> {
	for (let attempt = 1; ; attempt++) {
		const request = await deps.prepareRequest(turnIndex);
		if ("stop" in request) return request;
		const { record } = request;
		const { delayMs, ...reply } = await streamReply(request, attempt, deps);
		const { message } = reply;
		if (delayMs === null) {
			if (attempt > 1) {
				const success = message.stopReason !== "error" && message.stopReason !== "aborted";
				const finalError = success ? {} : { finalError: message.errorMessage ?? message.stopReason };
				deps.emit({ type: "auto_retry_end", success, attempt: attempt - 1, ...finalError });
			}
			return { ...reply, ...(record ? { record } : {}) };
		}
		const errorMessage = message.errorMessage ?? "unknown error";
		const maxAttempts = deps.retry().maxRetries;
		deps.emit({ type: "auto_retry_start", attempt, maxAttempts, delayMs, errorMessage });
		try {
			await sleep(delayMs, deps.signal);
		} catch {
			deps.emit({ type: "auto_retry_end", success: false, attempt, finalError: errorMessage });
			return { ...reply, message: { ...message, stopReason: "aborted" }, ...(record ? { record } : {}) };
		}
	}
}

/** @returns `delayMs`: the delay before a retry; null for none */
async function streamReply(
	request: PreparedRequest,
	attempt: number,
	deps: AgentDeps,
): Promise<StreamedReply & { delayMs: number | null }> {
	let started = false;
	const { reply, facts } = await readReply(deps.stream, request, {
		signal: deps.signal,
		idleTimeoutMs: deps.idleTimeoutMs(),
		onEvent(event) {
			if (event.type === "done" || event.type === "error") return;
			if (!started) {
				started = true;
				deps.emit({ type: "message_start", message: event.partial });
			}
			if (event.type !== "start") {
				deps.emit({ type: "message_update", message: event.partial, assistantMessageEvent: event });
			}
		},
	});
	const isImageRefusal = deps.isImageRefusal(reply);
	const isOverflow = !isImageRefusal && deps.isOverflow(reply);
	const retry = deps.retry();
	const mayRetry = reply.stopReason === "error" && !deps.signal.aborted && !isOverflow && !isImageRefusal;
	const again =
		mayRetry && retry.enabled && attempt <= retry.maxRetries && isRetryable(reply.errorMessage ?? "", facts);
	const delayMs = again ? retryDelay(retry, attempt, facts.retryAfterMs) : null;
	const message = { ...reply };
	if (reply.stopReason === "error") {
		// Providers may echo the request, including keys.
		const error = deps.redact(describeFailure(reply.errorMessage, request.model, facts));
		const waitMs = facts.retryAfterMs ?? 0;
		message.errorMessage = waitMs > MAX_DELAY_MS ? `${error}: try again ${retryTime(waitMs, Date.now())}` : error;
	}
	if (!started) deps.emit({ type: "message_start", message });
	return { message, isOverflow, isImageRefusal, delayMs };
}

/** Returns one result for each tool call. Does not run the calls of an unfinished reply. */
async function answerToolCalls(message: AssistantMessage, deps: AgentDeps): Promise<ToolResultMessage[]> {
	const calls = message.content.filter((block) => block.type === "toolCall");
	if (calls.length === 0) return [];
	if (message.stopReason === "aborted" || message.stopReason === "error") {
		return calls.map((call) => ({
			role: "toolResult",
			toolCallId: call.id,
			toolName: call.name,
			content: [{ type: "text", text: `${message.stopReason}: this call was not run` }],
			isError: true,
			timestamp: Date.now(),
		}));
	}
	const shellPath = deps.shellPath();
	return runToolCalls(message, {
		...deps,
		tools: deps.tools(),
		...(shellPath ? { shellPath } : { shellPath: undefined }),
	});
}

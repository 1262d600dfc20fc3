import type { AssistantMessage, JsonValue } from "@mariozechner/pi-ai";
import type { ContextRecord, FileChange, LoggedMessage, SessionToolResult } from "../log/entry.js";
import type { AgentEvent } from "./events.js";
import { IncompleteReplies } from "./incomplete-calls.js";
import { normalizeToolCalls } from "./legal-calls.js";
import type { ResponseHead } from "./response-headers.js";
import type { RetryPolicy } from "./retry.js";
import { type Refusal, sendWithRetries } from "./send.js";
import type { ModelRequest, StreamFunction } from "./stream.js";
import { runToolCalls, type ToolCallDeps, type ToolResults } from "./tool-calls.js";

/** A request, and the record of its context for the log. */
export interface PreparedRequest extends ModelRequest {
	record?: ContextRecord | undefined;
}

/** Why the next request must not be sent, for the user. */
export interface RequestStop {
	stop: string;
}

/** The collaborators of the loop. */
export interface AgentDeps extends Omit<ToolCallDeps, "tools" | "shellPath" | "finish"> {
	stream: StreamFunction;
	/** Creates the next request from the current entries. Called before every request, also inside a tool loop. */
	prepareRequest(turnIndex: number): Promise<PreparedRequest | RequestStop>;
	/** The tools that the model may call now. */
	tools(): ToolCallDeps["tools"];
	shellPath(): string | undefined;
	/** Writes a message to the log, before any event reports it. @param files what a tool call changed @returns its entry index */
	record(message: LoggedMessage, context?: ContextRecord, files?: readonly FileChange[]): number;
	/** Writes the part of a reply that broke off before its retry. It is not part of any context. @returns its entry index */
	recordRetried(message: AssistantMessage): number;
	/** What the run must end with; absent: whatever the model replies. */
	answer?: AnswerDemand;
	/** Removes and returns the queued prompts to send between turns. */
	takeSteering(): LoggedMessage[];
	/** Removes and returns the queued prompts to send at the end of the run. */
	takeFollowUps(): LoggedMessage[];
	eventPoints: AgentEventPoints;
	retry(): RetryPolicy;
	idleTimeoutMs(): number;
	/**
	 * Called when the model refused the request as too long. @returns true when the next request is smaller and may be sent
	 */
	onOverflow(message: AssistantMessage): Promise<boolean>;
	/** What a reply refuses about the request: its length, or an image. */
	refusalOf(message: AssistantMessage): Refusal | null;
	/** Called after an image was refused. @returns true when the next request lacks the image and may be sent */
	onImageRefusal(message: AssistantMessage): Promise<boolean>;
	/** Removes secrets from error messages. */
	redact(text: string): string;
	/** Called with each HTTP response when its headers have arrived. */
	onResponse?: (response: ResponseHead) => void;
	signal: AbortSignal;
	emit(event: AgentEvent): void;
}

/** Checks whether a run has the answer that it must end with. */
export interface AnswerDemand {
	/** Called once for each reply, when its calls are answered. @returns null: the reply is none that can answer */
	review(reply: AssistantMessage): ReplyReview | null;
}

/** What a demand says of a reply. */
export interface ReplyReview {
	/** The answer, if the reply gave it. */
	given?: { value: JsonValue };
	/** Whether the run ends with this reply, unless prompts are queued. */
	isOver: boolean;
	/** Why no further request must be sent, for the user. */
	stopped: string | null;
}

/** Points at which the run waits for hooks. */
export interface AgentEventPoints {
	agentStart(): Promise<void>;
	agentEnd(messages: readonly LoggedMessage[]): Promise<void>;
	turnStart(turnIndex: number, timestamp: number): Promise<void>;
	turnEnd(turnIndex: number, message: AssistantMessage, toolResults: readonly SessionToolResult[]): Promise<void>;
}

/** Requests in a row that may be refused as too long; each is followed by a shorter one. */
const MAX_REFUSALS = 10;

/** How a run ended. */
export interface AgentRunResult {
	/** Messages of this run, including the prompts. */
	messages: LoggedMessage[];
	/** The last reply; null when no request was sent. */
	last: AssistantMessage | null;
	/** Why no further request was sent; null when all were. */
	stopped: string | null;
	/** The answer that the run had to end with; absent if it had none. */
	structured?: JsonValue;
	/** Set if the run was stopped before the model had finished: in a reply, during tool calls or before a request. */
	isAborted?: true;
}

/**
 * Runs the agent: logs the prompts, then repeats turns — stream, tool calls, tool results — until the model asks for no
 * more tools and no prompt is queued. Every message is logged before its `message_end` event, and every tool call gets a
 * result, even if the run is aborted.
 */
export async function runAgent(prompts: readonly LoggedMessage[], deps: AgentDeps): Promise<AgentRunResult> {
	const messages: LoggedMessage[] = [];
	const write = (
		message: LoggedMessage,
		context: ContextRecord | undefined,
		before: readonly AgentEvent[],
		files?: readonly FileChange[],
	) => {
		const entryIndex = deps.record(message, context, files);
		messages.push(message);
		for (const event of before) deps.emit(event);
		deps.emit({ type: "message_end", message, entryIndex });
	};
	const writeAll = (list: readonly LoggedMessage[]) => {
		for (const message of list) {
			deps.emit({ type: "message_start", message });
			write(message, undefined, []);
		}
	};
	const finish: ToolCallDeps["finish"] = (result, ended, _, files) =>
		write(result, undefined, [ended, { type: "message_start", message: result }], files);

	let last: AssistantMessage | null = null;
	let stopped: string | null = null;
	let answer: Pick<AgentRunResult, "structured" | "isAborted"> = {};
	const incomplete = new IncompleteReplies();
	deps.emit({ type: "agent_start" });
	try {
		await deps.eventPoints.agentStart();
		writeAll(prompts);
		for (let turnIndex = 0; ; turnIndex++) {
			const timestamp = Date.now();
			deps.emit({ type: "turn_start", turnIndex, timestamp });
			await deps.eventPoints.turnStart(turnIndex, timestamp);
			const reply = await requestAcceptedReply(turnIndex, deps);
			if ("stop" in reply) {
				stopped = reply.stop;
				if (deps.signal.aborted) answer = { isAborted: true };
				break;
			}
			last = reply.message;
			write(last, reply.record, []);
			const { results, terminate } = await answerToolCalls(last, { ...deps, finish, writeAll });
			const review = deps.answer?.review(last) ?? null;
			answer = review?.given ? { structured: review.given.value } : {};
			deps.emit({ type: "turn_end", turnIndex, message: last, toolResults: results });
			await deps.eventPoints.turnEnd(turnIndex, last, results);
			const isUnfinished = last.stopReason === "aborted" || (deps.signal.aborted && results.length > 0);
			if (isUnfinished) answer = { ...answer, isAborted: true };
			if (deps.signal.aborted || last.stopReason === "aborted" || last.stopReason === "error") break;
			stopped = incomplete.add(last) ?? review?.stopped ?? null;
			if (stopped !== null) break;
			const steering = deps.takeSteering();
			const isOver = review?.isOver ?? (results.length === 0 || terminate);
			const next = steering.length > 0 || !isOver ? steering : deps.takeFollowUps();
			if (next.length === 0 && isOver) break;
			writeAll(next);
			if (deps.signal.aborted) {
				answer = { ...answer, isAborted: true };
				break;
			}
		}
	} finally {
		// Even if no request could be sent: each agent_start is followed by an agent_end.
		await deps.eventPoints.agentEnd(messages);
		deps.emit({ type: "agent_end", messages, ...answer });
	}
	return { messages, last, stopped, ...answer };
}

type Reply = { message: AssistantMessage; refusal: Refusal | null; record?: ContextRecord } | RequestStop;

/** Sends a request. If it is refused as too long, or because of an image, sends a changed one in the same turn. */
async function requestAcceptedReply(turnIndex: number, deps: AgentDeps): Promise<Reply> {
	for (let refusals = 0; ; ) {
		const reply = await requestReply(turnIndex, deps);
		if ("stop" in reply) return reply;
		const message = normalizeToolCalls(reply.message, deps.tools());
		if (reply.refusal === "image" && (await deps.onImageRefusal(message))) continue;
		if (reply.refusal === "length" && ++refusals <= MAX_REFUSALS && (await deps.onOverflow(message))) continue;
		return { ...reply, message };
	}
}

/** Sends a request, and retries temporary failures. The part of a reply that broke off is logged before its retry. */
async function requestReply(turnIndex: number, deps: AgentDeps): Promise<Reply> {
	let stopped: RequestStop | null = null;
	let started = false;
	let isRecorded = false;
	const start = (message: AssistantMessage) => {
		if (!started) deps.emit({ type: "message_start", message });
		started = true;
	};
	const sent = await sendWithRetries(
		deps.stream,
		async () => {
			started = false;
			isRecorded = false;
			const request = await deps.prepareRequest(turnIndex);
			stopped = "stop" in request ? request : null;
			return "stop" in request ? null : request;
		},
		{
			...deps,
			onEvent(event) {
				if (event.type === "done" || event.type === "error") return;
				start(event.partial);
				if (event.type === "start") return;
				deps.emit({ type: "message_update", message: event.partial, assistantMessageEvent: event });
			},
			onRetry({ reply, ...retry }) {
				start(reply);
				if (reply.content.length > 0) {
					const message = normalizeToolCalls(reply);
					deps.emit({ type: "message_end", message, entryIndex: deps.recordRetried(message), isRetried: true });
					started = false;
					isRecorded = true;
				}
				deps.emit({ type: "auto_retry_start", ...retry });
			},
		},
	);
	if (sent === null) return stopped ?? { stop: "" };
	const { reply, retries, refusal, request } = sent;
	const isAborted = reply.stopReason === "aborted";
	const message = isAborted && isRecorded ? { ...reply, content: [] } : reply;
	start(message);
	if (retries > 0) {
		const success = reply.stopReason !== "error" && !isAborted;
		const finalError = success ? {} : { finalError: reply.errorMessage ?? reply.stopReason };
		deps.emit({ type: "auto_retry_end", success, attempt: retries, ...finalError });
	}
	return { message, refusal, ...(request.record ? { record: request.record } : {}) };
}

/** Writes and returns one result for each tool call. Does not run the calls of an unfinished reply. */
async function answerToolCalls(
	message: AssistantMessage,
	deps: AgentDeps & Pick<ToolCallDeps, "finish"> & { writeAll(list: readonly LoggedMessage[]): void },
): Promise<ToolResults> {
	const calls = message.content.filter((block) => block.type === "toolCall");
	if (calls.length === 0) return { results: [], terminate: false };
	if (message.stopReason === "aborted" || message.stopReason === "error") {
		const results = calls.map(
			(call): SessionToolResult => ({
				role: "toolResult",
				toolCallId: call.id,
				toolName: call.name,
				content: [{ type: "text", text: `${message.stopReason}: this call was not run` }],
				isError: true,
				timestamp: Date.now(),
			}),
		);
		deps.writeAll(results);
		return { results, terminate: false };
	}
	const shellPath = deps.shellPath();
	return runToolCalls(message, {
		...deps,
		tools: deps.tools(),
		...(shellPath ? { shellPath } : { shellPath: undefined }),
	});
}

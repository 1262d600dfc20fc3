import type {
	Api,
	AssistantMessage,
	AssistantMessageEvent,
	AssistantMessageEventStream,
	Context,
	Model,
	SimpleStreamOptions,
} from "@mariozechner/pi-ai";
import { errorText } from "../errors.js";
import { linkSignals } from "../util/abort.js";
import { monotonicMs } from "../util/clock.js";
import { failedReply } from "./failed-reply.js";
import { ArgumentTexts } from "./incomplete-calls.js";
import { dropDeepArguments } from "./legal-calls.js";
import type { ResponseFacts } from "./response-facts.js";
import type { ResponseHead } from "./response-headers.js";
import { watchResponse } from "./response-watch.js";

/** pi-ai's `streamSimple`, or something that behaves like it. */
export type StreamFunction = (
	model: Model<Api>,
	context: Context,
	options: SimpleStreamOptions,
) => AssistantMessageEventStream;

/** One request to a model. */
export interface ModelRequest {
	model: Model<Api>;
	context: Context;
	options: SimpleStreamOptions;
}

export interface ReadReplyOptions {
	signal: AbortSignal;
	/** ms without a content event after which the stream counts as stalled; 0 never. */
	idleTimeoutMs: number;
	onEvent(event: AssistantMessageEvent): void;
	onResponse?: ((response: ResponseHead) => void) | undefined;
}

/**
 * Sends one request and reads the reply to its end. Never throws: a failure is a reply with `stopReason` "error" or
 * "aborted", whose `errorMessage` is as the client words it. A stream that stalls or ends without a stop reason is an error.
 */
export async function readReply(
	stream: StreamFunction,
	request: ModelRequest,
	options: ReadReplyOptions,
): Promise<{ reply: AssistantMessage; facts: ResponseFacts }> {
	const watch = watchResponse(request.model.baseUrl, options.onResponse);
	try {
		const reply = withRoundedCosts(await readStream((...sent) => watch.run(() => stream(...sent)), request, options));
		const { facts } = watch;
		// Some clients find no event in a web page, and report an empty reply.
		const isPage = facts.isPage && reply.stopReason === "stop" && reply.content.length === 0;
		return { reply: isPage ? { ...reply, stopReason: "error", errorMessage: UNFINISHED } : reply, facts };
	} finally {
		watch.stop();
	}
}

/** A reply without the digits of costs that only come from binary fractions. */
function withRoundedCosts(reply: AssistantMessage): AssistantMessage {
	const usage: Partial<AssistantMessage["usage"]> | undefined = reply.usage;
	// The provider of a hook may omit them.
	if (!usage?.cost) return reply;
	const round = (dollars: number) => (Number.isFinite(dollars) ? Number(dollars.toFixed(COST_DIGITS)) : dollars);
	const { input, output, cacheRead, cacheWrite, total } = usage.cost;
	const cost = {
		...{ input: round(input), output: round(output), total: round(total) },
		...{ cacheRead: round(cacheRead), cacheWrite: round(cacheWrite) },
	};
	return { ...reply, usage: { ...reply.usage, cost } };
}

/** Decimals of the cost of a request: fewer would lose those of the cheapest models. */
const COST_DIGITS = 12;

async function readStream(
	stream: StreamFunction,
	{ model, context, options }: ModelRequest,
	{ signal, idleTimeoutMs, onEvent }: ReadReplyOptions,
): Promise<AssistantMessage> {
	const stall = new AbortController();
	const watchdog = watchIdle(idleTimeoutMs, () => stall.abort());
	const linked = linkSignals(signal, stall.signal);
	let last: AssistantMessage | null = null;
	const texts = new ArgumentTexts();
	try {
		const events = stream(model, context, { ...options, signal: linked.signal });
		for await (const event of untilAborted(events, linked.signal)) {
			watchdog.touch();
			texts.add(event);
			if (event.type === "done") {
				texts.finish(event.message);
				return event.message;
			}
			if (event.type === "error") return stall.signal.aborted ? stalled(event.error, idleTimeoutMs) : event.error;
			if (event.type === "toolcall_delta" || event.type === "toolcall_end") {
				dropDeepArguments(event.partial.content[event.contentIndex]);
			}
			last = event.partial;
			onEvent(event);
		}
		return failed(model, last, "error", UNFINISHED);
	} catch (error) {
		if (signal.aborted) return failed(model, last, "aborted", "Request was aborted");
		if (stall.signal.aborted) return stalled(failed(model, last, "error", ""), idleTimeoutMs);
		return failed(model, last, "error", errorText(error));
	} finally {
		watchdog.stop();
		linked.unlink();
	}
}

const UNFINISHED = "The stream ended before the reply was finished";

function stalled(message: AssistantMessage, idleTimeoutMs: number): AssistantMessage {
	const seconds = Math.round(idleTimeoutMs / 1000);
	return { ...message, stopReason: "error", errorMessage: `The provider sent no content for ${seconds} s` };
}

function failed(
	model: Model<Api>,
	partial: AssistantMessage | null,
	stopReason: "error" | "aborted",
	errorMessage: string,
): AssistantMessage {
	const reply = failedReply(model, partial?.content ?? [], stopReason, errorMessage);
	return { ...reply, usage: partial?.usage ?? reply.usage };
}

/** Uses one timer, rescheduled only when it fires, so that a busy stream does not create a timer per event. */
function watchIdle(idleTimeoutMs: number, onIdle: () => void): { touch(): void; stop(): void } {
	let lastContent = monotonicMs();
	let timer: NodeJS.Timeout | undefined;
	const arm = (ms: number) => {
		timer = setTimeout(() => {
			const quietMs = monotonicMs() - lastContent;
			if (quietMs >= idleTimeoutMs) onIdle();
			else arm(idleTimeoutMs - quietMs);
		}, ms);
		// Not unref: a provider that waits for nothing, such as one of a hook, must not end the process before its time limit.
	};
	if (idleTimeoutMs > 0) arm(idleTimeoutMs);
	return {
		touch: () => {
			lastContent = monotonicMs();
		},
		stop: () => clearTimeout(timer),
	};
}

/** The events. Waiting for one ends as soon as the signal aborts, even if the provider ignores it. */
function untilAborted<T>(events: AsyncIterable<T>, signal: AbortSignal): AsyncIterable<T> {
	const iterator = events[Symbol.asyncIterator]();
	let stop = (_: unknown) => {};
	signal.addEventListener("abort", () => stop(signal.reason), { once: true });
	// Not a generator, each of whose values costs several promises.
	const next = () =>
		new Promise<IteratorResult<T>>((resolve, reject) => {
			stop = reject;
			if (signal.aborted) reject(signal.reason);
			else iterator.next().then(resolve, reject);
		});
	return { [Symbol.asyncIterator]: () => ({ next }) };
}

import { setTimeout as delay, setImmediate as nextTurn } from "node:timers/promises";
import type { Api, AssistantMessage, AssistantMessageEventStream, Context, Model } from "@mariozechner/pi-ai";
import type { ScriptedReply } from "./conversation.js";
import { conversationText } from "./conversation.js";

/** What a scripted model answers: a reply, or the error of a provider. */
export type ScriptedAnswer = ScriptedReply | { error: string };

/** How a scripted model streams its replies. */
export interface PlayOptions {
	/** ms between chunks of a few characters; 0 sends all at once. Default 14. */
	pace?: number;
	/** Whether the start that a request shares with the one before it is read from a cache, as by a provider. */
	caches?: boolean;
}

const DEFAULT_PACE_MS = 14;
/** Chunk lengths in characters, used in turn: as uneven as the text of a real model. */
const CHUNKS = [5, 3, 8, 4, 6, 2, 9];
const CHARS_PER_TOKEN = 4;

/**
 * Loads pi-ai and registers an API with it whose models answer in this process, without key or network. A second call
 * with the same name replaces the first.
 * @param answer called with each request when it is sent
 * @returns removes the API
 */
export async function registerScript(
	api: string,
	answer: (context: Context) => ScriptedAnswer | Promise<ScriptedAnswer>,
	{ pace = DEFAULT_PACE_MS, caches = false }: PlayOptions = {},
): Promise<() => void> {
	const { createAssistantMessageEventStream, registerApiProvider, unregisterApiProviders } = await import(
		"../util/pi-ai.js"
	);
	let before: Context | undefined;
	const stream = (model: Model<Api>, context: Context, { signal }: { signal?: AbortSignal } = {}) => {
		const events = createAssistantMessageEventStream();
		const request = { model, context, before, pace, signal };
		if (caches) before = context;
		void playReply(events, request, answer(context));
		return events;
	};
	registerApiProvider({ api, stream, streamSimple: stream }, api);
	return () => unregisterApiProviders(api);
}

/** A request to a scripted model. */
interface PlayedRequest {
	model: Model<Api>;
	context: Context;
	/** The request before this one, whose start is read from the cache. */
	before: Context | undefined;
	/** ms between chunks. */
	pace: number;
	signal: AbortSignal | undefined;
}

/**
 * Streams a reply as the events of a model. Ends with exactly one `done`, or with `error` when the signal is aborted; the
 * message keeps the text streamed until then.
 */
async function playReply(
	events: AssistantMessageEventStream,
	request: PlayedRequest,
	answer: ScriptedAnswer | Promise<ScriptedAnswer>,
): Promise<void> {
	const { model, pace, signal } = request;
	const message: AssistantMessage = {
		role: "assistant",
		content: [],
		api: model.api,
		provider: model.provider,
		model: model.id,
		usage: NO_USAGE,
		stopReason: "stop",
		timestamp: Date.now(),
	};
	const fail = (reason: "aborted" | "error", errorMessage: string) => {
		message.stopReason = reason;
		message.errorMessage = errorMessage;
		events.push({ type: "error", reason, error: message });
	};
	const stream: StreamChunks = async (text, onChunk) => {
		for (const chunk of chunksOf(text, pace)) {
			await pause(pace, signal);
			onChunk(chunk);
		}
	};
	try {
		const reply = await answer;
		if ("error" in reply) return fail("error", reply.error);
		message.usage = usageOf(request, reply);
		// The delay also lets the caller subscribe before the first event.
		await pause(pace * 10, signal);
		events.push({ type: "start", partial: message });
		await playProse(events, message, "thinking", reply.thinking, stream);
		await playProse(events, message, "text", reply.text, stream);
		await playCalls(events, message, reply.toolCalls ?? [], stream);
		const reason = reply.toolCalls?.length ? "toolUse" : "stop";
		message.stopReason = reason;
		events.push({ type: "done", reason, message });
	} catch (cause) {
		if (signal?.aborted) fail("aborted", "Request was aborted");
		else fail("error", String(cause));
	}
}

const NO_USAGE: AssistantMessage["usage"] = {
	input: 0,
	output: 0,
	cacheRead: 0,
	cacheWrite: 0,
	totalTokens: 0,
	cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 },
};

type StreamChunks = (text: string, onChunk: (chunk: string) => void) => Promise<void>;

async function playProse(
	events: AssistantMessageEventStream,
	message: AssistantMessage,
	kind: "thinking" | "text",
	content: string | undefined,
	stream: StreamChunks,
): Promise<void> {
	if (content === undefined) return;
	const block = kind === "text" ? { type: kind, text: "" } : { type: kind, thinking: "" };
	const at = { contentIndex: message.content.push(block) - 1, partial: message };
	events.push({ type: `${kind}_start`, ...at });
	await stream(content, (delta) => {
		if (block.type === "text") block.text += delta;
		else block.thinking += delta;
		events.push({ type: `${kind}_delta`, delta, ...at });
	});
	events.push({ type: `${kind}_end`, content, ...at });
}

async function playCalls(
	events: AssistantMessageEventStream,
	message: AssistantMessage,
	calls: NonNullable<ScriptedReply["toolCalls"]>,
	stream: StreamChunks,
): Promise<void> {
	for (const call of calls) {
		const block = {
			type: "toolCall" as const,
			id: `demo_${crypto.randomUUID().replaceAll("-", "")}`,
			name: call.name,
			arguments: {},
		};
		const at = { contentIndex: message.content.push(block) - 1, partial: message };
		events.push({ type: "toolcall_start", ...at });
		await stream(JSON.stringify(call.arguments), (delta) => events.push({ type: "toolcall_delta", delta, ...at }));
		block.arguments = { ...call.arguments };
		events.push({ type: "toolcall_end", toolCall: block, ...at });
	}
}

function* chunksOf(text: string, pace: number): Generator<string> {
	if (pace === 0) {
		if (text) yield text;
		return;
	}
	const characters = [...text];
	for (let start = 0, turn = 0; start < characters.length; turn++) {
		const size = CHUNKS[turn % CHUNKS.length] ?? 1;
		yield characters.slice(start, start + size).join("");
		start += size;
	}
}

/** Yields to timers and rendering even without a delay. */
async function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
	if (ms > 0) await delay(ms, undefined, { signal });
	else await nextTurn(undefined, { signal });
}

/** Estimated usage, as a real model would report it. What the request shares with the one before it is read from the cache. */
function usageOf({ model, context, before }: PlayedRequest, reply: ScriptedReply): AssistantMessage["usage"] {
	const request = requestText(context);
	const cached = before ? sharedLength(requestText(before), request) : 0;
	const written =
		(reply.thinking ?? "").length + (reply.text ?? "").length + JSON.stringify(reply.toolCalls ?? []).length;
	const cacheRead = Math.floor(cached / CHARS_PER_TOKEN);
	const input = Math.ceil(request.length / CHARS_PER_TOKEN) - cacheRead;
	const output = Math.ceil(written / CHARS_PER_TOKEN);
	const price = (tokens: number, perMillion: number) => (tokens * perMillion) / 1_000_000;
	const cost = {
		input: price(input, model.cost.input),
		output: price(output, model.cost.output),
		cacheRead: price(cacheRead, model.cost.cacheRead),
		cacheWrite: 0,
	};
	const total = cost.input + cost.output + cost.cacheRead;
	return { input, output, cacheRead, cacheWrite: 0, totalTokens: input + cacheRead + output, cost: { ...cost, total } };
}

function requestText(context: Context): string {
	return (context.systemPrompt ?? "") + JSON.stringify(context.tools ?? []) + conversationText(context);
}

function sharedLength(first: string, second: string): number {
	let length = 0;
	while (length < first.length && first[length] === second[length]) length++;
	return length;
}

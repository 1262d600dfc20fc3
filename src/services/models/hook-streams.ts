import type { AssistantMessage, AssistantMessageEvent, AssistantMessageEventStream, Model } from "@mariozechner/pi-ai";
import { failedReply } from "../../agent/failed-reply.js";
import type { StreamFunction } from "../../agent/stream.js";
import { errorText } from "../../errors.js";
import type { HookProvider } from "../../hooks/providers.js";
import { isRecord } from "../../util/is-record.js";
import type { ModelClient } from "../service-types.js";
import { callStream, HookRoutes } from "./hook-routes.js";

/** The client of a session whose hooks may have providers with a `stream` function. */
export interface HookStreams {
	/** Lets these providers send their own requests. */
	client: ModelClient;
	/** Lets hooks that call pi-ai themselves reach them too. */
	routes: HookRoutes;
}

/** @param find the provider with this name that is in use */
export async function createHookStreams(
	client: ModelClient,
	find: (provider: string) => HookProvider | undefined,
): Promise<HookStreams> {
	const ai = await import("../../util/pi-ai.js");
	const findStream = (provider: string): StreamFunction | undefined => {
		const { stream } = find(provider) ?? {};
		return (
			stream &&
			((model, context, options) => {
				const events = ai.createAssistantMessageEventStream();
				void callStream(provider, () => pass(events, stream, { model, context, options }));
				return events;
			})
		);
	};
	return {
		client: {
			stream: (model, context, options) => (findStream(model.provider) ?? client.stream)(model, context, options),
			validator: () => client.validator(),
			isOverflow: (message, contextWindow) => client.isOverflow(message, contextWindow),
			clampThinkingLevel: (model, level) => client.clampThinkingLevel(model, level),
			prepare: (model) => client.prepare(model),
			release: (sessionId) => client.release(sessionId),
		},
		routes: new HookRoutes(ai, findStream),
	};
}

type Request = { model: Parameters<StreamFunction>[0] } & {
	context: Parameters<StreamFunction>[1];
	options: Parameters<StreamFunction>[2];
};

/** Passes the events of a hook on, checked. Never rejects: whatever fails is an error event, like that of pi-ai. */
async function pass(
	events: AssistantMessageEventStream,
	stream: NonNullable<HookProvider["stream"]>,
	{ model, context, options }: Request,
): Promise<void> {
	let partial: AssistantMessage | null = null;
	try {
		const given: unknown = await stream(model, context, options);
		if (!isAsyncIterable(given))
			throw new TypeError(`stream of the provider ${model.provider} returned no event stream`);
		let count = 0;
		for await (const event of given) {
			const checked = checkEvent(event, count++, model);
			events.push(checked);
			if (checked.type === "done" || checked.type === "error") return;
			partial = checked.partial;
		}
		throw new TypeError(`stream of the provider ${model.provider} ended without the event done or error`);
	} catch (error) {
		const reason = options.signal?.aborted ? "aborted" : "error";
		events.push({ type: "error", reason, error: failedReply(model, partial?.content ?? [], reason, errorText(error)) });
	}
}

function isAsyncIterable(value: unknown): value is AsyncIterable<unknown> {
	return typeof value === "object" && value !== null && Symbol.asyncIterator in value;
}

const PARTIAL_EVENTS: ReadonlySet<unknown> = new Set(
	"start text_start text_delta text_end thinking_start thinking_delta thinking_end toolcall_start toolcall_delta toolcall_end".split(
		" ",
	),
);

/**
 * @returns the event; its final message names the session's model, which the hook may reach under another name, and its
 * partial one has every field
 */
function checkEvent(event: unknown, index: number, model: Model<string>): AssistantMessageEvent {
	const { api, provider, id } = model;
	const refuse = (reason: string) => new TypeError(`event ${index} of the provider ${provider}: ${reason}`);
	if (!isRecord(event)) throw refuse("it is not an object");
	const own = { api, provider, model: id };
	const known = event as AssistantMessageEvent;
	if (known.type === "done" || known.type === "error") {
		const [field, message] = known.type === "done" ? ["message", known.message] : ["error", known.error];
		const problem = problemOf(message);
		if (problem !== null) throw refuse(`${field}${problem}`);
		const named: AssistantMessage = { ...message, ...own };
		return known.type === "done" ? { ...known, message: named } : { ...known, error: named };
	}
	if (!PARTIAL_EVENTS.has(known.type)) throw refuse("its type is unknown");
	if (!isRecord(known.partial) || !Array.isArray(known.partial.content)) throw refuse("partial.content is not a list");
	if (/_delta$/.test(known.type) && typeof event.delta !== "string") throw refuse("delta is not a string");
	return isComplete(known.partial) ? known : { ...known, partial: complete(known.partial, model) };
}

function isComplete({ role, usage, stopReason, timestamp }: Partial<AssistantMessage>): boolean {
	return role === "assistant" && isRecord(usage) && STOP_REASONS.has(stopReason) && typeof timestamp === "number";
}

/** Only the content of a partial reply matters to its hook; events have complete messages. */
function complete(partial: AssistantMessage, model: Model<string>): AssistantMessage {
	const { errorMessage: _, ...none } = failedReply(model, [], "error", "");
	return { ...none, stopReason: "stop", content: partial.content };
}

/** The first invalid field of a final message; null if it is valid. */
function problemOf(message: unknown): string | null {
	if (!isRecord(message)) return " is missing";
	const { role, content, stopReason, usage, timestamp } = message;
	if (role !== "assistant") return '.role is not "assistant"';
	if (!Array.isArray(content)) return ".content is not a list";
	const invalid = content.findIndex((block) => !isBlock(block));
	if (invalid >= 0) return `.content[${invalid}] is not a text, thinking or toolCall block`;
	if (!STOP_REASONS.has(stopReason)) return ".stopReason is unknown";
	if (typeof timestamp !== "number") return ".timestamp is not a number";
	const counts = isRecord(usage) ? [usage.input, usage.output, usage.cacheRead, usage.cacheWrite] : [null];
	if (counts.some((count) => typeof count !== "number"))
		return ".usage has no numbers input, output, cacheRead, cacheWrite";
	return isRecord(usage) && isRecord(usage.cost) && typeof usage.cost.total === "number"
		? null
		: ".usage.cost has no total";
}

const STOP_REASONS: ReadonlySet<unknown> = new Set(["stop", "length", "toolUse", "error", "aborted"]);

function isBlock(block: unknown): boolean {
	if (!isRecord(block)) return false;
	if (block.type === "text") return typeof block.text === "string";
	if (block.type === "thinking") return typeof block.thinking === "string";
	return (
		block.type === "toolCall" &&
		typeof block.id === "string" &&
		typeof block.name === "string" &&
		isRecord(block.arguments)
	);
}

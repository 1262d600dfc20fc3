import type { Api, Context, Model } from "@mariozechner/pi-ai";
import type { PreparedRequest, RequestStop } from "../../agent/loop.js";
import type { BuiltContext } from "../../context/context-message.js";
import { separateThinking } from "../../context/foreign-thinking.js";
import { limitImages } from "../../context/image-limits.js";
import { sentTool } from "../../context/preamble.js";
import { freezeDeep } from "../../log/freeze.js";
import { requireModel } from "../../services/service-types.js";
import { formatBytes } from "../../tools/output.js";
import type { Compaction } from "../compaction/compaction.js";
import type { SystemItems } from "../prompt/prompt-queue.js";
import type { SessionCore } from "../session-core.js";
import type { DemandedAnswer } from "./demanded-answer.js";
import type { NestedContextFiles } from "./nested-context-files.js";
import type { RunPoints } from "./run-points.js";
import type { SessionWindow } from "./session-window.js";

/** What a request is made of. */
export interface RequestSources extends SessionCore {
	window: SessionWindow;
	compaction: Pick<Compaction, "makeRoom" | "makeRoomForBytes">;
}

/** What requests of a run contain in addition to its prompts, replies and results. */
export interface RequestAdditions {
	systemItems: SystemItems;
	nestedFiles: NestedContextFiles;
	points: RunPoints;
	answer: Pick<DemandedAnswer, "write">;
}

/**
 * Prepares a request that fits and that the hooks allow. If a handler of `before_request` computes the context again, the
 * request is prepared again from its result, without asking twice. @returns why it must not be sent instead
 */
export async function prepareAllowed(
	deps: RequestSources,
	additions: RequestAdditions,
	turnIndex: number,
	signal: AbortSignal,
): Promise<PreparedContext | RequestStop> {
	for (let isAllowed = false; ; ) {
		const prepared = await prepareFitting(deps, additions, signal);
		const { request, built } = prepared;
		if (signal.aborted) return prepared;
		const excess = deps.window.describeExcess() ?? describeRequestSize(request.model, request.context);
		if (excess !== null) return { stop: excess };
		if (isAllowed) return prepared;
		const stop = await additions.points.at(() => askBeforeRequest(deps, request, turnIndex, signal));
		if (stop !== null) return { stop };
		if (deps.context.current === built) return prepared;
		isAllowed = true;
	}
}

/** Prepares a request. If it is larger than the provider accepts, an automatic compaction may make room. */
async function prepareFitting(...[deps, additions, signal]: Parameters<typeof prepareRequest>) {
	const prepared = await prepareRequest(deps, additions, signal);
	const { model, context } = prepared.request;
	if (signal.aborted || describeRequestSize(model, context) === null) return prepared;
	return (await deps.compaction.makeRoomForBytes(signal)) ? prepareRequest(deps, additions, signal) : prepared;
}

/** A request with the record of its context. */
export type RequestWithRecord = PreparedRequest & Required<Pick<PreparedRequest, "record">>;

/** A request with its context, and the number of images that it omits. */
interface PreparedContext {
	request: RequestWithRecord;
	built: BuiltContext;
	omitted: number;
}

async function prepareRequest(
	deps: RequestSources,
	{ systemItems, nestedFiles, answer }: RequestAdditions,
	signal: AbortSignal,
): Promise<PreparedContext> {
	const { store, models, state, context, compaction } = deps;
	const model = requireModel(models, state);
	const [auth] = await Promise.all([models.list.requestAuth(model), models.client.prepare(model)]);
	// Items appended until now are part of this request, later ones of the next.
	await nestedFiles.write();
	systemItems.write();
	await context.rebuild(signal);
	if (await compaction.makeRoom(signal)) await context.rebuild(signal);
	if (answer.write(model, context.current.outputSchema)) await context.rebuild(signal);
	const built = context.current;
	const { messages: all, digest } = context.request();
	const { messages, omitted } = limitImages(separateThinking(all, model), model);
	const { systemPrompt, tools } = built.preamble;
	const level = models.client.clampThinkingLevel(model, state.thinkingLevel);
	const { cacheRetention } = store.settings.current;
	const isSubscription = models.offers.keyState(model.provider) === "login";
	const request: RequestWithRecord = {
		model: withReplyRoom(model, deps.window.replyRoom()),
		context: {
			systemPrompt,
			messages,
			tools: tools.map(sentTool),
		},
		options: {
			apiKey: auth.apiKey,
			...(auth.headers ? { headers: auth.headers } : {}),
			...(level === "off" ? {} : { reasoning: level }),
			sessionId: state.cacheKey,
			...(cacheRetention === undefined ? {} : { cacheRetention }),
			// The agent loop retries, so that retries are visible, counted and can be aborted.
			maxRetries: 0,
		},
		record: {
			digest,
			messages: built.messages.length,
			tokens: context.tokens(),
			estimate: context.estimate(),
			...(isSubscription && { subscription: true }),
			...context.describeRequest(built, model),
		},
	};
	return { request, built, omitted };
}

/** A model that writes no more than `room` tokens: some servers refuse a request whose input and output exceed the window. */
function withReplyRoom(model: Model<Api>, room: number | null): Model<Api> {
	if (room === null || (model.maxTokens > 0 && model.maxTokens <= room)) return model;
	return { ...model, maxTokens: room };
}

/** Asks the hooks whether to send a request. @returns the reason not to; null to send it */
async function askBeforeRequest(
	{ hooks }: RequestSources,
	{ model, record }: RequestWithRecord,
	turnIndex: number,
	signal: AbortSignal,
): Promise<string | null> {
	if (!hooks().registry.has("before_request")) return null;
	const { provider, id } = model;
	const { messages: messageCount, tokens } = record;
	const event = { type: "before_request", model: { provider, id }, messageCount, tokens, turnIndex } as const;
	return hooks().gateRequest(freezeDeep(event), signal);
}

/** JSON takes at most 6 bytes for a UTF-16 unit. */
const MAX_BYTES_PER_UNIT = 6;

/** Why a request must not be sent, because it is larger than its provider accepts; null if it is not. */
function describeRequestSize(model: Model<Api>, context: Context): string | null {
	const limit = model.inputLimits?.maxRequestBytes;
	if (limit === undefined) return null;
	const { images, units } = countUnits(context);
	// Measuring exactly takes milliseconds, and few requests are near the limit.
	if (images.bytes + units * MAX_BYTES_PER_UNIT <= limit) return null;
	const bytes = jsonBytes(context);
	if (bytes <= limit) return null;
	const number = images.count === 1 ? "1 image" : `${images.count} images`;
	const withImages = images.count === 0 ? "" : `, ${formatBytes(images.bytes)} of it in ${number}`;
	const before = images.count === 0 ? "" : ", or take the images back with /branch";
	return `The request is too large: ${formatBytes(bytes)}${withImages}, but ${model.name} accepts ${formatBytes(limit)}; free context with /compact${before}`;
}

/** Images, and UTF-16 units of all other parts. */
function countUnits({ systemPrompt = "", messages, tools = [] }: Context) {
	const images = { count: 0, bytes: 0 };
	let units = systemPrompt.length + JSON.stringify(tools).length;
	for (const { content } of messages) {
		if (typeof content === "string") units += content.length;
		else
			for (const block of content ?? []) {
				if (block.type !== "image") units += JSON.stringify(block).length;
				else {
					images.count += 1;
					images.bytes += block.data.length;
				}
			}
	}
	return { images, units };
}

/** The size of the parts that every wire format contains. */
function jsonBytes({ systemPrompt = "", messages, tools = [] }: Context): number {
	const parts = { systemPrompt, tools, messages: messages.map(({ role, content }) => ({ role, content })) };
	return Buffer.byteLength(JSON.stringify(parts));
}

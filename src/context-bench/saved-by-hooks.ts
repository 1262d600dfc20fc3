import type { Api, AssistantMessage, CacheRetention, Model } from "@mariozechner/pi-ai";
import { buildContext } from "../context/build-context.js";
import { inputTokens } from "../context/calibration.js";
import { ContextMemo } from "../context/context-memo.js";
import type { BuiltContext } from "../context/context-message.js";
import { NO_PREAMBLE, plainPreamble } from "../context/preamble.js";
import { coreAt, readRecordedPreamble } from "../context/recorded-preamble.js";
import { readRecordedRequest } from "../context/recorded-request.js";
import { isMessageEntry, type MessageEntry, type SessionEntry } from "../log/entry.js";
import { sectionsForTools } from "../resources/system-prompt.js";
import { sum } from "../util/sum.js";
import { RequestMeter, surprises } from "./meter.js";
import { SessionScale } from "./session-scale.js";

export interface SavedOptions {
	retention: CacheRetention | undefined;
	findModel(provider: string, id: string): Model<Api> | null;
}

type Reply = MessageEntry & { message: AssistantMessage };

/**
 * USD by which the requests of a session would have cost more without hooks: the recorded cost against a prediction. Calls no
 * hook. @returns null if hooks changed none of them, or if no cost is recorded
 */
export async function savedByHooks(
	entries: readonly SessionEntry[],
	{ retention, findModel }: SavedOptions,
): Promise<number | null> {
	const replies = entries.flatMap((entry, index) =>
		isReply(entry) && inputTokens(entry.message) > 0 ? [{ index, entry }] : [],
	);
	const cost = sum(replies.map(({ entry }) => entry.message.usage.cost.total));
	const isChanged = replies.some(
		({ index, entry }) => entry.context?.shape || sentPreambleOf(entries, index).isChanged,
	);
	if (cost === 0 || !isChanged) return null;
	const scale = new SessionScale();
	const found = surprises();
	const shared = { scale, retention, findModel, caches: () => true, onRequest: () => {} };
	const sent = new RequestMeter({ ...shared, surpriseAt: found.note });
	const plain = new RequestMeter({ ...shared, surpriseAt: found.of });
	const memo = new ContextMemo();
	for (const { index: reply, entry } of replies) {
		const { message } = entry;
		const before = entries.slice(0, reply);
		const preamble = coreAt(entries, reply, sectionsForTools) ?? NO_PREAMBLE;
		const core = await buildContext(before, [], { memo, preamble });
		const context = sentContext(entries, reply, core);
		scale.note(entry, reply, context.messages, context.preamble);
		sent.onRequest({ reply, message, context });
		plain.onRequest({ reply, message, context: core });
	}
	const [actual, without] = [sent, plain].map(({ requests }) => sum(requests.map((request) => request.cost ?? 0)));
	if (!actual || without === undefined) return null;
	// Both predictions are off by the same factor.
	return without * (cost / actual) - cost;
}

/** A request as it was sent. */
function sentContext(entries: readonly SessionEntry[], reply: number, core: BuiltContext): BuiltContext {
	// The record does not name the hooks: that one made a message decides where the request asks to be cached.
	const messages = (readRecordedRequest(entries, reply) ?? core.messages).map((traced) =>
		traced.origin.kind === "freeze" ? { ...traced, origin: { kind: "hook", hook: "" } as const } : traced,
	);
	const { problems, facts, provider, outputSchema } = core;
	const preamble = sentPreambleOf(entries, reply).preamble ?? core.preamble;
	return {
		length: reply,
		messages,
		preamble,
		hidden: [],
		edits: [],
		problems,
		facts,
		provider,
		outputSchema,
		isChanged: false,
	};
}

function sentPreambleOf(entries: readonly SessionEntry[], reply: number) {
	const past = readRecordedPreamble(entries, reply);
	if (!past) return { preamble: null, isChanged: false };
	const { core, sent } = past;
	return { preamble: plainPreamble({ ...sent, generate: () => ({}) }), isChanged: core !== sent };
}

function isReply(entry: SessionEntry | undefined): entry is Reply {
	return isMessageEntry(entry) && entry.message.role === "assistant";
}

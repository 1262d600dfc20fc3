/**
 * Lets OpenAI compact the conversation itself: each compaction also asks the provider for its own form of the same messages
 * (`/responses/compact`), which only its models can read. They get it instead of the summary, which you and all other models read.
 *
 * A failure changes nothing: the summary is there.
 */
import {
	convertToLlm,
	type HookAPI,
	type HookEventContext,
	type SessionEvent,
} from "@mariozechner/pi-coding-agent/hooks";

type BeforeCompact = Extract<SessionEvent, { reason: "before_compact" }>;
type Items = readonly Readonly<Record<string, unknown>>[];

const API = "openai-responses";
/** Characters of an answer. */
const MAX_ANSWER = 2_000_000;

export default function serverCompact(pi: HookAPI): void {
	pi.on("session", async (event, ctx) => {
		if (event.reason !== "before_compact" || event.model.api !== API) return undefined;
		try {
			const items = await compact(event, await inputOf(event, ctx), ctx);
			return { nativeCompaction: { api: API, provider: event.model.provider, items } };
		} catch (error) {
			if (event.signal.aborted) return undefined;
			const reason = error instanceof Error ? error.message : String(error);
			ctx.ui.notify(`${event.model.provider} did not compact the conversation itself: ${reason}`, "warning");
			return undefined;
		}
	});
}

/** The messages as the provider gets them. No request is sent for it. */
async function inputOf({ model, messagesToSummarize, signal }: BeforeCompact, ctx: HookEventContext): Promise<Items> {
	let input: unknown;
	const onPayload = (payload: unknown) => {
		input = Object(payload).input;
		throw new Error("not sent");
	};
	const events = await ctx.stream(model, { messages: convertToLlm(messagesToSummarize) }, { signal, onPayload });
	await events.result();
	if (!isItems(input)) throw new Error("the messages have no form of this API");
	return input;
}

async function compact({ model, signal }: BeforeCompact, input: Items, ctx: HookEventContext): Promise<Items> {
	const auth = await ctx.requestAuth(model);
	if (!auth) throw new Error("its key is missing");
	const response = await fetch(`${model.baseUrl.replace(/\/$/, "")}/responses/compact`, {
		method: "POST",
		redirect: "error",
		headers: { ...auth.headers, "content-type": "application/json", authorization: `Bearer ${auth.apiKey}` },
		body: JSON.stringify({ model: model.id, input }),
		signal,
	});
	const answer = await response.text();
	if (!response.ok) throw new Error(`it answered with status ${response.status}`);
	if (answer.length > MAX_ANSWER) throw new Error("its answer is too long");
	const items = parse(answer);
	if (!isItems(items) || !items.some(({ type }) => type === "compaction"))
		throw new Error("its answer has no compaction");
	return items;
}

function parse(answer: string): unknown {
	try {
		return Object(JSON.parse(answer)).output;
	} catch {
		return undefined;
	}
}

function isItems(value: unknown): value is Items {
	return Array.isArray(value) && value.every((item) => typeof item === "object" && item !== null);
}

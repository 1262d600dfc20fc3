import type { Api, AssistantMessage, Model } from "@mariozechner/pi-ai";
import type { RetryPolicy } from "../../agent/retry.js";
import { sendWithRetries } from "../../agent/send.js";
import type { StreamFunction } from "../../agent/stream.js";
import {
	estimateRequest,
	type SummaryRequest,
	splitConversation,
	summaryOverhead,
	summaryRequest,
} from "../../context/summary-request.js";
import { type Activities, plainSummary } from "../../context/summary-text.js";
import { estimateText } from "../../context/tokens.js";
import { describeError, PiError } from "../../errors.js";
import type { AppMessage } from "../../log/entry.js";
import type { ModelClient, SessionModels } from "../../services/service-types.js";

/** A conversation to summarize, and the form of the summary. */
export interface SummaryTask {
	messages: readonly AppMessage[];
	/** The summary of everything before them. */
	previous?: string | undefined;
	activities: Activities;
	focus?: string | undefined;
	/** The longest summary, in estimated tokens. */
	maxTokens: number;
}

export interface SummarizerDeps {
	/** The models to ask, in order. */
	candidates: readonly Model<Api>[];
	models: Pick<SessionModels, "requestAuth">;
	stream: StreamFunction;
	retry: RetryPolicy;
	idleTimeoutMs: number;
	/** The context window of a model, in estimated tokens; 0 when unknown. */
	windowOf(model: Model<Api>): number;
	/** Notes that a model refused a request as too long. @param estimated its tokens, before calibration */
	noteRefusal(model: Model<Api>, errorMessage: string, estimated: number): void;
	/** Judges whether a model refused a request as too long. */
	client: Pick<ModelClient, "isOverflow">;
	/** Removes secrets from error messages. */
	redact(text: string): string;
	signal: AbortSignal;
	/** Receives the summary so far. */
	onText(text: string): void;
	/** Receives the reason why a model is asked again, or another model instead. */
	onNotice(message: string): void;
}

/** A summary, and who wrote it. */
export interface Summary {
	text: string;
	/** null: pi wrote it without a model. */
	model: Model<Api> | null;
	/** Why pi wrote it. */
	reason?: string;
	/** Parts of the conversation that were summarized one after the other. */
	parts: number;
}

/** Parts that a model summarizes; of an even longer conversation it gets the end, and a list of what came before. */
const MAX_PARTS = 12;
/** Requests for one part, when answers are cut off. */
const MAX_ANSWERS = 4;
/** A window that leaves less than this for the conversation is too small to summarize anything. */
const MIN_PART_TOKENS = 200;
/** Window that is assumed when it is unknown, in tokens. */
const ASSUMED_WINDOW = 32_768;
/** A model that refuses even requests of this size writes no summaries. */
const MIN_WINDOW = 2048;
/** Share of the window that a request for a summary may take: estimates are off by some percent. */
const USED_SHARE = 0.85;

/**
 * Summarizes a conversation with the first model that can; without any, from the tool calls and prompts. A conversation
 * that exceeds the window of the model is summarized in parts. Never returns an empty summary.
 * @throws PiError `compaction_failed` when it was aborted
 */
export async function summarize(task: SummaryTask, deps: SummarizerDeps): Promise<Summary> {
	let reason = "no model is available";
	for (const [at, model] of deps.candidates.entries()) {
		try {
			return await summarizeWith(model, task, deps);
		} catch (error) {
			if (deps.signal.aborted) throw new PiError("compaction_failed", "The compaction was canceled");
			reason = describeError(error);
			const next = deps.candidates[at + 1];
			deps.onNotice(
				`${reason}; ${next ? `${next.name} writes the summary` : "pi lists prompts, files and commands instead"}`,
			);
		}
	}
	const text = plainSummary(task.messages, task.activities, task.previous, task.maxTokens);
	return { text, model: null, reason, parts: 0 };
}

async function summarizeWith(model: Model<Api>, task: SummaryTask, deps: SummarizerDeps): Promise<Summary> {
	let window = deps.windowOf(model) || ASSUMED_WINDOW;
	for (;;) {
		try {
			return await summarizeInParts(model, window, task, deps);
		} catch (error) {
			if (!(error instanceof TooLong) || Math.min(window, error.size) < MIN_WINDOW) throw error;
			deps.noteRefusal(model, error.errorMessage, error.size);
			const learned = deps.windowOf(model);
			// Whatever the model says, the next request is smaller.
			window = learned > 0 && learned < error.size ? learned : Math.floor(error.size / 2);
		}
	}
}

async function summarizeInParts(
	model: Model<Api>,
	window: number,
	{ messages, previous, activities, focus, maxTokens }: SummaryTask,
	deps: SummarizerDeps,
): Promise<Summary> {
	const answer = answerTokens(model, window, maxTokens);
	// The notes on earlier parts are as long as an answer.
	const room = Math.floor(window * USED_SHARE) - answer - summaryOverhead({ focus, maxTokens }) - answer;
	if (room < MIN_PART_TOKENS)
		throw new PiError("compaction_failed", `${model.name} has too small a window for a summary`);
	// A longer summary, such as one for a larger window, is summarized itself.
	const isLong = previous !== undefined && estimateText(previous) > answer;
	let parts = splitConversation(messages, room, isLong ? previous : undefined);
	let notes = isLong ? undefined : previous;
	if (parts.length > MAX_PARTS) {
		parts = parts.slice(-MAX_PARTS);
		notes = plainSummary(messages, activities, previous, maxTokens);
	}
	for (const [at, conversation] of parts.entries()) {
		const progress = parts.length > 1 ? `Part ${at + 1} of ${parts.length}\n\n` : "";
		const request = { conversation, previous: notes, focus, maxTokens };
		notes = await askForNotes(model, answer, request, { ...deps, onText: (text) => deps.onText(progress + text) });
	}
	if (!notes) throw new PiError("compaction_failed", "The conversation has no text to summarize");
	return { text: notes, model, parts: parts.length };
}

/** Tokens that a model may write for a summary of `maxTokens`. */
function answerTokens(model: Model<Api>, window: number, maxTokens: number): number {
	const wanted = Math.ceil(maxTokens * 1.25) + 32;
	return Math.min(wanted, Math.floor(window / 4), model.maxTokens > 0 ? model.maxTokens : wanted);
}

/** Asks until the notes are complete: continues an answer that was cut off, or asks for a shorter one. */
async function askForNotes(
	model: Model<Api>,
	answerTokens: number,
	request: SummaryRequest,
	deps: SummarizerDeps,
): Promise<string> {
	let written = "";
	let cutOff: SummaryRequest["cutOff"];
	let maxTokens = answerTokens;
	for (let answers = 0; answers < MAX_ANSWERS; answers++) {
		const before = cutOff && !cutOff.isTooLong ? written : "";
		const context = summaryRequest({ ...request, ...(cutOff && { cutOff }) });
		const reply = await send(model, context, maxTokens, { ...deps, onText: (text) => deps.onText(before + text) });
		written = before + replyText(reply);
		if (written.trim() !== "" && reply.stopReason !== "length") return written.trim();
		if (reply.stopReason !== "length") break;
		// Thinking may have used all of it.
		if (written.trim() === "")
			maxTokens = Math.min(maxTokens * 2, model.maxTokens > 0 ? model.maxTokens : maxTokens * 2);
		const isTooLong = estimateText(written) >= request.maxTokens;
		cutOff = written.trim() === "" ? undefined : { text: written, isTooLong };
	}
	const what = written.trim() === "" ? "returned an empty summary" : "returned a summary that was cut off";
	throw new PiError("compaction_failed", `${model.name} ${what}`);
}

/** The model refused a request as too long. */
class TooLong extends PiError {
	/** @param size estimated tokens of the request and of the answer that it asked for */
	constructor(
		model: Model<Api>,
		readonly errorMessage: string,
		readonly size: number,
	) {
		super("compaction_failed", `${model.name} refused the request: ${errorMessage}`);
	}
}

/** After these, another model or pi itself writes the summary. */
const MAX_RETRIES = 3;

/** Sends a request for a summary and retries temporary failures, as for any request. */
async function send(
	model: Model<Api>,
	context: ReturnType<typeof summaryRequest>,
	maxTokens: number,
	{ models, stream, retry, idleTimeoutMs, client, redact, signal, onText, onNotice }: SummarizerDeps,
): Promise<AssistantMessage> {
	const auth = await models.requestAuth(model);
	const sent = await sendWithRetries(
		stream,
		// No other request starts like this one: a cache entry would cost money and never be read.
		async () => ({ model, context, options: { ...auth, maxTokens, maxRetries: 0, cacheRetention: "none" } }),
		{
			signal,
			retry: () => ({ ...retry, maxRetries: Math.min(retry.maxRetries, MAX_RETRIES) }),
			idleTimeoutMs: () => idleTimeoutMs,
			refusalOf: (reply) => (client.isOverflow(reply, model.contextWindow) ? "length" : null),
			redact,
			onEvent: (event) => {
				if (event.type === "text_delta") onText(replyText(event.partial));
			},
			onRetry: ({ errorMessage }) => onNotice(`${model.name} did not answer (${errorMessage}); asking again`),
		},
	);
	if (signal.aborted || !sent || sent.reply.stopReason === "aborted")
		throw new PiError("compaction_failed", "The compaction was canceled");
	const { reply, refusal } = sent;
	if (refusal) throw new TooLong(model, reply.errorMessage ?? "", estimateRequest(context) + maxTokens);
	if (reply.stopReason !== "error") return reply;
	throw new PiError("compaction_failed", `${model.name} returned no summary: ${reply.errorMessage ?? ""}`, {
		hint: "try /compact again, or choose another model with /model",
	});
}

function replyText(reply: AssistantMessage): string {
	return reply.content
		.filter((block) => block.type === "text")
		.map((block) => block.text)
		.join("\n");
}

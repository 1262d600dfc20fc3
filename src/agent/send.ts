import type { AssistantMessage, AssistantMessageEvent } from "@mariozechner/pi-ai";
import { builtInModels } from "../models/built-in-models.js";
import { sortByLikelihood } from "../models/likelihood.js";
import type { KnownModel } from "../models/model-facts.js";
import { sleep } from "../util/abort.js";
import { nearest } from "../util/nearest.js";
import { describeFailure, withBody } from "./failure.js";
import { kindOfFailure } from "./failure-kinds.js";
import type { ResponseFacts } from "./response-facts.js";
import type { ResponseHead } from "./response-headers.js";
import { MAX_WAIT_MS, type RetryPolicy, retryDelay, retryTime } from "./retry.js";
import { type ModelRequest, readReply, type StreamFunction } from "./stream.js";

export interface SendOptions {
	signal: AbortSignal;
	retry(): RetryPolicy;
	idleTimeoutMs(): number;
	/** What a reply refuses about the request; such a request is not retried as it is. */
	refusalOf(reply: AssistantMessage): Refusal | null;
	/** Removes secrets from error messages. */
	redact(text: string): string;
	onEvent(event: AssistantMessageEvent): void;
	/** Called with each HTTP response when its headers have arrived; absent if nobody reads them. */
	onResponse?: ((response: ResponseHead) => void) | undefined;
	/** Called before the delay of each retry. */
	onRetry(failed: FailedAttempt): void;
}

/** Why a model refuses a request that may be sent again in another form: it is too long, or it has an image. */
export type Refusal = "length" | "image";

/** An attempt that failed and is retried. */
export interface FailedAttempt {
	/** The part that arrived; `errorMessage` describes the failure. */
	reply: AssistantMessage;
	errorMessage: string;
	/** Number of the retry, from 1. */
	attempt: number;
	maxAttempts: number;
	delayMs: number;
}

export interface SentRequest<R extends ModelRequest> {
	/** A failure has `stopReason` "error" or "aborted", and an `errorMessage` as `describeFailure` returns it. */
	reply: AssistantMessage;
	/** The request of the last attempt. */
	request: R;
	refusal: Refusal | null;
	/** Number of retries that began, including one whose delay was aborted. */
	retries: number;
}

/**
 * Sends a request and retries temporary failures.
 * @param prepare creates the request of each attempt; null stops
 * @returns null when `prepare` returned null
 * @throws errors of `prepare` only
 */
export async function sendWithRetries<R extends ModelRequest>(
	stream: StreamFunction,
	prepare: () => Promise<R | null>,
	options: SendOptions,
): Promise<SentRequest<R> | null> {
	for (let retries = 0; ; retries++) {
		const request = await prepare();
		if (request === null) return null;
		const { reply, refusal, delayMs, maxAttempts } = await sendOnce(stream, request, retries + 1, options);
		if (delayMs === null) return { reply, request, refusal, retries };
		const attempt = retries + 1;
		const errorMessage = reply.errorMessage ?? "";
		options.onRetry({ reply, errorMessage, attempt, maxAttempts, delayMs });
		try {
			await sleep(delayMs, options.signal);
		} catch {
			return { reply: { ...reply, stopReason: "aborted" }, request, refusal, retries: attempt };
		}
	}
}

/** A failed reply with everything that the provider answered: clients omit codes, and sometimes the message. */
function withAnswer(reply: AssistantMessage, facts: ResponseFacts): AssistantMessage {
	if (reply.errorMessage === undefined || !facts.body) return reply;
	const complete = withBody(reply.errorMessage, facts);
	return { ...reply, errorMessage: complete.includes(facts.body) ? complete : `${complete} ${facts.body}` };
}

/** @returns `delayMs`: the delay before a retry, null for none; `maxAttempts`: maximum number of retries after this failure */
async function sendOnce(
	stream: StreamFunction,
	request: ModelRequest,
	attempt: number,
	options: SendOptions,
): Promise<Pick<SentRequest<ModelRequest>, "reply" | "refusal"> & { delayMs: number | null; maxAttempts: number }> {
	const { signal, onEvent } = options;
	const { reply, facts } = await readReply(stream, request, {
		signal,
		onEvent,
		onResponse: options.onResponse,
		idleTimeoutMs: options.idleTimeoutMs(),
	});
	const refusal = options.refusalOf(withAnswer(reply, facts));
	const retry = options.retry();
	if (reply.stopReason !== "error") return { reply, refusal, delayMs: null, maxAttempts: retry.maxRetries };
	const { retryAfterMs } = facts;
	const described = describeFailure(reply.errorMessage, request.model, facts);
	const failure = describeMissingModel(described, request.model, facts);
	const { isRetried, maxRetries = Number.POSITIVE_INFINITY } = kindOfFailure(failure, retryAfterMs);
	const maxAttempts = Math.min(retry.maxRetries, maxRetries);
	const again = retry.enabled && isRetried && attempt <= maxAttempts && !signal.aborted && refusal === null;
	const isLong = retryAfterMs !== null && retryAfterMs > MAX_WAIT_MS;
	// Providers may echo the request, including keys.
	const error = options.redact(failure);
	const errorMessage = isLong ? `${error}: try again ${retryTime(retryAfterMs, Date.now())}` : error;
	return {
		reply: { ...reply, errorMessage },
		refusal,
		delayMs: again ? retryDelay(retry, attempt, retryAfterMs) : null,
		maxAttempts,
	};
}

/** Maximum number of ids in a suggestion. */
const MAX_IDS = 3;

/**
 * The failure of a request for a model that its provider does not have, in words that name both, with the provider's own in
 * parentheses: with similar ids if the user named it and no list has it, else as one that was offered before. Failures that may
 * have another reason, and those of providers whose models the user defines, are unchanged.
 * @param failure as `describeFailure` returns it
 */
export function describeMissingModel(
	failure: string,
	model: KnownModel,
	{ body }: Pick<ResponseFacts, "body"> = { body: null },
): string {
	if (!isMissing(failure, body ?? "", model)) return failure;
	const { provider, id, assumed, relative } = model;
	const { lists } = builtInModels();
	if (assumed) {
		const ids = sortByLikelihood(lists.of(provider)).map((known) => known.id);
		const similar = [...new Set([...(relative === undefined ? [] : [relative]), ...nearest(id, ids)])];
		return `${provider} does not know ${id} (${failure}) · did you mean ${similar.slice(0, MAX_IDS).join(", ")}?`;
	}
	const isListed = relative !== undefined || lists.find(provider, id) !== undefined;
	return isListed ? `${id} is no longer offered by ${provider} (${failure})` : failure;
}

/** A 404 can be a wrong address, a missing permission or a setting of the account too: the answer must speak of the model. */
function isMissing(failure: string, body: string, { id, retired }: KnownModel): boolean {
	const { name } = kindOfFailure(failure);
	if ((name !== "model" && name !== "not found") || OTHER_REASON.test(failure)) return false;
	const answer = `${failure} ${body}`;
	if (retired || /\bmodel_not_found\b/.test(answer)) return true;
	return (answer.includes(id) || /\bmodel\b/i.test(failure)) && GONE.test(answer);
}

/** What the user can change without another model. */
const OTHER_REASON = /\bverif|\bpolic(?:y|ies)\b|\bsettings\b|\bpermission|\bsubscri|\bupgrade\b/i;
const GONE =
	/not[_ ]found|(?:does )?not exist|no longer|no such model|(?:unknown|invalid|not a valid) model|is invalid|deprecated|retired/i;

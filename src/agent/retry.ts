import { isConnectionFailure } from "./connection-failure.js";
import { statusOf } from "./failure.js";
import { NO_FACTS } from "./response-watch.js";

/** When to retry a failed request. */
export interface RetryPolicy {
	enabled: boolean;
	maxRetries: number;
	/** ms; doubles with each attempt. */
	baseDelayMs: number;
}

/** Maximum delay, ms. A request is not retried when the server asks for a longer one. */
export const MAX_DELAY_MS = 60_000;

const RETRYABLE_STATUS = new Set([408, 409, 429, 500, 502, 503, 504, 520, 522, 524, 529]);
const RETRYABLE_TEXT =
	/overloaded|terminated|connection error|connection (?:was )?(?:reset|closed|refused)|econnreset|econnrefused|etimedout|socket hang up|fetch failed|timed? ?out|ended before|no content for|network_error|rate.?limit|too many requests|service unavailable|internal server error|unexpected end of json|bad gateway|premature close/i;

/** An account without quota or credit: waiting does not help. */
const EXHAUSTED = /insufficient[_ ](?:credits?|balance|funds)|quota|billing|credit balance|out of credits/i;
/** A limit that passes soon, which some providers also call a quota. */
const PASSES = /\b(?:re)?try (?:again )?(?:in|after)\b|per[_ -]?(?:minute|second)/i;

/**
 * True when a retry may succeed: 408, 409, 429, 5xx, overload, reset, stalled and truncated streams. False for refusals
 * (400, 401, 403, 404, …), an account without quota, a web page instead of a reply and unknown errors.
 * @param text the error as the client words it
 */
export function isRetryable(text: string, { status, retryAfterMs, isPage } = NO_FACTS): boolean {
	if (isPage && status !== null && status < 400) return false;
	const known = statusOf(text) ?? (isConnectionFailure(text) ? null : status);
	if (known === null || known < 400) return RETRYABLE_TEXT.test(text);
	if (known === 429 && retryAfterMs === null && EXHAUSTED.test(text) && !PASSES.test(text)) return false;
	return RETRYABLE_STATUS.has(known) || (known >= 500 && known < 600);
}

/**
 * The delay before attempt `attempt` (from 1), in ms: the one requested by the server, else `baseDelayMs` doubled for each
 * attempt. @returns null when the server asks for more than `MAX_DELAY_MS`
 */
export function retryDelay(policy: RetryPolicy, attempt: number, retryAfterMs: number | null): number | null {
	if (retryAfterMs !== null) return retryAfterMs <= MAX_DELAY_MS ? retryAfterMs : null;
	return Math.min(policy.baseDelayMs * 2 ** (attempt - 1), MAX_DELAY_MS);
}

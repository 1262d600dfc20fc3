import { subscribe, unsubscribe } from "node:diagnostics_channel";

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

/**
 * True when a retry may succeed: 408, 409, 429, 5xx, overload, reset, stalled and truncated streams. False for refusals
 * (400, 401, 403, 404, …) and unknown errors.
 */
export function isRetryable(errorMessage: string): boolean {
	const status = statusOf(errorMessage);
	if (status !== null) return RETRYABLE_STATUS.has(status) || (status >= 500 && status < 600);
	return RETRYABLE_TEXT.test(errorMessage);
}

/** HTTP status at the start of a pi-ai error message; null without one. */
export function statusOf(errorMessage: string): number | null {
	const match = /^\s*(\d{3})\b/.exec(errorMessage);
	return match ? Number(match[1]) : null;
}

/**
 * The delay before attempt `attempt` (from 1), in ms: the one requested by the server, else `baseDelayMs` doubled for each
 * attempt. @returns null when the server asks for more than `MAX_DELAY_MS`
 */
export function retryDelay(policy: RetryPolicy, attempt: number, retryAfterMs: number | null): number | null {
	if (retryAfterMs !== null) return retryAfterMs <= MAX_DELAY_MS ? retryAfterMs : null;
	return Math.min(policy.baseDelayMs * 2 ** (attempt - 1), MAX_DELAY_MS);
}

/** Value of a Retry-After header in ms: seconds or an HTTP date; null when it is invalid. */
export function parseRetryAfter(value: string, nowMs: number): number | null {
	const seconds = Number(value);
	if (value.trim() !== "" && Number.isFinite(seconds)) return Math.max(0, seconds * 1000);
	const at = Date.parse(value);
	return Number.isNaN(at) ? null : Math.max(0, at - nowMs);
}

/** Reads the requested delay from failed HTTP responses. */
export interface RetryAfterWatch {
	/** The delay that the last failed response since the last call requested, in ms; null for none. */
	take(): number | null;
	stop(): void;
}

/**
 * Watches failed responses from `origin`. pi-ai does not expose their headers, so this reads them from the diagnostics
 * channel of Node's fetch.
 */
export function watchRetryAfter(origin: string): RetryAfterWatch {
	let requestedMs: number | null = null;
	const onHeaders = (published: unknown) => {
		const { request, response } = published as {
			request?: { origin?: unknown };
			response?: { statusCode?: number; headers?: readonly (Buffer | string)[] };
		};
		if (String(request?.origin) !== origin || !response?.headers || (response.statusCode ?? 0) < 400) return;
		for (let i = 0; i + 1 < response.headers.length; i += 2) {
			const name = String(response.headers[i]).toLowerCase();
			const value = String(response.headers[i + 1]);
			if (name === "retry-after-ms" && Number.isFinite(Number(value))) requestedMs = Number(value);
			else if (name === "retry-after") requestedMs ??= parseRetryAfter(value, Date.now());
		}
	};
	subscribe(CHANNEL, onHeaders);
	return {
		take() {
			const value = requestedMs;
			requestedMs = null;
			return value;
		},
		stop: () => void unsubscribe(CHANNEL, onHeaders),
	};
}

const CHANNEL = "undici:request:headers";

import { subscribe, unsubscribe } from "node:diagnostics_channel";

/** When and how often a failed request is sent again. */
export interface RetryPolicy {
	enabled: boolean;
	maxRetries: number;
	/** ms; doubles with each attempt. */
	baseDelayMs: number;
}

/** No delay is longer than this, in ms; a server that asks for more is not waited for. */
export const MAX_DELAY_MS = 60_000;

const RETRYABLE_STATUS = new Set([408, 409, 429, 500, 502, 503, 504, 520, 522, 524, 529]);
const RETRYABLE_TEXT =
	/overloaded|terminated|connection error|connection (?:was )?(?:reset|closed|refused)|econnreset|econnrefused|etimedout|socket hang up|fetch failed|timed? ?out|ended before|no content for|network_error|rate.?limit|too many requests|service unavailable|internal server error|unexpected end of json|bad gateway|premature close/i;

/**
 * True when sending the same request again may help: 408, 409, 429, 5xx, overload, reset, stalled and cut-off streams.
 * False for refusals (400, 401, 403, 404, …) and for everything unknown.
 */
export function isRetryable(errorMessage: string): boolean {
	const status = statusOf(errorMessage);
	if (status !== null) return RETRYABLE_STATUS.has(status) || (status >= 500 && status < 600);
	return RETRYABLE_TEXT.test(errorMessage);
}

/** HTTP status at the start of an error message of pi-ai; null when there is none. */
export function statusOf(errorMessage: string): number | null {
	const match = /^\s*(\d{3})\b/.exec(errorMessage);
	return match ? Number(match[1]) : null;
}

/**
 * ms to wait before attempt `attempt` (from 1): what the server asked for, else `baseDelayMs` doubled each time.
 * @returns null when the server asks for more than `MAX_DELAY_MS`
 */
export function retryDelay(policy: RetryPolicy, attempt: number, retryAfterMs: number | null): number | null {
	if (retryAfterMs !== null) return retryAfterMs <= MAX_DELAY_MS ? retryAfterMs : null;
	return Math.min(policy.baseDelayMs * 2 ** (attempt - 1), MAX_DELAY_MS);
}

/** Value of a Retry-After header in ms: seconds or an HTTP date; null when it says nothing usable. */
export function parseRetryAfter(value: string, nowMs: number): number | null {
	const seconds = Number(value);
	if (value.trim() !== "" && Number.isFinite(seconds)) return Math.max(0, seconds * 1000);
	const at = Date.parse(value);
	return Number.isNaN(at) ? null : Math.max(0, at - nowMs);
}

/** Watches failed HTTP responses for the wait that the server asks for. */
export interface RetryAfterWatch {
	/** The wait asked for by the last failed response since the last call, in ms. */
	take(): number | null;
	stop(): void;
}

/**
 * pi-ai does not hand on the headers of failed responses, so they are read where Node's own fetch publishes them.
 * Only responses of `origin` count.
 */
export function watchRetryAfter(origin: string): RetryAfterWatch {
	let asked: number | null = null;
	const onHeaders = (published: unknown) => {
		const { request, response } = published as {
			request?: { origin?: unknown };
			response?: { statusCode?: number; headers?: readonly (Buffer | string)[] };
		};
		if (String(request?.origin) !== origin || !response?.headers || (response.statusCode ?? 0) < 400) return;
		for (let i = 0; i + 1 < response.headers.length; i += 2) {
			const name = String(response.headers[i]).toLowerCase();
			const value = String(response.headers[i + 1]);
			if (name === "retry-after-ms" && Number.isFinite(Number(value))) asked = Number(value);
			else if (name === "retry-after") asked ??= parseRetryAfter(value, Date.now());
		}
	};
	subscribe(CHANNEL, onHeaders);
	return {
		take() {
			const value = asked;
			asked = null;
			return value;
		},
		stop: () => void unsubscribe(CHANNEL, onHeaders),
	};
}

const CHANNEL = "undici:request:headers";

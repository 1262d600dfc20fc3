import { localDate } from "../util/clock.js";

/** When to retry a failed request. */
export interface RetryPolicy {
	enabled: boolean;
	maxRetries: number;
	/** ms; doubles with each attempt. */
	baseDelayMs: number;
}

/** Maximum delay between attempts if the server does not ask for one, ms. */
const MAX_DELAY_MS = 60_000;
/** Maximum delay that a server may ask for, ms. A request is not retried when it asks for a longer one. */
export const MAX_WAIT_MS = 5 * 60_000;

/**
 * The delay before attempt `attempt` (from 1), in ms: the one requested by the server, else `baseDelayMs` doubled for each
 * attempt. @returns null when the server asks for more than `MAX_WAIT_MS`
 */
export function retryDelay(policy: RetryPolicy, attempt: number, retryAfterMs: number | null): number | null {
	if (retryAfterMs !== null) return retryAfterMs <= MAX_WAIT_MS ? retryAfterMs : null;
	return Math.min(policy.baseDelayMs * 2 ** (attempt - 1), MAX_DELAY_MS);
}

/** When to try again, if a server asks for a long delay: `at 14:05 (in 1 h)`. */
export function retryTime(delayMs: number, nowMs: number): string {
	const at = new Date(nowMs + delayMs);
	const two = (value: number) => String(value).padStart(2, "0");
	const clock = `at ${two(at.getHours())}:${two(at.getMinutes())}`;
	const isToday = at.toDateString() === new Date(nowMs).toDateString();
	const day = isToday ? "" : `on ${localDate(at.getTime())} `;
	return `${day}${clock} (in ${waitText(delayMs)})`;
}

function waitText(delayMs: number): string {
	const minutes = Math.max(1, Math.ceil(delayMs / 60_000));
	const hours = Math.floor(minutes / 60);
	if (hours >= 48) return `${Math.round(hours / 24)} days`;
	return [hours > 0 && `${hours} h`, minutes % 60 > 0 && `${minutes % 60} min`].filter(Boolean).join(" ");
}

import type { AssistantMessage } from "@mariozechner/pi-ai";
import { describeFailure } from "../agent/failure.js";
import { kindOfFailure } from "../agent/failure-kinds.js";
import { retryTime } from "../agent/retry.js";
import { PiError } from "../errors.js";
import { revealLine } from "../util/reveal.js";
import { formatDuration } from "./format.js";

/** When a retry begins: `in 4.0 s`, or with the time of day when the wait is long. */
export function waitText(delayMs: number, nowMs: number): string {
	return delayMs < 60_000 ? `in ${formatDuration(delayMs)}` : retryTime(delayMs, nowMs);
}

/** How a stopped reply ended. If the user stopped a retry, the failure that it waited for is named. */
export function stoppedText(errorMessage: string | undefined): string {
	const isOwn = errorMessage === undefined || /abort/i.test(errorMessage);
	return isOwn ? "stopped" : `stopped before a retry · ${describeFailure(errorMessage)}`;
}

/** A hint inside pi for an error from `describeFailure`. */
export function nextStep(text: string): string {
	return kindOfFailure(text).inside;
}

/** What the screen says about failed requests: it loads this module after the first paint. */
export const FAILURE_WORDS = { describeFailure, nextStep, stoppedText } as const;

/**
 * The error of a failed request for the command line, with model, reason and hint: `model_unknown` for an id that the
 * provider does not know, else `request_failed`.
 * @param isSaved whether `--continue` would open its session
 */
export function requestError({ provider, model, errorMessage }: AssistantMessage, isSaved: boolean): PiError {
	const text = describeFailure(errorMessage);
	const { name, outside, unsaved = outside } = kindOfFailure(text);
	const hint = isSaved ? outside : unsaved;
	// The text names both. A wrong name is wrong usage.
	if (name === "unknown model") return new PiError("model_unknown", text, { hint });
	return new PiError("request_failed", `${revealLine(`${provider}/${model}`)}: ${text}`, { hint });
}

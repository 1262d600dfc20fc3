import type { AssistantMessage } from "@mariozechner/pi-ai";
import { PiError } from "../errors.js";
import { revealLine } from "../util/reveal.js";

/** Maximum length of a displayed error, in UTF-16 units. */
const MAX_LENGTH = 1000;

/** Readable replacements for cryptic errors of HTTP clients. */
const REPLACEMENTS: readonly [RegExp, string][] = [
	[/^(?:terminated|socket hang up|premature close|other side closed)\.?$/i, "the connection was lost during the reply"],
	[/stream ended before|ended before the reply/i, "the reply ended unexpectedly"],
	[/^connection error\.?$|^fetch failed$/i, "cannot connect to the provider"],
	[/^request timed out\.?$/i, "the provider did not answer in time"],
];

/** Hints for errors that match a pattern: inside pi, and on the command line. */
type Hint = readonly [RegExp, inside: string, outside: string];

const HINTS: readonly Hint[] = [
	[
		/^40[13]\b|api key|unauthori[sz]ed|authentication|permission/i,
		"set an API key with /login · choose another model with /model",
		"set the provider's API key, or run /login in pi · choose another model with --model",
	],
	[
		/^402\b|quota|billing|credit|payment/i,
		"check your account with the provider · choose another model with /model",
		"check your account with the provider · choose another model with --model",
	],
	[
		/^429\b|rate limit/i,
		"wait and send the prompt again · choose another model with /model",
		"try again later · choose another model with --model",
	],
	[
		/context|too long|too large|maximum.*tokens|^413\b/i,
		"free context with /compact · start a new session with /new",
		"free context with pi --continue -p /compact",
	],
	[
		/^404\b|not found|unknown model/i,
		"choose another model with /model",
		"choose another model with --model, list them with --list-models",
	],
	[
		/^5\d\d\b|overloaded|unavailable/i,
		"the provider has problems: send the prompt again later · choose another model with /model",
		"the provider has problems: try again later · choose another model with --model",
	],
	[
		/connect|network|fetch|timed? ?out|in time|broke|terminated|ECONN|ENOTFOUND|ended before|ended unexpectedly/i,
		"check the connection, then send the prompt again",
		"check the connection and the provider's address, then try again",
	],
	[
		/^4\d\d\b/,
		"inspect the request with /context · choose another model with /model",
		"inspect the request with pi context · choose another model with --model",
	],
];
const ANY_HINT: Hint = [
	/^/,
	"send the prompt again · choose another model with /model",
	"try again · choose another model with --model",
];

/** How a stopped reply ended. If the user stopped a retry, the failure that it waited for is named. */
export function stoppedText(errorMessage: string | undefined): string {
	const isOwn = errorMessage === undefined || /abort/i.test(errorMessage);
	return isOwn ? "stopped" : `stopped before a retry · ${readableError(errorMessage)}`;
}

/** The error of a failed request as one readable line: status and message. */
export function readableError(errorMessage: string | undefined): string {
	const [, status = "", body = ""] = /^(\d{3}\s+)?([\s\S]*)$/.exec(errorMessage?.trim() ?? "") ?? [];
	const text = revealLine(status + (messageIn(body) ?? body), { maxLength: MAX_LENGTH });
	return REPLACEMENTS.find(([pattern]) => pattern.test(text))?.[1] ?? (text || "the request failed");
}

/** A hint inside pi for an error from `readableError`. */
export function nextStep(text: string): string {
	return hintFor(text)[1];
}

/** The error of a failed request for the command line, with model, reason and hint. */
export function requestError({ provider, model, errorMessage }: AssistantMessage): PiError {
	const text = readableError(errorMessage);
	const [, , hint] = hintFor(text);
	return new PiError("request_failed", `${revealLine(`${provider}/${model}`)}: ${text}`, { hint });
}

function hintFor(text: string): Hint {
	return HINTS.find(([pattern]) => pattern.test(text)) ?? ANY_HINT;
}

/** The message in a JSON error such as `{"error": {"message": …}}`. */
function messageIn(body: string): string | null {
	if (!body.startsWith("{")) return null;
	try {
		return findMessage(JSON.parse(body));
	} catch {
		return null; // not JSON after all
	}
}

function findMessage(value: unknown): string | null {
	if (typeof value === "string") return value || null;
	if (typeof value !== "object" || value === null) return null;
	const fields = new Map<string, unknown>(Object.entries(value));
	return findMessage(fields.get("error")) ?? findMessage(fields.get("message")) ?? null;
}

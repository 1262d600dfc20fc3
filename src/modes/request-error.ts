import type { AssistantMessage } from "@mariozechner/pi-ai";
import { PiError } from "../errors.js";
import { revealLine } from "../util/reveal.js";

/** UTF-16 units of an error that are told. */
const MAX_LENGTH = 1000;

/** What clients say when a connection breaks, which tells people nothing. */
const IN_PLAIN_WORDS: readonly [RegExp, string][] = [
	[/^(?:terminated|socket hang up|premature close|other side closed)\.?$/i, "the connection broke within the reply"],
	[/stream ended before|ended before the reply/i, "the reply broke off"],
	[/^connection error\.?$|^fetch failed$/i, "no connection to the provider"],
	[/^request timed out\.?$/i, "the provider did not answer in time"],
];

/** What to do about an error: inside pi, and on the command line. */
interface NextStep {
	inside: string;
	outside: string;
}

const NEXT_STEPS: readonly [RegExp, NextStep][] = [
	[
		/^40[13]\b|api key|unauthori[sz]ed|authentication|permission/i,
		{
			inside: "/login sets the key · /model picks another model",
			outside: "set the provider's key, or /login in pi · --model picks another model",
		},
	],
	[
		/^402\b|quota|billing|credit|payment/i,
		{
			inside: "see to the account with the provider · /model picks another model",
			outside: "see to the account with the provider · --model picks another model",
		},
	],
	[
		/^429\b|rate limit/i,
		{
			inside: "wait and send again · /model picks another model",
			outside: "try again later · --model picks another model",
		},
	],
	[
		/context|too long|too large|maximum.*tokens|^413\b/i,
		{ inside: "/compact makes room · /new starts over", outside: "pi --continue -p /compact makes room" },
	],
	[
		/^404\b|not found|unknown model/i,
		{ inside: "/model picks another model", outside: "--model picks another model, --list-models prints them" },
	],
	[
		/^5\d\d\b|overloaded|unavailable/i,
		{
			inside: "the provider has trouble: send again in a while · /model picks another model",
			outside: "the provider has trouble: try again in a while · --model picks another model",
		},
	],
	[
		/connect|network|fetch|timed? ?out|in time|broke|terminated|ECONN|ENOTFOUND|ended before/i,
		{
			inside: "check the connection, then send again",
			outside: "check the connection and the provider's address, then try again",
		},
	],
	[
		/^4\d\d\b/,
		{
			inside: "/context shows what was sent · /model picks another model",
			outside: "pi context shows what was sent · --model picks another model",
		},
	],
];
const ANY_STEP: NextStep = {
	inside: "send again to retry · /model picks another model",
	outside: "try again · --model picks another model",
};

/** What a provider or its client said of a request that failed, on one line for people: status and message. */
export function readableError(errorMessage: string | undefined): string {
	const [, status = "", body = ""] = /^(\d{3}\s+)?([\s\S]*)$/.exec(errorMessage?.trim() ?? "") ?? [];
	const text = revealLine(status + (messageIn(body) ?? body), { maxLength: MAX_LENGTH });
	return IN_PLAIN_WORDS.find(([pattern]) => pattern.test(text))?.[1] ?? (text || "the request failed");
}

/** What someone can do inside pi after an error, as `readableError` gives it. */
export function nextStep(text: string): string {
	return stepFor(text).inside;
}

/** The error of a request that failed, for someone at the command line: with which model, why, and what to do. */
export function requestError({ provider, model, errorMessage }: AssistantMessage): PiError {
	const text = readableError(errorMessage);
	const hint = stepFor(text).outside;
	return new PiError("request_failed", `${revealLine(`${provider}/${model}`)}: ${text}`, { hint });
}

function stepFor(text: string): NextStep {
	return NEXT_STEPS.find(([pattern]) => pattern.test(text))?.[1] ?? ANY_STEP;
}

/** The sentence in an error that came as JSON: `{"error": {"message": …}}` and its like. */
function messageIn(body: string): string | null {
	if (!body.startsWith("{")) return null;
	try {
		return sentence(JSON.parse(body));
	} catch {
		return null; // it only looks like JSON
	}
}

function sentence(value: unknown): string | null {
	if (typeof value === "string") return value || null;
	if (typeof value !== "object" || value === null) return null;
	const fields = new Map<string, unknown>(Object.entries(value));
	return sentence(fields.get("error")) ?? sentence(fields.get("message")) ?? null;
}

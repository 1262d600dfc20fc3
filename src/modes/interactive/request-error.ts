import { cleanLine } from "./lines.js";

/** What clients say when a connection breaks, which tells people nothing. */
const IN_PLAIN_WORDS: readonly [RegExp, string][] = [
	[/^(?:terminated|socket hang up|premature close|other side closed)\.?$/i, "the connection broke within the reply"],
	[/stream ended before|ended before the reply/i, "the reply broke off"],
	[/^connection error\.?$|^fetch failed$/i, "no connection to the provider"],
	[/^request timed out\.?$/i, "the provider did not answer in time"],
];

const NEXT_STEPS: readonly [RegExp, string][] = [
	[/^40[13]\b|api key|unauthori[sz]ed|authentication|permission/i, "/login sets the key · /model picks another model"],
	[/^402\b|quota|billing|credit|payment/i, "see to the account with the provider · /model picks another model"],
	[/^429\b|rate limit/i, "wait and send again · /model picks another model"],
	[/context|too long|too large|maximum.*tokens|^413\b/i, "/compact makes room · /new starts over"],
	[/^404\b|not found|unknown model/i, "/model picks another model"],
	[/^5\d\d\b|overloaded|unavailable/i, "the provider has trouble: send again in a while · /model picks another model"],
	[
		/connect|network|fetch|timed? ?out|in time|broke|terminated|ECONN|ENOTFOUND|ended before/i,
		"check the connection, then send again",
	],
	[/^4\d\d\b/, "/context shows what was sent · /model picks another model"],
];

/** What a provider or its client said of a request that failed, on one line for people: status and message. */
export function readableError(errorMessage: string | undefined): string {
	const [, status = "", body = ""] = /^(\d{3}\s+)?([\s\S]*)$/.exec(errorMessage?.trim() ?? "") ?? [];
	const text = cleanLine(status + (messageIn(body) ?? body), 1000);
	return IN_PLAIN_WORDS.find(([pattern]) => pattern.test(text))?.[1] ?? (text || "the request failed");
}

/** What someone can do after an error, as `readableError` gives it. */
export function nextStep(text: string): string {
	return NEXT_STEPS.find(([pattern]) => pattern.test(text))?.[1] ?? "send again to retry · /model picks another model";
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

import type { AssistantMessage } from "@mariozechner/pi-ai";
import { describeFailure } from "../agent/failure.js";
import { PiError } from "../errors.js";
import { revealLine } from "../util/reveal.js";

/** Hints for errors that match a pattern: inside pi, and on the command line. */
type Hint = readonly [RegExp, inside: string, outside: string];

const HINTS: readonly Hint[] = [
	[
		/\btry again (?:on|at) \d/i,
		"wait until then · choose another model with /model",
		"wait until then · choose another model with --model",
	],
	[
		/(?:country|region|territory|location)\b.*\b(?:not|un)[ -]?(?:supported|available|allowed)|(?:not|un)[ -]?(?:supported|available|allowed).*(?:country|region|territory|location)/i,
		"the provider does not allow your region or account · choose another provider's model with /model",
		"the provider does not allow your region or account · choose another provider's model with --model",
	],
	[
		/DNS/,
		"check the network and the provider's address in models.json, then send the prompt again",
		"check the network and the provider's address in models.json, then try again",
	],
	[
		/connection refused/,
		"start the server, or correct its address in models.json",
		"start the server, or correct its address in models.json",
	],
	[
		/TLS failed/,
		"check the address in models.json, or trust the server's certificate with NODE_EXTRA_CA_CERTS",
		"check the address in models.json, or trust the server's certificate with NODE_EXTRA_CA_CERTS",
	],
	[
		/web page instead of a reply/,
		"correct the provider's baseUrl in models.json, or log in to the network",
		"correct the provider's baseUrl in models.json, or log in to the network",
	],
	[
		/^402\b|quota|billing|credit|payment/i,
		"the account has no quota left: add credit with the provider · choose another model with /model",
		"the account has no quota left: add credit with the provider · choose another model with --model",
	],
	[
		/(?:^|answered )403\b/i,
		"your key, account or region has no access: set another key with /login · choose another model with /model",
		"your key, account or region has no access: set another key, or run /login in pi · choose another model with --model",
	],
	[
		/(?:^|answered )401\b|api key|unauthori[sz]ed|authentication|permission/i,
		"set an API key with /login · choose another model with /model",
		"set the provider's API key, or run /login in pi · choose another model with --model",
	],
	[
		/(?:^|answered )429\b|rate limit/i,
		"wait and send the prompt again · choose another model with /model",
		"try again later · choose another model with --model",
	],
	[
		/context|too long|too large|maximum.*tokens|(?:^|answered )413\b/i,
		"free context with /compact · start a new session with /new",
		"free context with pi --continue -p /compact",
	],
	[
		/(?:^|answered )404\b|not found|unknown model/i,
		"choose another model with /model",
		"choose another model with --model, list them with --list-models",
	],
	[
		/(?:^|answered )5\d\d\b|overloaded|unavailable/i,
		"the provider has problems: send the prompt again later · choose another model with /model",
		"the provider has problems: try again later · choose another model with --model",
	],
	[
		/connect|network|timed? ?out|in time|ended unexpectedly/i,
		"check the connection, then send the prompt again",
		"check the connection and the provider's address, then try again",
	],
	[
		/(?:^|answered )4\d\d\b/,
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
	return isOwn ? "stopped" : `stopped before a retry · ${describeFailure(errorMessage)}`;
}

/** A hint inside pi for an error from `describeFailure`. */
export function nextStep(text: string): string {
	return hintFor(text)[1];
}

/** The error of a failed request for the command line, with model, reason and hint. */
export function requestError({ provider, model, errorMessage }: AssistantMessage): PiError {
	const text = describeFailure(errorMessage);
	const [, , hint] = hintFor(text);
	return new PiError("request_failed", `${revealLine(`${provider}/${model}`)}: ${text}`, { hint });
}

function hintFor(text: string): Hint {
	return HINTS.find(([pattern]) => pattern.test(text)) ?? ANY_HINT;
}

import { httpStatusOf } from "./failure-status.js";

/** A kind of failed request: how it is recognized, whether pi retries it, and what the user can do. */
export interface FailureKind {
	name: string;
	/** Who reports it like this. */
	from: string;
	/** Statuses of the response; null is a failure without one. Absent: any. */
	statuses?: readonly (number | null)[];
	/** The described failure matches. Absent: any. */
	words?: RegExp;
	/** The described failure does not match. */
	except?: RegExp;
	isRetried: boolean;
	/** Maximum number of retries, where waiting longer does not help or each attempt costs; absent: as the settings say. */
	maxRetries?: number;
	/** The next step for a user inside pi. */
	inside: string;
	/** The next step on the command line. */
	outside: string;
	/** The same without a saved session; absent: `outside`. */
	unsaved?: string;
}

const ANOTHER = { inside: "choose another model with /model", outside: "choose another model with --model" };
const AGAIN_LATER = { inside: "send the prompt again later", outside: "try again later" };
const inBoth = (step: string) => ({ inside: step, outside: step });
const orAnother = (step: string) => ({
	inside: `${step} · ${ANOTHER.inside}`,
	outside: `${step} · ${ANOTHER.outside}`,
});

/** Of failures that minutes of retries do not mend: a server that is not there, a reply that was paid for. */
const FEW_RETRIES = 3;
const IN_5XX = Array.from({ length: 100 }, (_, index) => 500 + index);
const IN_4XX = Array.from({ length: 100 }, (_, index) => 400 + index);
/** A limit that passes soon, which some providers also call a quota. */
const PASSES = /\b(?:re)?try (?:again )?(?:in|after)\b|per[_ -]?(?:minute|second)/i;

/** All kinds of failures; the first that matches counts. docs/providers.md contains this table. */
export const FAILURE_KINDS: readonly FailureKind[] = [
	{
		name: "long wait",
		from: "all",
		words: /\btry again (?:on|at) \d/i,
		isRetried: false,
		...orAnother("wait until then"),
	},
	{
		name: "proxy account",
		from: "HTTP proxies",
		words: /^proxy \S+ requires a user name/,
		isRetried: false,
		...inBoth("add them to the proxy's address, as in HTTPS_PROXY=http://user:password@host:port"),
	},
	{
		name: "proxy refusal",
		from: "HTTP proxies",
		words: /^proxy \S+ refused/,
		isRetried: false,
		...inBoth("ask whoever runs the proxy to allow the host, or exclude it with NO_PROXY"),
	},
	{
		name: "proxy address",
		from: "the network",
		words: /^cannot connect to proxy .*: (?:DNS knows|TLS failed)/,
		isRetried: false,
		...inBoth("correct the proxy's address in HTTPS_PROXY, HTTP_PROXY or ALL_PROXY"),
	},
	{
		name: "proxy down",
		from: "the network",
		words: /^cannot connect to proxy|^proxy /,
		isRetried: true,
		maxRetries: FEW_RETRIES,
		...inBoth("start the proxy, or correct its address in HTTPS_PROXY, HTTP_PROXY or ALL_PROXY"),
	},
	{
		name: "unknown host",
		from: "the network",
		words: /^cannot connect to .*: DNS knows/,
		isRetried: false,
		inside: "check the network and the provider's address in models.json, then send the prompt again",
		outside: "check the network and the provider's address in models.json, then try again",
	},
	{
		name: "DNS",
		from: "the network",
		words: /^cannot connect to .*: DNS did/,
		isRetried: true,
		inside: "check the network and the provider's address in models.json, then send the prompt again",
		outside: "check the network and the provider's address in models.json, then try again",
	},
	{
		name: "no TLS",
		from: "the network",
		words: /^cannot connect to .*: TLS failed \(the server does not speak TLS\)/,
		isRetried: false,
		...inBoth("correct the provider's address in models.json: the server expects http://"),
	},
	{
		name: "certificate",
		from: "the network",
		words: /^cannot connect to .*: TLS failed \((?!the server closed)/,
		isRetried: false,
		...inBoth("check the address in models.json, or trust the server's certificate with NODE_EXTRA_CA_CERTS"),
	},
	{
		name: "closed port",
		from: "the network",
		words: /^cannot connect to .*: connection refused/,
		isRetried: true,
		maxRetries: FEW_RETRIES,
		...inBoth("start the server, or correct its address in models.json"),
	},
	{
		name: "web page",
		from: "captive portals, wrong addresses",
		words: /^\S+ at \S+ answered with a web page instead of a reply/,
		isRetried: false,
		...inBoth("correct the provider's baseUrl in models.json, or log in to the network"),
	},
	{
		name: "refusal",
		from: "OpenAI, Anthropic, Google, Bedrock",
		words: /^(?:the model refused to answer|the provider's content filter ended the reply) \(/,
		isRetried: false,
		inside: `rephrase the prompt, or take it back with /branch · ${ANOTHER.inside}`,
		outside: `rephrase the prompt · ${ANOTHER.outside}`,
	},
	{
		name: "invalid reply",
		from: "all",
		words: / sent invalid JSON in its reply$|^the model wrote a malformed tool call \(/,
		isRetried: true,
		maxRetries: FEW_RETRIES,
		inside: `send the prompt again · ${ANOTHER.inside}`,
		outside: `try again · ${ANOTHER.outside}`,
	},
	{
		name: "unknown model",
		from: "all 404",
		words: /^\S+ does not know \S/,
		isRetried: false,
		inside: ANOTHER.inside,
		outside: `${ANOTHER.outside}, list them with pi models list`,
	},
	{
		name: "retired model",
		from: "all 404",
		words: /^\S+ is no longer offered by \S/,
		isRetried: false,
		inside: "pi models update reads the current list, or choose another with /model",
		outside: "pi models update reads the current list, or choose another with --model",
	},
	{
		name: "region",
		from: "OpenAI 403, Google 400",
		statuses: [...IN_4XX, null],
		words:
			/(?:country|region|territory|location)\b.*\b(?:not|un)[ -]?(?:supported|available|allowed)|(?:not|un)[ -]?(?:supported|available|allowed).*(?:country|region|territory|location)/i,
		isRetried: false,
		inside: "the provider does not allow your region or account · choose another provider's model with /model",
		outside: "the provider does not allow your region or account · choose another provider's model with --model",
	},
	{
		name: "account disabled",
		from: "Anthropic 400, OpenAI 401 and 429, Google 403",
		statuses: [...IN_4XX, null],
		words:
			/(?:organization|account|api[_ ]key\S*|consumer|project)\b.{0,60}\b(?:disabled|deactivated|suspended|not active|terminated)|consumer_suspended|account_deactivated|billing_not_active/i,
		isRetried: false,
		inside: `the provider has disabled the account: contact its support, or set another key with /login · ${ANOTHER.inside}`,
		outside: `the provider has disabled the account: contact its support, or set another key · ${ANOTHER.outside}`,
	},
	{
		name: "usage limit",
		from: "ChatGPT logins 429",
		statuses: [429, null],
		words: /\busage limit|usage_limit_reached/i,
		isRetried: false,
		...orAnother("wait until the limit of the plan resets"),
	},
	{
		name: "quota",
		from: "OpenAI 429, Anthropic 400, OpenRouter and DeepSeek 402, xAI 403",
		statuses: [400, 403, 429, null],
		words: /insufficient[_ ](?:credits?|balance|funds|quota)|quota|billing|\bcredits?\b|payment required/i,
		except: PASSES,
		isRetried: false,
		...orAnother("the account has no quota left: add credit with the provider"),
	},
	{
		name: "payment",
		from: "OpenRouter, DeepSeek",
		statuses: [402],
		isRetried: false,
		...orAnother("the account has no quota left: add credit with the provider"),
	},
	{
		name: "image",
		from: "Anthropic, OpenAI, Google, Bedrock 400",
		statuses: [400, 413, 422, null],
		words:
			/\bimages?\b.*\b(?:exceeds?|too (?:large|big|many)|larger than|max(?:imum)? (?:allowed )?size|dimensions?)\b|(?:could not process|invalid|unsupported|unable to process)[^.]{0,20} image|image_(?:too_large|parse_error)|invalid_image/i,
		isRetried: false,
		inside: "take the prompt back with /branch and attach a smaller image, as PNG or JPEG",
		outside: "attach a smaller image, as PNG or JPEG",
	},
	{
		name: "context",
		from: "all",
		statuses: [400, 422, 500, null],
		words:
			/context|too long|too large|maximum.*tokens|token (?:count|limit)|reduce the length|exceeds the limit of \d/i,
		except: /rate.?limit|too many requests|throttling|per[_ -]?(?:minute|second|day)/i,
		isRetried: false,
		inside: "choose a larger model with /model, or fewer tools with /tools · start a new session with /new",
		outside: "choose a larger model with --model, or fewer tools with --tools",
		unsaved: "shorten the prompt",
	},
	{
		name: "request size",
		from: "all",
		statuses: [413],
		isRetried: false,
		inside: "free context with /compact · start a new session with /new",
		outside: "free context with pi --continue -p /compact",
		unsaved: "shorten the prompt",
	},
	{
		name: "model",
		from: "OpenAI, Anthropic, Google, Ollama 404, Mistral, DeepSeek, OpenRouter 400, Bedrock",
		statuses: [400, 403, 404, null],
		words:
			/\bmodels?\b.{0,80}\b(?:not found|(?:does )?not exist|not available|not supported|is invalid|unavailable|no longer)|(?:no such|unknown|invalid|not a valid) model|access to (?:the )?model|no endpoints found|model_not_found|^404 model: \S/i,
		isRetried: false,
		inside: ANOTHER.inside,
		outside: `${ANOTHER.outside}, list them with pi models list`,
	},
	{
		name: "not found",
		from: "all",
		statuses: [404],
		isRetried: false,
		...orAnother("check the provider's address in models.json"),
	},
	{
		name: "access",
		from: "all",
		statuses: [403],
		isRetried: false,
		inside: `your key, account or region has no access: set another key with /login · ${ANOTHER.inside}`,
		outside: `your key, account or region has no access: set another key, or run /login in pi · ${ANOTHER.outside}`,
	},
	{
		name: "unauthorized",
		from: "all",
		statuses: [401],
		isRetried: false,
		inside: `set an API key with /login · ${ANOTHER.inside}`,
		outside: `set the provider's API key, or run /login in pi · ${ANOTHER.outside}`,
	},
	{
		name: "key",
		from: "Google 400, Bedrock",
		statuses: [400, null],
		words: /api.?key|unauthori[sz]ed|authentication|permission|access ?denied|security token|expired ?token/i,
		isRetried: false,
		inside: `set an API key with /login · ${ANOTHER.inside}`,
		outside: `set the provider's API key, or run /login in pi · ${ANOTHER.outside}`,
	},
	{
		name: "rate limit",
		from: "all 429, Bedrock",
		statuses: [429],
		isRetried: true,
		inside: `wait and send the prompt again · ${ANOTHER.inside}`,
		outside: `${AGAIN_LATER.outside} · ${ANOTHER.outside}`,
	},
	{
		name: "rate limit in a stream",
		from: "all, Bedrock",
		statuses: [null],
		words: /rate.?limit|too many requests|throttling/i,
		isRetried: true,
		inside: `wait and send the prompt again · ${ANOTHER.inside}`,
		outside: `${AGAIN_LATER.outside} · ${ANOTHER.outside}`,
	},
	{
		name: "overloaded",
		from: "Anthropic 529, Google and Mistral 503, all other 5xx",
		statuses: IN_5XX,
		isRetried: true,
		inside: `the provider has problems: ${AGAIN_LATER.inside} · ${ANOTHER.inside}`,
		outside: `the provider has problems: ${AGAIN_LATER.outside} · ${ANOTHER.outside}`,
	},
	{
		name: "overloaded in a stream",
		from: "Anthropic, OpenAI, Bedrock",
		statuses: [null],
		words: /overloaded|unavailable|internal server error|bad gateway|server_error|model stream error|api_error/i,
		isRetried: true,
		inside: `the provider has problems: ${AGAIN_LATER.inside} · ${ANOTHER.inside}`,
		outside: `the provider has problems: ${AGAIN_LATER.outside} · ${ANOTHER.outside}`,
	},
	{
		name: "conflict or timeout",
		from: "all",
		statuses: [408, 409],
		isRetried: true,
		inside: `send the prompt again · ${ANOTHER.inside}`,
		outside: `try again · ${ANOTHER.outside}`,
	},
	{
		name: "silence",
		from: "all",
		statuses: [null],
		words: /\bno content for/i,
		isRetried: true,
		maxRetries: FEW_RETRIES,
		inside: "check the connection, then send the prompt again",
		outside: "check the connection and the provider's address, then try again",
	},
	{
		name: "connection",
		from: "the network",
		statuses: [null],
		words:
			/connect(?:ion|ing)?\b|network|timed? ?out|in time|ended unexpectedly|ended (?:before|without)|no (?:response )?body|closed before|econnreset|socket hang up|terminated|unexpected end of json|premature close/i,
		isRetried: true,
		inside: "check the connection, then send the prompt again",
		outside: "check the connection and the provider's address, then try again",
	},
	{
		name: "refused request",
		from: "all other 4xx",
		statuses: IN_4XX,
		isRetried: false,
		inside: `inspect the request with /context · ${ANOTHER.inside}`,
		outside: `inspect the request with pi context · ${ANOTHER.outside}`,
	},
];

/** A failure of no known kind. */
const UNKNOWN: FailureKind = {
	name: "unknown",
	from: "all",
	isRetried: false,
	inside: `send the prompt again · ${ANOTHER.inside}`,
	outside: `try again · ${ANOTHER.outside}`,
};

/**
 * The kind of a failure.
 * @param text the failure as `describeFailure` returns it
 * @param retryAfterMs the delay that the response requests: a quota that resets is a rate limit
 */
export function kindOfFailure(text: string, retryAfterMs: number | null = null): FailureKind {
	const status = httpStatusOf(text);
	const found = FAILURE_KINDS.find(({ name, statuses, words, except }) => {
		if (name === "quota" && retryAfterMs !== null) return false;
		return (statuses?.includes(status) ?? true) && (words?.test(text) ?? true) && !except?.test(text);
	});
	return found ?? UNKNOWN;
}

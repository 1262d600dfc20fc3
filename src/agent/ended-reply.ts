import type { RequestPlace } from "./connection-failure.js";
import { hostAndPort } from "./response-facts.js";

/** How the clients of pi-ai report a reply that the provider ended as failed. */
const REASON = /^(?:Provider finish_reason|Provider stopped with|Response incomplete): (\S+)$/;
/** How pi-ai's Anthropic client reports a refusal for which the provider gives no reason. */
const REFUSED = /^The model refused to complete the request$/;

/** The reasons of OpenAI, Anthropic, Bedrock and Google for a reply that a filter ended. */
const FILTERED =
	/^(?:content_filter(?:ed)?|guardrail_intervened|sensitive|(?:IMAGE_)?(?:SAFETY|PROHIBITED_CONTENT|RECITATION)|BLOCKLIST|SPII|MODEL_ARMOR|JAILBREAK)$/;
const MALFORMED = /^(?:MALFORMED_FUNCTION_CALL|UNEXPECTED_TOOL_CALL|malformed_(?:tool_use|model_output))$/;

/** The errors of `JSON.parse`, and that of pi-ai's Anthropic client, which quotes the complete event. */
const INVALID_JSON =
	/^(?:Could not parse Anthropic SSE event|Unexpected end of JSON input$|["A-Z][\s\S]{0,200}?(?: (?:in|after) JSON at position \d|"(?:\.{3})? is not valid JSON$))/;

/** Describes a reply that the provider ended early with a reason, or that is not JSON; null for other failures. */
export function describeEndedReply(raw: string, place: RequestPlace | undefined): string | null {
	const reason = REFUSED.test(raw) ? "refusal" : REASON.exec(raw)?.[1];
	if (reason === undefined) {
		const provider = place ? `${place.provider} at ${hostAndPort(place.baseUrl)}` : "the provider";
		return INVALID_JSON.test(raw) ? `${provider} sent invalid JSON in its reply` : null;
	}
	if (reason === "refusal") return `the model refused to answer (${reason})`;
	if (reason === "network_error") return `the provider lost a connection of its own (${reason})`;
	if (FILTERED.test(reason)) return `the provider's content filter ended the reply (${reason})`;
	if (MALFORMED.test(reason)) return `the model wrote a malformed tool call (${reason})`;
	return `the provider ended the reply (${reason})`;
}

import { revealLine } from "../util/reveal.js";
import { describeConnection, type RequestTarget, serverName } from "./connection-failure.js";
import { kindOfFailure } from "./failure-kinds.js";
import { leadingStatus } from "./failure-status.js";
import { hostAndPort, NO_FACTS, type ResponseFacts } from "./response-facts.js";

/** Maximum length of a displayed error, in UTF-16 units. */
const MAX_LENGTH = 1000;
/** Maximum length of the title of a web page, in UTF-16 units. */
const MAX_TITLE = 80;

const PAGE = /^\s*(?:<!doctype html|<html|<head|<body)/i;

/**
 * The error of a failed request as one readable line: the status and the provider's message, or where the connection failed
 * and at which step. Every mode shows this text. A text that this function returned is unchanged.
 * @param text the error of the client
 * @param target absent for a reply of an earlier version of pi
 */
export function describeFailure(text: string | undefined, target?: RequestTarget, facts = NO_FACTS): string {
	const raw = withBody(text?.trim() ?? "", facts);
	const connection = describeConnection(raw, target, facts);
	if (connection !== null) return revealLine(connection, { maxLength: MAX_LENGTH });
	const ended = describeEndedReply(raw, target);
	if (ended !== null) return revealLine(ended, { maxLength: MAX_LENGTH });
	const prefix = /^(?:[\w -]+ API error \(\d{3}\):\s*|[\w -]+: (?=\d{3}: [[{]))?(?:\d{3}\b:?)?\s*/.exec(raw)?.[0] ?? "";
	const body = raw.slice(prefix.length);
	const status = leadingStatus(raw) ?? (target ? facts.status : null);
	const words = messageIn(body) ?? body;
	if (PAGE.test(words)) return revealLine(describePage(words, status, target));
	const line = [status !== null && status >= 400 ? status : "", words].join(" ").trim();
	return revealLine(withCode(line, facts.body ?? body), { maxLength: MAX_LENGTH }) || "the request failed";
}

/**
 * The error of a client with the body of the response, if the client found nothing in it: those of OpenAI read only the
 * field `error` of an object.
 */
export function withBody(text: string, { body }: ResponseFacts): string {
	return body
		? text.replace(
				/^(?:[\w -]+ API error \(\d{3}\): )?(\d{3}) status code \(no body\)$/,
				(_, status) => `${status} ${body}`,
			)
		: text;
}

function describePage(body: string, status: number | null, target: RequestTarget | undefined): string {
	const title = /<title[^>]*>([^<]*)/i.exec(body)?.[1]?.replace(/\s+/g, " ").trim() ?? "";
	const who = target?.baseUrl ? `the server ${hostAndPort(target.baseUrl)}` : "the server";
	const answer = status === null ? "answered" : `answered ${status}`;
	return `${who} ${answer} with a web page${title ? ` (${title.slice(0, MAX_TITLE)})` : ""}`;
}

/** Adds a code of a JSON error, such as `insufficient_quota`, if only the code says what kind of failure it is. */
function withCode(line: string, body: string): string {
	const kind = kindOfFailure(line);
	const coded = codesIn(parseJson(body)).map((code) => `${line} (${code})`);
	return coded.find((text) => kindOfFailure(text) !== kind) ?? line;
}

/** The values of `code`, `type`, `status` and `reason` in a JSON error and its details, outermost first. */
function codesIn(value: unknown): string[] {
	if (Array.isArray(value)) return value.flatMap(codesIn);
	if (typeof value !== "object" || value === null) return [];
	return Object.entries(value).flatMap(([name, field]) => {
		if (typeof field === "string") return CODE_FIELDS.has(name) && CODE.test(field) ? [field] : [];
		return codesIn(field);
	});
}

const CODE_FIELDS: ReadonlySet<string> = new Set(["code", "type", "status", "reason"]);
const CODE = /^\w{1,60}$/;

/** `detail` is the field of FastAPI, whose list of invalid fields has `msg`. */
const MESSAGE_FIELDS = ["error", "message", "detail", "msg"];

/** The message in a JSON error such as `{"error": {"message": …}}`, whose message may itself be JSON. */
function messageIn(body: string): string | null {
	const found = findMessage(parseJson(body));
	return found === null ? null : (messageIn(found.trim()) ?? found);
}

function parseJson(body: string): unknown {
	if (!/^[[{]/.test(body)) return null;
	try {
		return JSON.parse(body);
	} catch {
		return null; // not JSON after all
	}
}

function findMessage(value: unknown): string | null {
	if (typeof value === "string") return value || null;
	if (Array.isArray(value)) return findMessage(value[0]);
	if (typeof value !== "object" || value === null) return null;
	const fields = new Map<string, unknown>(Object.entries(value));
	for (const name of MESSAGE_FIELDS) {
		const found = findMessage(fields.get(name));
		if (found !== null) return found;
	}
	return null;
}

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
export function describeEndedReply(raw: string, target: RequestTarget | undefined): string | null {
	const reason = REFUSED.test(raw) ? "refusal" : REASON.exec(raw)?.[1];
	if (reason === undefined) {
		return INVALID_JSON.test(raw) ? `${serverName(target)} sent invalid JSON in its reply` : null;
	}
	if (reason === "refusal") return `the model refused to answer (${reason})`;
	if (reason === "network_error") return `the provider lost a connection of its own (${reason})`;
	if (FILTERED.test(reason)) return `the provider's content filter ended the reply (${reason})`;
	if (MALFORMED.test(reason)) return `the model wrote a malformed tool call (${reason})`;
	return `the provider ended the reply (${reason})`;
}

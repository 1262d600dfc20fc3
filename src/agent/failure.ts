import { revealLine } from "../util/reveal.js";
import { NO_FACTS, type ResponseFacts } from "./response-watch.js";

/** Where a request went. */
export interface RequestPlace {
	provider: string;
	baseUrl: string;
}

/** Maximum length of a displayed error, in UTF-16 units. */
const MAX_LENGTH = 1000;
/** Maximum length of the title of a web page, in UTF-16 units. */
const MAX_TITLE = 80;

/** Messages of HTTP clients that name neither server nor reason. */
const LOST = /^(?:terminated|socket hang up|premature close|other side closed|.*\bsocket connection was closed.*)\.?$/i;
const NO_CONNECTION = /^(?:connection error|fetch failed|unable to make request.*|bad port)\.?(?: .*fetch failed)?$/i;
const NO_ANSWER = /^(?:request|connection) timed out\.?$/i;
const UNFINISHED = /stream ended before|ended before the reply/i;
/** Errors of Node's sockets, such as `connect ECONNREFUSED 127.0.0.1:80`. */
const SOCKET = /^(?:connect|getaddrinfo|read|write) (E[A-Z_]+)(?: (\S+))?$/;
const PAGE = /^\s*(?:<!doctype html|<html|<head|<body)/i;

/** HTTP status that a client's message starts with; null without one. */
export function statusOf(text: string): number | null {
	const match = /^\s*(?:\w+ API error \()?(\d{3})\b/.exec(text);
	return match ? Number(match[1]) : null;
}

/** True for a message that says only that no reply arrived. */
export function isConnectionFailure(text: string): boolean {
	return [LOST, NO_CONNECTION, NO_ANSWER, UNFINISHED, SOCKET].some((pattern) => pattern.test(text.trim()));
}

/**
 * The error of a failed request as one readable line: the status and the provider's message, or where the connection failed
 * and at which step. Every mode shows this text. A text that this function returned is unchanged.
 * @param text the error of the client
 * @param place absent for a reply of an earlier version of pi
 */
export function describeFailure(text: string | undefined, place?: RequestPlace, facts = NO_FACTS): string {
	const raw = text?.trim() ?? "";
	const server = place ? `${place.provider} at ${hostOf(place.baseUrl)}` : "the provider";
	const connection = describeConnection(raw, server, place, facts);
	if (connection !== null) return revealLine(connection, { maxLength: MAX_LENGTH });
	const prefix = /^(?:\w+ API error \(\d{3}\):|\d{3}\b)?\s*/.exec(raw)?.[0] ?? "";
	const body = raw.slice(prefix.length);
	const status = statusOf(raw) ?? (place ? facts.status : null);
	const words = messageIn(body) ?? body;
	if (PAGE.test(words)) return revealLine(describePage(words, status, place));
	const line = [status !== null && status >= 400 ? status : "", words].join(" ").trim();
	return revealLine(line, { maxLength: MAX_LENGTH }) || "the request failed";
}

/** When to try again, if a server asks for a long delay: `at 14:05 (in 1 h)`. */
export function retryTime(delayMs: number, nowMs: number): string {
	const at = new Date(nowMs + delayMs);
	const two = (value: number) => String(value).padStart(2, "0");
	const clock = `at ${two(at.getHours())}:${two(at.getMinutes())}`;
	const isToday = at.toDateString() === new Date(nowMs).toDateString();
	const day = isToday ? "" : `on ${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())} `;
	return `${day}${clock} (in ${waitText(delayMs)})`;
}

function waitText(delayMs: number): string {
	const minutes = Math.max(1, Math.ceil(delayMs / 60_000));
	const hours = Math.floor(minutes / 60);
	if (hours >= 48) return `${Math.round(hours / 24)} days`;
	return [hours > 0 && `${hours} h`, minutes % 60 > 0 && `${minutes % 60} min`].filter(Boolean).join(" ");
}

/** @returns null if the server answered */
function describeConnection(raw: string, server: string, place: RequestPlace | undefined, facts: ResponseFacts) {
	const { status, isPage, error } = facts;
	if (place && isPage && status !== null && status < 400) {
		return `${server} answered with a web page instead of a reply`;
	}
	if (UNFINISHED.test(raw)) return "the reply ended unexpectedly";
	if (!isConnectionFailure(raw)) return null;
	const [, code = "", address] = SOCKET.exec(raw) ?? [];
	const target = place || !address ? server : `${server} at ${address}`;
	const cause = code ? { code, message: "" } : error;
	if (status !== null || (LOST.test(raw) && !cause)) {
		return `the connection ${place ? `to ${target} ` : ""}was lost during the reply`;
	}
	const step = cause ? failedStep(cause) : null;
	if (step !== null) return `cannot connect to ${target}: ${step}`;
	if (cause && BROKEN.has(cause.code)) return `${target} closed the connection without an answer`;
	if (cause?.code === "UND_ERR_HEADERS_TIMEOUT" || NO_ANSWER.test(raw)) return `${target} did not answer in time`;
	return `cannot connect to ${target}`;
}

const BROKEN: ReadonlySet<string> = new Set(["ECONNRESET", "EPIPE", "UND_ERR_SOCKET"]);
const STEPS: Readonly<Record<string, string>> = {
	ENOTFOUND: "DNS knows no such host (ENOTFOUND)",
	EAI_AGAIN: "DNS did not answer (EAI_AGAIN)",
	ECONNREFUSED: "connection refused (ECONNREFUSED)",
	ETIMEDOUT: "connecting timed out (ETIMEDOUT)",
	UND_ERR_CONNECT_TIMEOUT: "connecting timed out",
	EHOSTUNREACH: "host unreachable (EHOSTUNREACH)",
	ENETUNREACH: "network unreachable (ENETUNREACH)",
};
const TLS_CODES = /SSL|TLS|CERT|EPROTO|^UNABLE_TO_|SIGNATURE/;
/** Readable reasons of failed handshakes. */
const TLS_REASONS: Readonly<Record<string, string>> = {
	DEPTH_ZERO_SELF_SIGNED_CERT: "self-signed certificate",
	SELF_SIGNED_CERT_IN_CHAIN: "self-signed certificate in the chain",
	UNABLE_TO_VERIFY_LEAF_SIGNATURE: "unknown certificate authority",
	UNABLE_TO_GET_ISSUER_CERT_LOCALLY: "unknown certificate authority",
	CERT_HAS_EXPIRED: "expired certificate",
	ERR_TLS_CERT_ALTNAME_INVALID: "certificate of another host",
	ERR_SSL_WRONG_VERSION_NUMBER: "the server does not speak TLS",
	ERR_SSL_PACKET_LENGTH_TOO_LONG: "the server does not speak TLS",
};

/** The step at which connecting failed; null if the connection was made. */
function failedStep({ code, message }: { code: string; message: string }): string | null {
	const step = STEPS[code];
	if (step !== undefined) return step;
	if (/before secure TLS connection/i.test(message)) return "TLS failed (the server closed the connection)";
	return TLS_CODES.test(code) ? `TLS failed (${TLS_REASONS[code] ?? code})` : null;
}

function describePage(body: string, status: number | null, place: RequestPlace | undefined): string {
	const title = /<title[^>]*>([^<]*)/i.exec(body)?.[1]?.replace(/\s+/g, " ").trim() ?? "";
	const who = place ? `the server ${hostOf(place.baseUrl)}` : "the server";
	const answer = status === null ? "answered" : `answered ${status}`;
	return `${who} ${answer} with a web page${title ? ` (${title.slice(0, MAX_TITLE)})` : ""}`;
}

/** `host:port` of an address, the default port included. */
function hostOf(baseUrl: string): string {
	try {
		const { hostname, port, protocol } = new URL(baseUrl);
		return `${hostname}:${port || (protocol === "http:" ? 80 : 443)}`;
	} catch {
		return baseUrl; // a provider without a URL, such as a scripted one
	}
}

/** The message in a JSON error such as `{"error": {"message": …}}`, whose message may itself be JSON. */
function messageIn(body: string): string | null {
	if (!body.startsWith("{")) return null;
	try {
		const found = findMessage(JSON.parse(body));
		return found === null ? null : (messageIn(found.trim()) ?? found);
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

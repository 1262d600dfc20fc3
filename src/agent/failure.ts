import { revealLine } from "../util/reveal.js";
import { describeConnection, type RequestPlace } from "./connection-failure.js";
import { hostAndPort, NO_FACTS } from "./response-watch.js";

/** Maximum length of a displayed error, in UTF-16 units. */
const MAX_LENGTH = 1000;
/** Maximum length of the title of a web page, in UTF-16 units. */
const MAX_TITLE = 80;

const PAGE = /^\s*(?:<!doctype html|<html|<head|<body)/i;

/** HTTP status that a client's message starts with; null without one. */
export function statusOf(text: string): number | null {
	const match = /^\s*(?:\w+ API error \()?(\d{3})\b/.exec(text);
	return match ? Number(match[1]) : null;
}

/**
 * The error of a failed request as one readable line: the status and the provider's message, or where the connection failed
 * and at which step. Every mode shows this text. A text that this function returned is unchanged.
 * @param text the error of the client
 * @param place absent for a reply of an earlier version of pi
 */
export function describeFailure(text: string | undefined, place?: RequestPlace, facts = NO_FACTS): string {
	const raw = text?.trim() ?? "";
	const connection = describeConnection(raw, place, facts);
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

function describePage(body: string, status: number | null, place: RequestPlace | undefined): string {
	const title = /<title[^>]*>([^<]*)/i.exec(body)?.[1]?.replace(/\s+/g, " ").trim() ?? "";
	const who = place ? `the server ${hostAndPort(place.baseUrl)}` : "the server";
	const answer = status === null ? "answered" : `answered ${status}`;
	return `${who} ${answer} with a web page${title ? ` (${title.slice(0, MAX_TITLE)})` : ""}`;
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

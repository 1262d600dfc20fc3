import { type CompactionEntry, isCompactionEntry, messageText } from "../log/entry.js";
import { isRecord } from "../util/is-record.js";
import type { BuiltContext, TracedMessage } from "./context-message.js";
import { compactionMessage, type EntrySource } from "./entry-message.js";
import { activeReplacement } from "./replacement.js";

/** What a request is sent to: the wire format and the provider of its model. */
export interface RequestTarget {
	readonly api: string;
	readonly provider: string;
}

/** A compaction that a request contains in its provider's own form. */
export interface NativeSummary {
	/** Index of the compaction. */
	entryIndex: number;
	/** Position of the message with its summary, which the provider does not get. */
	position: number;
}

/** The member of a request's body that holds the conversation, by wire format. Other formats get the summary. */
const CONVERSATIONS: ReadonlyMap<string, string> = new Map([
	["openai-responses", "input"],
	["azure-openai-responses", "input"],
	["openai-codex-responses", "input"],
	["openai-completions", "messages"],
	["anthropic-messages", "messages"],
	["bedrock-converse-stream", "messages"],
	["mistral-conversations", "messages"],
	["google-generative-ai", "contents"],
	["google-vertex", "contents"],
]);

/**
 * Finds the compaction whose summary a request replaces with what the provider made of the same entries. The summary must be in the
 * final messages once and unchanged: if a hook hid, changed or repeated it, the model gets what the hook made. A pure function of
 * its arguments, so that a past request can be computed again.
 * @param entries those from which the messages were computed
 * @returns null without a compaction, or if the model gets its summary
 */
export function findNativeSummary(
	messages: BuiltContext["messages"],
	entries: EntrySource,
	{ api, provider }: RequestTarget,
): NativeSummary | null {
	if (!CONVERSATIONS.has(api)) return null;
	const entryIndex = sentCompaction(entries);
	const entry = entryIndex === null ? undefined : entries.at(entryIndex);
	if (entryIndex === null || !isCompactionEntry(entry)) return null;
	const { native } = entry;
	if (native?.api !== api || native.provider !== provider) return null;
	const text = messageText(compactionMessage(entry));
	// The client drops lone surrogates, so that a text with some is not found in the body.
	if (!text.isWellFormed()) return null;
	const positions = messages.flatMap((traced, position) => (sentText(traced) === text ? [position] : []));
	const [position] = positions;
	if (position === undefined || positions.length > 1 || hasImage(messages[position])) return null;
	return { entryIndex, position };
}

/** The active compaction, or the one that the active freeze has the summary of: what a provider has cached stays as it is. */
function sentCompaction(entries: EntrySource): number | null {
	const active = activeReplacement(entries);
	if (active?.kind !== "freeze") return active?.entryIndex ?? null;
	for (const { origin } of active.messages) if (origin.kind === "compaction") return origin.entryIndex;
	return null;
}

/** The text of a user message as the client sends it, without its images; null for other messages. */
function sentText({ message }: TracedMessage): string | null {
	if (message.role !== "user") return null;
	const { content } = message;
	const text =
		typeof content === "string" ? content : content.map((block) => (block.type === "text" ? block.text : "")).join("");
	return text.replace(/\p{Surrogate}/gu, "");
}

function hasImage(traced: TracedMessage | undefined): boolean {
	const { message } = traced ?? {};
	return message?.role === "user" && Array.isArray(message.content) && message.content.some(isImage);
}

function isImage({ type }: { type: string }): boolean {
	return type === "image";
}

/**
 * The body of a request with what the provider made of a compaction instead of its summary. Call it only if `findNativeSummary`
 * found the compaction in the messages of the request.
 */
export function withNativeCompaction(
	body: Readonly<Record<string, unknown>>,
	entry: CompactionEntry,
): Readonly<Record<string, unknown>> {
	const { api = "", items = [] } = entry.native ?? {};
	const name = CONVERSATIONS.get(api) ?? "";
	const list = body[name];
	if (!Array.isArray(list)) return body;
	const text = messageText(compactionMessage(entry));
	const at = list.findIndex((item) => isRecord(item) && item.role === "user" && bodyText(item) === text);
	return at < 0 ? body : { ...body, [name]: list.toSpliced(at, 1, ...items) };
}

/** The text of a message in a body; null if it contains anything else. Markers of a cache do not count. */
function bodyText(item: Readonly<Record<string, unknown>>): string | null {
	const parts = item.content ?? item.parts;
	if (typeof parts === "string") return parts;
	if (!Array.isArray(parts)) return null;
	const texts = parts
		.filter((part) => !(isRecord(part) && "cachePoint" in part))
		.map((part) => (isRecord(part) && typeof part.text === "string" ? part.text : null));
	return texts.includes(null) ? null : texts.join("");
}

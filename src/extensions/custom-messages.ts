import type { ImageContent, TextContent } from "@mariozechner/pi-ai";
import type { AppMessage, ContextMessage, SessionEntry } from "../hooks/index.js";
import { activeCompaction } from "../hooks/index.js";
import { type Content, readContent } from "./content.js";
import { CUSTOM_MESSAGE } from "./viewed-entries.js";

/** A message of an extension that the model sees as one of the user. */
export interface CustomMessage {
	role: "custom";
	customType: string;
	content: Content;
	/** Whether the user sees it. */
	display: boolean;
	details?: unknown;
	/** ms since the epoch. */
	timestamp: number;
}

/** A message as `context` handlers of extensions see it. */
export type ExtensionMessage = AppMessage | CustomMessage;

/** A message with its origin, as in the `context` event of hooks. */
export interface PlacedMessage {
	message: ExtensionMessage;
	entryIndex: number | null;
}

/** Reads the argument of `sendMessage`. @throws TypeError without a customType */
export function readCustomMessage(value: unknown): Omit<CustomMessage, "role" | "timestamp"> {
	const { customType, content, display, details }: Record<string, unknown> = Object(value);
	if (typeof customType !== "string" || customType === "")
		throw new TypeError("a message of an extension needs a customType");
	return {
		customType,
		content: readContent(content),
		display: display === true,
		...(details === undefined ? {} : { details }),
	};
}

/** The message of an entry; null for entries of others, and for those of older sessions that a prompt repeats. */
function messageOfEntry(entry: SessionEntry | undefined, extension: string): CustomMessage | null {
	if (entry?.type !== CUSTOM_MESSAGE || !("customType" in entry)) return null;
	if (entry.extension !== extension || entry.inPrompt === true) return null;
	return {
		role: "custom",
		...readCustomMessage(entry),
		timestamp: new Date(String(entry.timestamp)).getTime() || 0,
	};
}

/**
 * Adds the messages of an extension to a context, each at the place of its entry: after the results that answer the calls
 * before it, because a provider accepts nothing between them. Messages that a compaction has summarized are omitted.
 */
export function addCustomMessages(
	messages: readonly ContextMessage[],
	entries: readonly SessionEntry[],
	extension: string,
): PlacedMessage[] {
	const start = activeCompaction(entries)?.firstKeptEntryIndex ?? 0;
	const own = entries.flatMap((entry, index) => {
		const message = index >= start ? messageOfEntry(entry, extension) : null;
		return message ? [{ index, message }] : [];
	});
	const placed: PlacedMessage[] = [];
	const insertBefore = (index: number) => {
		for (; own[0] && own[0].index < index; own.shift()) placed.push({ message: own[0].message, entryIndex: null });
	};
	for (const item of messages) {
		if (item.entryIndex !== null && item.message.role !== "toolResult") insertBefore(item.entryIndex);
		placed.push(item);
	}
	insertBefore(Number.POSITIVE_INFINITY);
	return placed;
}

/** The message as the model gets it. */
export function toUserMessage({ content, timestamp }: CustomMessage): AppMessage {
	const list: string | (TextContent | ImageContent)[] = typeof content === "string" ? content : [...content];
	return { role: "user", content: list, timestamp };
}

import type { UserMessage } from "@mariozechner/pi-ai";
import {
	type AppMessage,
	type CompactionEntry,
	isMessageEntry,
	isSystemItemEntry,
	type SessionEntry,
	type SystemItemEntry,
} from "../log/entry.js";

/** Entries as the context reads them: an array, or a log that parses what is asked for. */
export interface EntrySource {
	readonly length: number;
	at(index: number): SessionEntry | undefined;
	/** Index of the last entry of some types before an index, -1 for none, where that can be known without reading all. */
	lastOfTypes?(types: readonly string[], before: number): number;
}

// The same entry must always give the same message object: identity is how prefixes are recognised as unchanged.
const synthetic = new WeakMap<SessionEntry, UserMessage>();

/**
 * The message that an entry puts into the context; null for entries that put none there (header, custom entries,
 * `!!` commands, lines that cannot be read).
 */
export function entryMessage(entry: SessionEntry | undefined): AppMessage | null {
	if (isMessageEntry(entry)) {
		const { message } = entry;
		return message.role === "bashExecution" && message.excludeFromContext ? null : message;
	}
	return isSystemItemEntry(entry) ? systemItemMessage(entry) : null;
}

/** The user message that stands in place of everything a compaction covers. */
export function compactionMessage(entry: CompactionEntry): UserMessage {
	return remember(entry, () => ({
		role: "user",
		content: `The conversation before this point was replaced by a summary:\n\n<summary>\n${entry.summary}\n</summary>`,
		timestamp: entryTime(entry),
	}));
}

/** ms since the epoch at which an entry was written; 0 when it does not say. */
export function entryTime(entry: SessionEntry | undefined): number {
	const timestamp = entry && "timestamp" in entry ? entry.timestamp : undefined;
	const ms = typeof timestamp === "string" ? Date.parse(timestamp) : timestamp;
	return typeof ms === "number" && Number.isFinite(ms) ? ms : 0;
}

function systemItemMessage(entry: SystemItemEntry): UserMessage {
	return remember(entry, () => ({
		role: "user",
		content: `<${entry.item.kind} source="${entry.source.replace(/["<>&]/g, "")}">\n${entry.item.text}\n</${entry.item.kind}>`,
		timestamp: entryTime(entry),
	}));
}

function remember(entry: SessionEntry, create: () => UserMessage): UserMessage {
	const known = synthetic.get(entry);
	if (known) return known;
	const message = Object.freeze(create());
	synthetic.set(entry, message);
	return message;
}

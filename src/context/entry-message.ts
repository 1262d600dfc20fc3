import type { UserMessage } from "@mariozechner/pi-ai";
import {
	type AppMessage,
	type CompactionEntry,
	isMessageEntry,
	isSessionHeader,
	isSystemItemEntry,
	type SessionEntry,
	type SystemItemEntry,
} from "../log/entry.js";
import type { TracedMessage } from "./context-message.js";

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

const ENTRY_ORIGIN = Object.freeze({ kind: "entry" } as const);
const SYSTEM_ITEM_ORIGIN = Object.freeze({ kind: "system_item" } as const);

const logs = new WeakMap<SessionEntry, EntryItems>();

/**
 * What the entries of one log are in a context: the same object for an entry each time, so that lists made of them, by pi
 * or by hooks, are compared without a look into them.
 */
export class EntryItems {
	/** In pages, as entries that a compaction covers have none: arrays with large gaps are slow. */
	readonly #pages: Page[] = [];

	/** Those of the log that begins with an entry; new ones each time for a list that begins with no header. */
	static of(first: SessionEntry | undefined): EntryItems {
		if (!isSessionHeader(first)) return new EntryItems();
		const items = logs.get(first) ?? new EntryItems();
		logs.set(first, items);
		return items;
	}

	/** @returns frozen; null for an entry that puts no message into the context */
	item(entry: SessionEntry | undefined, index: number): TracedMessage | null {
		if (entry === undefined) return null;
		const { entries, items } = this.#page(index >> PAGE_BITS);
		const place = index & (PAGE_SIZE - 1);
		if (entries[place] !== entry) {
			entries[place] = entry;
			items[place] = createItem(entry, index);
		}
		return items[place] ?? null;
	}

	#page(number: number): Page {
		this.#pages[number] ??= { entries: [], items: [] };
		return this.#pages[number];
	}
}

const PAGE_BITS = 10;
const PAGE_SIZE = 1 << PAGE_BITS;

/** Entries in a row, and the item of each. */
interface Page {
	entries: SessionEntry[];
	items: (TracedMessage | null)[];
}

function createItem(entry: SessionEntry, entryIndex: number): TracedMessage | null {
	const message = entryMessage(entry);
	if (!message) return null;
	return Object.freeze({ message, entryIndex, origin: isMessageEntry(entry) ? ENTRY_ORIGIN : SYSTEM_ITEM_ORIGIN });
}

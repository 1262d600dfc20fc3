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

/** The entries from which a context is computed: an array, or a log that parses them on demand. */
export interface EntrySource {
	readonly length: number;
	at(index: number): SessionEntry | undefined;
	/** Index of the last entry with one of these types before an index; -1 for none. Absent if it would read every entry. */
	lastOfTypes?(types: readonly string[], before: number): number;
}

/** The entries before an index. */
export function entriesBefore(entries: EntrySource, end: number): EntrySource {
	return {
		length: end,
		at: (index) => (index < end ? entries.at(index) : undefined),
		...(entries.lastOfTypes && {
			lastOfTypes: (types, before) => entries.lastOfTypes?.(types, Math.min(before, end)) ?? -1,
		}),
	};
}

// The same entry must always return the same message object: unchanged prefixes are recognized by identity.
const synthetic = new WeakMap<SessionEntry, UserMessage>();

/**
 * The message that an entry adds to the context; null for entries without one (header, custom entries, `!!` commands,
 * replies that were retried, unreadable lines).
 */
export function entryMessage(entry: SessionEntry | undefined): AppMessage | null {
	if (isMessageEntry(entry)) {
		const { message, retried } = entry;
		if (retried) return null;
		return message.role === "bashExecution" && message.excludeFromContext ? null : message;
	}
	return isSystemItemEntry(entry) ? systemItemMessage(entry) : null;
}

/** The user message that replaces the entries covered by a compaction. */
export function compactionMessage(entry: CompactionEntry): UserMessage {
	return memoize(entry, () => ({
		role: "user",
		content: `The conversation before this point was replaced by a summary:\n\n<summary>\n${entry.summary}\n</summary>`,
		timestamp: entryTime(entry),
	}));
}

/** Time at which an entry was written, ms since the epoch; 0 when unknown. */
export function entryTime(entry: SessionEntry | undefined): number {
	const timestamp = entry && "timestamp" in entry ? entry.timestamp : undefined;
	const ms = typeof timestamp === "string" ? Date.parse(timestamp) : timestamp;
	return typeof ms === "number" && Number.isFinite(ms) ? ms : 0;
}

function systemItemMessage(entry: SystemItemEntry): UserMessage {
	return memoize(entry, () => {
		const { item } = entry;
		const source = entry.source.replace(/["<>&\r\n]/g, "");
		const content =
			item.kind === "context_file"
				? `<context_file path="${source}"${item.changed ? ' changed="since you received it"' : ""}>\n${item.text}\n</context_file>\n\n${FILE_NOTE}`
				: `<${item.kind} source="${source}">\n${item.text}\n</${item.kind}>`;
		return { role: "user", content, timestamp: entryTime(entry) };
	});
}

/** What the model does with a context file. */
const FILE_NOTE =
	"These are the project's instructions for the directory of this file. They override those of parent directories and earlier versions of the file; the user's messages override both.";

function memoize(entry: SessionEntry, create: () => UserMessage): UserMessage {
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
 * Context items of one log. Each entry always has the same item object, so that lists built by pi or by hooks can be
 * compared by identity.
 */
export class EntryItems {
	/** In pages, because entries covered by a compaction have no items and sparse arrays are slow. */
	readonly #pages: Page[] = [];

	/** The items of the log with this header; new ones for a list without a header. */
	static of(first: SessionEntry | undefined): EntryItems {
		if (!isSessionHeader(first)) return new EntryItems();
		const items = logs.get(first) ?? new EntryItems();
		logs.set(first, items);
		return items;
	}

	/** @returns the frozen item; null for an entry without a message */
	item(entry: SessionEntry | undefined, index: number): TracedMessage | null {
		if (entry === undefined) return null;
		const { entries, items } = this.#page(index >> PAGE_BITS);
		const offset = index & (PAGE_SIZE - 1);
		if (entries[offset] !== entry) {
			entries[offset] = entry;
			items[offset] = createItem(entry, index);
		}
		return items[offset] ?? null;
	}

	#page(number: number): Page {
		this.#pages[number] ??= { entries: [], items: [] };
		return this.#pages[number];
	}
}

const PAGE_BITS = 10;
const PAGE_SIZE = 1 << PAGE_BITS;

/** Consecutive entries and their items. */
interface Page {
	entries: SessionEntry[];
	items: (TracedMessage | null)[];
}

function createItem(entry: SessionEntry, entryIndex: number): TracedMessage | null {
	const message = entryMessage(entry);
	if (!message) return null;
	return Object.freeze({ message, entryIndex, origin: isMessageEntry(entry) ? ENTRY_ORIGIN : SYSTEM_ITEM_ORIGIN });
}

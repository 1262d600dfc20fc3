import { isMessageEntry, isSessionHeader, type SessionEntry } from "../log/entry.js";
import type { TracedMessage } from "./context-message.js";
import { entryMessage } from "./entry-message.js";

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

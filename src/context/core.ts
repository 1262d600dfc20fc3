import type { ContextProblem, TracedMessage } from "./context-message.js";
import { compactionMessage, EntryItems, type EntrySource } from "./entry-message.js";
import { type ActiveCompaction, type ActiveFreeze, activeReplacement, changesReplacement } from "./replacement.js";
import { noteExtension } from "./shared-length.js";

/** What the core makes of the entries, before any hook. */
export interface CoreContext {
	/** Frozen, with its items. */
	messages: readonly TracedMessage[];
	/** Those among them that no single entry holds. */
	synthetic: readonly TracedMessage[];
	/** What stands in place of early entries. */
	replacement: ActiveCompaction | ActiveFreeze | null;
	problems: ContextProblem[];
	/** How many entries it was made of. */
	length: number;
	/** The items of the entries' log. */
	items: EntryItems;
	/** Begins with `messages` and grows: copying a list that is not frozen is quick. */
	growing: TracedMessage[];
}

/**
 * The context before hooks: the summary of the compaction in force, or the messages of the freeze, then every message
 * entry from the first one that it keeps. Reads no message that a compaction covers.
 * @param previous what was made of the same log when it was shorter: only the entries behind it are read then, unless one
 * of them is a compaction, a freeze or an undo. The result is the same without it, and the messages that both have are the
 * same objects.
 */
export function coreContext(entries: EntrySource, previous: CoreContext | null = null): CoreContext {
	if (previous && previous.length <= entries.length) {
		const added = readItems(entries, previous.length, previous.items, { stopAtReplacement: true });
		if (added) return { ...previous, ...extend(previous, added), length: entries.length };
	}
	return computeCore(entries);
}

function extend(
	{ messages, growing }: CoreContext,
	added: readonly TracedMessage[],
): Pick<CoreContext, "messages" | "growing"> {
	if (added.length === 0) return { messages, growing };
	const all = growing.length === messages.length ? growing : [...messages]; // another context may have gone on from this one
	for (const item of added) all.push(item);
	const extended = Object.freeze(all.slice());
	noteExtension(messages, extended);
	return { messages: extended, growing: all };
}

function computeCore(entries: EntrySource): CoreContext {
	const replacement = activeReplacement(entries);
	const head: TracedMessage[] = [];
	const problems: ContextProblem[] = [];
	if (replacement?.kind === "compaction") {
		const { entry, entryIndex, firstKeptEntryIndex } = replacement;
		if (entry.firstKeptEntryIndex !== firstKeptEntryIndex) {
			problems.push({ hook: null, rule: "compaction_index_clamped", position: entryIndex });
		}
		const origin = Object.freeze({ kind: "compaction", entryIndex } as const);
		head.push(Object.freeze({ message: compactionMessage(entry), entryIndex: null, origin }));
	} else if (replacement) head.push(...replacement.messages.map((item) => Object.freeze(item)));
	const items = EntryItems.of(entries.at(0));
	const kept = readItems(entries, replacement?.firstKeptEntryIndex ?? 0, items) ?? [];
	const growing = head.length > 0 ? [...head, ...kept] : kept;
	return {
		messages: Object.freeze(growing.slice()),
		synthetic: head.filter(({ entryIndex }) => entryIndex === null),
		replacement,
		problems,
		length: entries.length,
		items,
		growing,
	};
}

/** The items of the entries from an index on; null when it stops at an entry that changes what replaces early ones. */
function readItems(
	entries: EntrySource,
	from: number,
	items: EntryItems,
	{ stopAtReplacement = false } = {},
): TracedMessage[] | null {
	// Allocated at once: growing it would cost more than what is put in.
	const read = new Array<TracedMessage>(entries.length - from);
	let count = 0;
	for (let index = from; index < entries.length; index++) {
		const entry = entries.at(index);
		if (stopAtReplacement && changesReplacement(entry)) return null;
		const item = items.item(entry, index);
		if (item) read[count++] = item;
	}
	read.length = count;
	return read;
}

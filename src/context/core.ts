import { isMessageEntry } from "../log/entry.js";
import type { ContextProblem, TracedMessage } from "./context-message.js";
import { compactionMessage, type EntrySource, entryMessage } from "./entry-message.js";
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
		const added = readMessages(entries, previous.length, { stopAtReplacement: true });
		if (added) return { ...previous, messages: extend(previous.messages, added), length: entries.length };
	}
	return computeCore(entries);
}

function extend(messages: readonly TracedMessage[], added: readonly TracedMessage[]): readonly TracedMessage[] {
	if (added.length === 0) return messages;
	const all = Object.freeze([...messages, ...added]);
	noteExtension(messages, all);
	return all;
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
	const kept = readMessages(entries, replacement?.firstKeptEntryIndex ?? 0) ?? [];
	return {
		messages: Object.freeze(head.length > 0 ? [...head, ...kept] : kept),
		synthetic: head.filter(({ entryIndex }) => entryIndex === null),
		replacement,
		problems,
		length: entries.length,
	};
}

/** The messages of the entries from an index on; null when it stops at an entry that changes what replaces early ones. */
function readMessages(entries: EntrySource, from: number, { stopAtReplacement = false } = {}): TracedMessage[] | null {
	const messages: TracedMessage[] = [];
	for (let index = from; index < entries.length; index++) {
		const entry = entries.at(index);
		if (stopAtReplacement && changesReplacement(entry)) return null;
		const message = entryMessage(entry);
		if (!message) continue;
		const origin = isMessageEntry(entry) ? ENTRY_ORIGIN : SYSTEM_ITEM_ORIGIN;
		messages.push(Object.freeze({ message, entryIndex: index, origin }));
	}
	return messages;
}

const ENTRY_ORIGIN = Object.freeze({ kind: "entry" } as const);
const SYSTEM_ITEM_ORIGIN = Object.freeze({ kind: "system_item" } as const);

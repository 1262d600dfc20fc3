import { isMessageEntry } from "../log/entry.js";
import type { ContextProblem, TracedMessage } from "./context-message.js";
import { compactionMessage, type EntrySource, entryMessage } from "./entry-message.js";
import { type ActiveCompaction, type ActiveFreeze, activeReplacement } from "./replacement.js";

/** What the core makes of the entries, before any hook. */
export interface CoreContext {
	messages: TracedMessage[];
	/** What stands in place of early entries. */
	replacement: ActiveCompaction | ActiveFreeze | null;
	problems: ContextProblem[];
}

/**
 * The context before hooks: the summary of the compaction in force, or the messages of the freeze, then every message
 * entry from the first one that it keeps. Reads no message that a compaction covers.
 */
export function coreContext(entries: EntrySource): CoreContext {
	const replacement = activeReplacement(entries);
	const messages: TracedMessage[] = [];
	const problems: ContextProblem[] = [];
	if (replacement?.kind === "compaction") {
		const { entry, entryIndex, firstKeptEntryIndex } = replacement;
		if (entry.firstKeptEntryIndex !== firstKeptEntryIndex) {
			problems.push({ hook: null, rule: "compaction_index_clamped", position: entryIndex });
		}
		messages.push({
			message: compactionMessage(entry),
			entryIndex: null,
			origin: { kind: "compaction", entryIndex },
		});
	} else if (replacement) messages.push(...replacement.messages);
	for (let index = replacement?.firstKeptEntryIndex ?? 0; index < entries.length; index++) {
		const entry = entries.at(index);
		const message = entryMessage(entry);
		if (message) {
			messages.push({ message, entryIndex: index, origin: isMessageEntry(entry) ? ENTRY_ORIGIN : SYSTEM_ITEM_ORIGIN });
		}
	}
	return { messages, replacement, problems };
}

const ENTRY_ORIGIN = { kind: "entry" } as const;
const SYSTEM_ITEM_ORIGIN = { kind: "system_item" } as const;

import { isOutputSchemaEntry } from "../log/entry.js";
import type { ActiveOutputSchema, ContextProblem, TracedMessage } from "./context-message.js";
import { compactionMessage, EntryItems, type EntrySource } from "./entry-message.js";
import { type OmittedImages, omittedImages } from "./omitted-images.js";
import { activeSchema } from "./output-schema.js";
import { type ActiveCompaction, type ActiveFreeze, activeReplacement, changesReplacement } from "./replacement.js";
import { noteExtension } from "./shared-length.js";
import { shortenItem } from "./shorten.js";

/** The context before any hook. */
export interface CoreContext {
	/** Frozen, with its items. */
	messages: readonly TracedMessage[];
	/** Those that are not from a single entry. */
	synthetic: readonly TracedMessage[];
	/** The compaction or freeze that replaces early entries; null for none. */
	replacement: ActiveCompaction | ActiveFreeze | null;
	/** The images that are replaced with text after the hooks. */
	omitted: OmittedImages;
	/** The schema that the answer must match; null for none. Found only in entries that are in the context. */
	outputSchema: ActiveOutputSchema | null;
	problems: ContextProblem[];
	/** Number of entries from which it was computed. */
	length: number;
	/** The item cache of the log. */
	items: EntryItems;
	/** A growing list that starts with `messages`; it is not frozen, because copying frozen lists is slow. */
	growing: TracedMessage[];
}

/**
 * Computes the context before hooks: the summary of the active compaction, or the messages of the active freeze, then the
 * messages of all entries that it keeps. Reads no message that a compaction covers.
 * @param previous an earlier result for the same log. Only later entries are read then, unless one of them is a
 * compaction, a freeze or an undo. It does not change the result; shared messages are the same objects.
 */
export function coreContext(entries: EntrySource, previous: CoreContext | null = null): CoreContext {
	if (previous && previous.length <= entries.length) {
		const added = readItems(entries, previous.length, previous.items, { stopAtReplacement: true });
		if (added) {
			const { items, outputSchema = previous.outputSchema } = added;
			return { ...previous, ...extend(previous, items), outputSchema, length: entries.length };
		}
	}
	return computeCore(entries);
}

function extend(
	{ messages, growing }: CoreContext,
	added: readonly TracedMessage[],
): Pick<CoreContext, "messages" | "growing"> {
	if (added.length === 0) return { messages, growing };
	const all = growing.length === messages.length ? growing : [...messages]; // another result may have extended this list
	for (const item of added) all.push(item);
	const extended = Object.freeze(all.slice());
	noteExtension(messages, extended);
	return { messages: extended, growing: all };
}

function computeCore(entries: EntrySource): CoreContext {
	const replacement = activeReplacement(entries);
	const head: TracedMessage[] = [];
	const problems: ContextProblem[] = [];
	const items = EntryItems.of(entries.at(0));
	if (replacement?.kind === "compaction") {
		const { entry, entryIndex, firstKeptEntryIndex } = replacement;
		if (entry.firstKeptEntryIndex !== firstKeptEntryIndex) {
			problems.push({ hook: null, rule: "compaction_index_clamped", position: entryIndex });
		}
		const origin = Object.freeze({ kind: "compaction", entryIndex } as const);
		head.push(Object.freeze({ message: compactionMessage(entry), entryIndex: null, origin }));
		for (const index of replacement.keptPrompts) {
			const item = items.item(entries.at(index), index);
			if (item) head.push(item);
		}
	} else if (replacement) head.push(...replacement.messages.map((item) => Object.freeze(item)));
	const { items: kept, outputSchema = null } = readItems(entries, replacement?.firstKeptEntryIndex ?? 0, items) ?? {
		items: [],
	};
	if (replacement?.kind === "compaction") shortenKept(kept, replacement);
	const growing = head.length > 0 ? [...head, ...kept] : kept;
	return {
		messages: Object.freeze(growing.slice()),
		synthetic: head.filter(({ entryIndex }) => entryIndex === null),
		replacement,
		omitted: omittedImages(entries, replacement?.firstKeptEntryIndex ?? 0),
		outputSchema,
		problems,
		length: entries.length,
		items,
		growing,
	};
}

/** Replaces the outputs that a compaction shortens. */
function shortenKept(kept: TracedMessage[], { entry, entryIndex: compaction }: ActiveCompaction): void {
	const { shortened = [] } = entry;
	if (shortened.length === 0) return;
	const byIndex = new Map(shortened.map(({ entryIndex, characters }) => [entryIndex, characters]));
	for (const [position, item] of kept.entries()) {
		const characters = item.entryIndex === null ? undefined : byIndex.get(item.entryIndex);
		if (characters !== undefined) kept[position] = shortenItem(item, characters, compaction);
	}
}

/** The items of the entries from an index, and the schema that they ask for, if they change it; null if `stopAtReplacement` and one of them changes the active replacement. */
function readItems(
	entries: EntrySource,
	from: number,
	items: EntryItems,
	{ stopAtReplacement = false } = {},
): { items: TracedMessage[]; outputSchema?: ActiveOutputSchema | null } | null {
	// Preallocated: growing the array would cost more than filling it.
	const read = new Array<TracedMessage>(entries.length - from);
	let count = 0;
	let asked: { outputSchema?: ActiveOutputSchema | null } = {};
	for (let index = from; index < entries.length; index++) {
		const entry = entries.at(index);
		if (stopAtReplacement && changesReplacement(entry)) return null;
		if (isOutputSchemaEntry(entry)) asked = { outputSchema: activeSchema(entry) };
		const item = items.item(entry, index);
		if (item) read[count++] = item;
	}
	read.length = count;
	return { items: read, ...asked };
}

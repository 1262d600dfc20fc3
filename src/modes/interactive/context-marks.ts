import type { BuiltContext, TracedMessage } from "../../context/context-message.js";
import { type EntrySource, entryMessage } from "../../context/entry-message.js";
import { estimateTokens } from "../../context/tokens.js";
import { hookName } from "../../hooks/hook-name.js";
import { isCompactionEntry, messageText } from "../../log/entry.js";

import type { ContextSummary } from "./views/summary-view.js";

/** A summary and its position. */
export interface PlacedSummary extends ContextSummary {
	/** Index of the entry of the next message in the context; null when the summary is last. */
	before: number | null;
}

/** The parts of a context that the gutter shows. */
export interface ContextMarks {
	/** The cause that hides an entry from the model: `compaction`, `freeze` or a hook name; null when the model sees it. */
	hiddenBy(entryIndex: number): string | null;
	/** In context order. */
	readonly summaries: readonly PlacedSummary[];
}

/** The marks before any context is known: every entry counts as visible. */
export const NO_MARKS: ContextMarks = { hiddenBy: () => null, summaries: [] };

/**
 * Computes the marks of the entries from index `from` on. Entries added after the context was computed count as visible.
 * The cost depends on the entries after `from`, not on the full history, unless a hook hides entries there.
 */
export function readMarks(context: BuiltContext, entries: EntrySource, from: number): ContextMarks {
	const known = entries.length;
	const visible = new Set<number>();
	const summaries: PlacedSummary[] = [];
	const cut = cutOf(context, entries);
	let firstKept = 0;
	let next: number | null = null;
	for (let position = context.messages.length - 1; position >= 0; position--) {
		const traced = context.messages[position];
		if (!traced) continue;
		if (traced.entryIndex !== null) {
			// Prompts that a compaction keeps stand right after its summary, before the entries that it keeps.
			const isKeptPrompt = traced.entryIndex < cut;
			if (traced.entryIndex < from && !isKeptPrompt) break;
			visible.add(traced.entryIndex);
			if (!isKeptPrompt) next = traced.entryIndex;
			continue;
		}
		if (traced.origin.kind === "compaction") {
			firstKept = cut;
			summaries.unshift(coreSummary(traced, next, "compaction"));
		} else if (traced.origin.kind === "freeze") {
			summaries.unshift(coreSummary(traced, next, "freeze"));
		} else if (traced.origin.kind === "hook") {
			const previous = indexBefore(context.messages, position);
			const summary = hookSummary(traced, traced.origin.hook, context, entries, previous, next);
			if (summary) summaries.unshift(summary);
		}
	}
	let hooks: Map<number, string> | null = null;
	const hiddenBy = (index: number): string | null => {
		if (index >= known || visible.has(index)) return null;
		if (index < firstKept) return "compaction";
		hooks ??= hiddenNames(context, from);
		return hooks.get(index) ?? null;
	};
	return { hiddenBy, summaries: withoutDoubleCounts(summaries) };
}

/** Index of the first entry that the compaction of a context keeps; 0 without one. */
function cutOf({ messages }: BuiltContext, entries: EntrySource): number {
	const origin = messages[0]?.origin;
	const entry = origin?.kind === "compaction" ? entries.at(origin.entryIndex) : undefined;
	return origin?.kind === "compaction" && isCompactionEntry(entry)
		? Math.min(entry.firstKeptEntryIndex, origin.entryIndex)
		: 0;
}

function hiddenNames(context: BuiltContext, from: number): Map<number, string> {
	const names = new Map<number, string>();
	for (let at = context.hidden.length - 1; at >= 0; at--) {
		const hidden = context.hidden[at];
		if (!hidden || hidden.entryIndex < from) break;
		names.set(hidden.entryIndex, hidden.by.kind === "hook" ? hookName(hidden.by.hook) : hidden.by.kind);
	}
	return names;
}

function indexBefore(messages: readonly TracedMessage[], position: number): number {
	for (let at = position - 1; at >= 0; at--) {
		const index = messages[at]?.entryIndex;
		if (index !== null && index !== undefined) return index;
	}
	return 0;
}

// The size of the replaced part is unknown: the compaction entry counts the messages that it kept as well.
function coreSummary(traced: TracedMessage, before: number | null, by: "compaction" | "freeze"): PlacedSummary {
	const text = messageText(traced.message);
	return { text, by, messages: 0, tokensBefore: 0, tokens: estimateTokens(traced.message), before };
}

/** A hook's message summarizes the entries that the hook hid at that position. @returns null if it hid none there */
function hookSummary(
	traced: TracedMessage,
	hook: string,
	context: BuiltContext,
	entries: EntrySource,
	previous: number,
	before: number | null,
): PlacedSummary | null {
	let messages = 0;
	let tokensBefore = 0;
	for (let at = context.hidden.length - 1; at >= 0; at--) {
		const hidden = context.hidden[at];
		if (!hidden || hidden.entryIndex < previous) break;
		if (hidden.by.kind !== "hook" || hidden.by.hook !== hook) continue;
		if (before !== null && hidden.entryIndex >= before) continue;
		const message = entryMessage(entries.at(hidden.entryIndex));
		messages += 1;
		if (message) tokensBefore += estimateTokens(message);
	}
	if (messages === 0) return null;
	const text = messageText(traced.message);
	return { text, by: hookName(hook), messages, tokensBefore, tokens: estimateTokens(traced.message), before };
}

/** Clears the counts of adjacent summaries of one hook: which summary replaces which entries is unknown. */
function withoutDoubleCounts(summaries: readonly PlacedSummary[]): PlacedSummary[] {
	return summaries.map((own) => {
		const twin = summaries.some((other) => other !== own && other.by === own.by && other.before === own.before);
		return twin && own.by !== "compaction" ? { ...own, messages: 0, tokensBefore: 0 } : own;
	});
}

import type { BuiltContext, TracedMessage } from "../../context/context-message.js";
import { type EntrySource, entryMessage } from "../../context/entry-message.js";
import { estimateTokens } from "../../context/tokens.js";
import { isCompactionEntry, messageText } from "../../log/entry.js";
import { hookName } from "../format.js";
import type { StandIn } from "./views/summary-view.js";

/** A summary and where it stands. */
export interface PlacedStandIn extends StandIn {
	/** The entry of the next message in the context; null when nothing comes after it. */
	before: number | null;
}

/** What the gutter shows of a context. */
export interface ContextMarks {
	/** What hid an entry from the model: `compaction`, `freeze` or the name of a hook; null when the model sees it. */
	hiddenBy(entryIndex: number): string | null;
	/** In the order of the context. */
	readonly standIns: readonly PlacedStandIn[];
}

/** The marks before any context is known: everything is in it. */
export const NO_MARKS: ContextMarks = { hiddenBy: () => null, standIns: [] };

/**
 * Reads what a context says of the entries from index `from` on. Entries that were added after it was computed count
 * as seen. Costs what lies after `from`, not the whole history, unless a hook hides something there.
 */
export function readMarks(context: BuiltContext, entries: EntrySource, from: number): ContextMarks {
	const known = entries.length;
	const visible = new Set<number>();
	const standIns: PlacedStandIn[] = [];
	let firstKept = 0;
	let next: number | null = null;
	for (let position = context.messages.length - 1; position >= 0; position--) {
		const traced = context.messages[position];
		if (!traced) continue;
		if (traced.entryIndex !== null && traced.origin.kind !== "compaction") {
			if (traced.entryIndex < from) break;
			visible.add(traced.entryIndex);
			next = traced.entryIndex;
			continue;
		}
		if (traced.origin.kind === "compaction") {
			const entry = entries.at(traced.origin.entryIndex);
			if (isCompactionEntry(entry)) firstKept = Math.min(entry.firstKeptEntryIndex, traced.origin.entryIndex);
			standIns.unshift(ofCore(traced, next, "compaction"));
		} else if (traced.origin.kind === "freeze") {
			standIns.unshift(ofCore(traced, next, "freeze"));
		} else if (traced.origin.kind === "hook") {
			const previous = indexBefore(context.messages, position);
			const standIn = ofHook(traced, traced.origin.hook, context, entries, previous, next);
			if (standIn) standIns.unshift(standIn);
		}
	}
	let hooks: Map<number, string> | null = null;
	const hiddenBy = (index: number): string | null => {
		if (index >= known || visible.has(index)) return null;
		if (index < firstKept) return "compaction";
		hooks ??= hiddenNames(context, from);
		return hooks.get(index) ?? null;
	};
	return { hiddenBy, standIns: withoutDoubleCounts(standIns) };
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

// How much it replaced is not known here: what a compaction noted includes what it kept.
function ofCore(traced: TracedMessage, before: number | null, by: "compaction" | "freeze"): PlacedStandIn {
	const text = messageText(traced.message);
	return { text, by, messages: 0, tokensBefore: 0, tokens: estimateTokens(traced.message), before };
}

/** A message of a hook stands for the entries that this hook hid just there; where it hid none, it is no summary. */
function ofHook(
	traced: TracedMessage,
	hook: string,
	context: BuiltContext,
	entries: EntrySource,
	previous: number,
	before: number | null,
): PlacedStandIn | null {
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

/** Two summaries of one hook side by side: which stands for which entries is not known, so neither claims them. */
function withoutDoubleCounts(standIns: readonly PlacedStandIn[]): PlacedStandIn[] {
	return standIns.map((own) => {
		const twin = standIns.some((other) => other !== own && other.by === own.by && other.before === own.before);
		return twin && own.by !== "compaction" ? { ...own, messages: 0, tokensBefore: 0 } : own;
	});
}

import { type AppMessage, isUserMessageEntry, type ShortenedOutput } from "../log/entry.js";
import type { TracedMessage } from "./context-message.js";
import { compactionMessage, type EntrySource } from "./entry-message.js";
import { activeReplacement } from "./replacement.js";
import { shortenOutput } from "./shorten.js";
import { estimateTokens } from "./tokens.js";

/** The effect of a compaction on the current context. */
export interface CompactionPlan {
	/** Equal to the number of entries when no recent message stays. */
	firstKeptEntryIndex: number;
	/** Prompts before the cut that stay: the latest one, and those that wait for an answer with it. */
	keptEntries: readonly number[];
	/** Outputs after the cut that are shortened. */
	shortened: readonly ShortenedOutput[];
	/** The cut falls inside a turn. */
	isSplitTurn: boolean;
	/** Nothing of the recent conversation but the latest prompt stays. */
	isLastResort: boolean;
	/** Nothing is dropped but the summary of the compaction before. */
	onlyRepeats: boolean;
	messagesToSummarize: AppMessage[];
	messagesToKeep: AppMessage[];
	previousSummary?: string;
	tokensBefore: number;
}

/**
 * Plans of a compaction, each smaller than the one before: with `keepRecentTokens` of recent messages; with a half and a
 * quarter of that, and long outputs shortened; with the last reply and its results; with the latest prompt alone. The
 * latest prompt always stays verbatim; the first kept message is never a tool result. Yields nothing when no message is
 * before a cut.
 */
export function* planCompactions(
	messages: readonly TracedMessage[],
	entries: EntrySource,
	keepRecentTokens: number,
): Generator<CompactionPlan, void, undefined> {
	const previous = activeReplacement(entries);
	const firstAllowed = previous?.firstKeptEntryIndex ?? 0;
	const compaction = previous?.kind === "compaction" ? previous.entry : null;
	const [previousSummary, summary] = [compaction?.summary, compaction && compactionMessage(compaction)];
	const tokensBefore = messages.reduce((sum, { message }) => sum + estimateTokens(message), 0);
	let last = "";
	const steps = STEPS.map(({ share, shortens }) => {
		const keep = Math.max(1, Math.floor(keepRecentTokens * share));
		const shorten = shortens ? Math.max(MIN_OUTPUT_TOKENS, Math.floor(keep / 4)) : null;
		return { cut: findCut(messages, keep, firstAllowed, shorten), shorten };
	});
	for (const { cut, shorten } of [...steps, { cut: messages.length, shorten: null }]) {
		const plan = cut === null ? null : planAt({ messages, entries, summary }, cut, shorten);
		const key = JSON.stringify([plan?.firstKeptEntryIndex, plan?.shortened]);
		if (!plan || key === last) continue;
		last = key;
		yield { ...plan, ...(previousSummary === undefined ? {} : { previousSummary }), tokensBefore };
	}
}

/** Shares of the recent messages that the plans keep, in order. */
const STEPS: readonly { share: number; shortens: boolean }[] = [
	{ share: 1, shortens: false },
	{ share: 0.5, shortens: false },
	{ share: 0.5, shortens: true },
	{ share: 0.25, shortens: true },
	{ share: 0, shortens: true },
];
/** A shortened output keeps at least this much. */
const MIN_OUTPUT_TOKENS = 64;
const CHARACTERS_PER_TOKEN = 4;

function planAt(
	{
		messages,
		entries,
		summary,
	}: { messages: readonly TracedMessage[]; entries: EntrySource; summary: AppMessage | null },
	cut: number,
	shorten: number | null,
): Omit<CompactionPlan, "tokensBefore"> | null {
	const first = messages[cut];
	const firstKeptEntryIndex = first ? first.entryIndex : entries.length;
	const covered = messages.slice(0, cut);
	const kept = messages.slice(cut);
	if (firstKeptEntryIndex === null) return null;
	const keptEntries = promptsToKeep(messages, entries, firstKeptEntryIndex);
	const dropped = covered.filter(({ entryIndex }) => entryIndex === null || !keptEntries.includes(entryIndex));
	if (dropped.length === 0) return null;
	return {
		firstKeptEntryIndex,
		keptEntries,
		shortened: shorten === null ? [] : longOutputs(kept, shorten),
		isSplitTurn: first ? first.message.role === "assistant" : keptEntries.length > 0,
		isLastResort: first === undefined,
		onlyRepeats: dropped.every(({ message }) => message === summary),
		messagesToSummarize: covered.map(({ message }) => message),
		messagesToKeep: kept.map(({ message }) => message),
	};
}

/**
 * The prompts that a compaction must keep although it covers them: the latest one, and those right before it, which wait
 * for the same answer. None when a later prompt is kept anyway.
 */
export function promptsToKeep(
	messages: readonly TracedMessage[],
	entries: EntrySource,
	firstKeptEntryIndex: number,
): number[] {
	const prompts: number[] = [];
	for (const { message, entryIndex } of messages.toReversed()) {
		const isPrompt = entryIndex !== null && isUserMessageEntry(entries.at(entryIndex));
		if (isPrompt && entryIndex >= firstKeptEntryIndex) return [];
		if (isPrompt) prompts.unshift(entryIndex);
		else if (prompts.length > 0 && message.role !== "user") break;
	}
	return prompts;
}

function longOutputs(kept: readonly TracedMessage[], maxTokens: number): ShortenedOutput[] {
	const characters = maxTokens * CHARACTERS_PER_TOKEN;
	return kept.flatMap(({ message, entryIndex }) => {
		if (entryIndex === null || estimateTokens(message) <= maxTokens * 1.5) return [];
		return shortenOutput(message, characters) === message ? [] : [{ entryIndex, characters }];
	});
}

/**
 * Position of the first message to keep; null for none. Never a message that an earlier compaction or freeze covers and a
 * hook restored: a cut there would restore all entries after it.
 * @param shorten tokens to which long outputs will be shortened; null when they stay
 */
function findCut(
	messages: readonly TracedMessage[],
	keepRecentTokens: number,
	firstAllowed: number,
	shorten: number | null,
): number | null {
	const size = ({ message }: TracedMessage) => {
		const tokens = estimateTokens(message);
		return shorten !== null && tokens > shorten && isOutput(message) ? shorten : tokens;
	};
	let kept = 0;
	let target = messages.length;
	while (target > 0 && kept < keepRecentTokens) {
		const item = messages[--target];
		if (item) kept += size(item);
	}
	// Prefer a cut that keeps less; move back only if no later message can be the first.
	for (let position = Math.max(target, 1); position < messages.length; position++) {
		if (canBeFirst(messages, position, firstAllowed)) return position;
	}
	for (let position = Math.min(target, messages.length - 1); position > 0; position--) {
		if (canBeFirst(messages, position, firstAllowed)) return position;
	}
	return null;
}

function isOutput({ role }: AppMessage): boolean {
	return role === "toolResult" || role === "bashExecution";
}

function canBeFirst(messages: readonly TracedMessage[], position: number, firstAllowed: number): boolean {
	const item = messages[position];
	if (item === undefined || item.entryIndex === null || item.entryIndex < firstAllowed) return false;
	return item.message.role !== "toolResult";
}

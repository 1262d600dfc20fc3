import type { Context as LlmContext } from "@mariozechner/pi-ai";
import { type AppMessage, isUserMessageEntry, promptOfEntry } from "../log/entry.js";
import type { TracedMessage } from "./context-message.js";
import type { EntrySource } from "./entry-message.js";
import { activeReplacement } from "./replacement.js";
import { serializeConversation } from "./serialize.js";
import { estimateTokens } from "./tokens.js";

/** The effect of a compaction on the current context. */
export interface CompactionPlan {
	firstKeptEntryIndex: number;
	/** The cut falls inside a turn. */
	isSplitTurn: boolean;
	messagesToSummarize: AppMessage[];
	messagesToKeep: AppMessage[];
	previousSummary?: string;
	tokensBefore: number;
}

/**
 * Finds where to cut a context so that about `keepRecentTokens` remain. The first kept message belongs to an entry and is
 * never a tool result. @returns null when no message is before the cut
 */
export function planCompaction(
	messages: readonly TracedMessage[],
	entries: EntrySource,
	keepRecentTokens: number,
): CompactionPlan | null {
	const previous = activeReplacement(entries);
	const cut = findCut(messages, keepRecentTokens, previous?.firstKeptEntryIndex ?? 0);
	const first = cut === null ? undefined : messages[cut];
	if (cut === null || !first || first.entryIndex === null) return null;
	const plan: CompactionPlan = {
		firstKeptEntryIndex: first.entryIndex,
		isSplitTurn: first.message.role === "assistant",
		messagesToSummarize: messages.slice(0, cut).map(({ message }) => message),
		messagesToKeep: messages.slice(cut).map(({ message }) => message),
		tokensBefore: messages.reduce((sum, { message }) => sum + estimateTokens(message), 0),
	};
	if (previous?.kind === "compaction") plan.previousSummary = previous.entry.summary;
	return plan;
}

/**
 * Position of the first message to keep; null for none. Never a message that an earlier compaction or freeze covers and a
 * hook restored: a cut there would restore all entries after it.
 */
function findCut(messages: readonly TracedMessage[], keepRecentTokens: number, firstAllowed: number): number | null {
	let kept = 0;
	let target = messages.length;
	while (target > 0 && kept < keepRecentTokens) {
		const message = messages[--target]?.message;
		if (message) kept += estimateTokens(message);
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

function canBeFirst(messages: readonly TracedMessage[], position: number, firstAllowed: number): boolean {
	const item = messages[position];
	if (item === undefined || item.entryIndex === null || item.entryIndex < firstAllowed) return false;
	return item.message.role !== "toolResult";
}

/** Heading under which a summary repeats the latest user message. */
const PROMPT_HEADING = "## The user's latest message, verbatim";

/**
 * Adds the text of the latest user message to a summary that covers its entry and does not contain it: the model must
 * not lose its task.
 * @returns the summary
 */
export function keepLatestPrompt(summary: string, entries: EntrySource, firstKeptEntryIndex: number): string {
	for (let index = entries.length - 1; index >= 0; index--) {
		const entry = entries.at(index);
		if (!isUserMessageEntry(entry)) continue;
		const prompt = promptOfEntry(entry)?.trim() ?? "";
		if (index >= firstKeptEntryIndex || summary.includes(prompt)) return summary;
		return `${summary.trimEnd()}\n\n${PROMPT_HEADING}\n${prompt}`;
	}
	return summary;
}

const SUMMARY_SYSTEM_PROMPT =
	"You write hand-over notes for a coding agent. From the conversation you are given, write what the agent needs to " +
	"continue without it. Do not continue the conversation and do not answer questions in it.";

const SUMMARY_REQUEST = `Write the notes in Markdown, under these headings, omitting empty ones:
## Goal: what the user wants, in their words where it matters
## Done: what was changed, with file paths and names of functions
## Found: facts about the code, decisions and their reasons, what did not work
## Next: remaining work, in order
Keep exact paths, commands, error messages and identifiers. Be as short as that allows.`;

/** The request for a summary of `messages`. */
export function summaryRequest(messages: readonly AppMessage[], focus: string | undefined): LlmContext {
	const text = serializeConversation(messages);
	const focusNote = focus ? `\n\nThe user asks that the notes pay particular attention to: ${focus}` : "";
	return {
		systemPrompt: SUMMARY_SYSTEM_PROMPT,
		messages: [
			{
				role: "user",
				content: `<conversation>\n${text}\n</conversation>\n\n${SUMMARY_REQUEST}${focusNote}`,
				timestamp: 0,
			},
		],
	};
}

import type { Context as LlmContext } from "@mariozechner/pi-ai";
import type { AppMessage } from "../log/entry.js";
import { serializeMessages } from "./serialize.js";
import { estimateText } from "./tokens.js";

const SYSTEM_PROMPT =
	"You write hand-over notes for a coding agent. From the conversation you are given, write what the agent needs to " +
	"continue without it. Do not continue the conversation and do not answer questions in it.";

const FORM = `Write the notes in Markdown, under these headings, omitting empty ones:
## Goal: what the user wants, in their words where it matters
## Done: what was changed, with file paths and names of functions
## Found: facts about the code, decisions and their reasons, what did not work
## Next: remaining work, in order
Keep exact paths, commands, error messages and identifiers. Be as short as that allows.`;

/** What a summary is asked for. */
export interface SummaryRequest {
	/** The part of the conversation, as text. */
	conversation: string;
	/** The summary of everything before it. */
	previous?: string | undefined;
	/** What the user wants the summary to focus on. */
	focus?: string | undefined;
	/** The longest useful answer, in tokens. */
	maxTokens: number;
	/** An answer that was cut off, to be continued or replaced by a shorter one. */
	cutOff?: { text: string; isTooLong: boolean };
}

/** The request for a summary of a part of a conversation, which merges the summary of what came before. */
export function summaryRequest({ conversation, previous, focus, maxTokens, cutOff }: SummaryRequest): LlmContext {
	const words = Math.max(40, Math.floor(maxTokens * WORDS_PER_TOKEN));
	const parts = [
		...(previous ? [`<notes-so-far>\n${previous}\n</notes-so-far>`] : []),
		`<conversation>\n${conversation}\n</conversation>`,
		previous
			? "The notes so far cover what came before the conversation: carry over everything that still matters."
			: "",
		`${FORM} Use at most ${words} words.`,
		focus ? `The user asks that the notes pay particular attention to: ${focus}` : "",
		cutOffNote(cutOff, words),
	];
	const content = parts.filter((part) => part !== "").join("\n\n");
	return { systemPrompt: SYSTEM_PROMPT, messages: [{ role: "user", content, timestamp: 0 }] };
}

function cutOffNote(cutOff: SummaryRequest["cutOff"], words: number): string {
	if (!cutOff) return "";
	if (cutOff.isTooLong)
		return `An earlier answer was cut off because it was too long. Use at most ${Math.floor(words / 2)} words.`;
	return `Your answer was cut off. This is what you wrote:\n<written>\n${cutOff.text}\n</written>\nContinue exactly where it stops, without repeating anything.`;
}

const WORDS_PER_TOKEN = 0.6;

/** Estimated tokens of a request for a summary without the conversation. */
export function summaryOverhead(request: Omit<SummaryRequest, "conversation">): number {
	return estimateRequest(summaryRequest({ ...request, conversation: "" }));
}

/** Estimated tokens of a request for a summary. */
export function estimateRequest({ systemPrompt = "", messages }: LlmContext): number {
	const text = messages.map(({ content }) => (typeof content === "string" ? content : "")).join("");
	return estimateText(systemPrompt + text) + 16;
}

/**
 * A conversation as text, in parts of at most `maxTokens` tokens each, in order. A longer message is divided.
 * @param notes what came before the conversation; its first text
 */
export function splitConversation(messages: readonly AppMessage[], maxTokens: number, notes?: string): string[] {
	const maxResultChars = Math.min(2000, Math.max(200, maxTokens));
	const parts: string[] = [];
	let part = "";
	let tokens = 0;
	const close = () => {
		if (part !== "") parts.push(part);
		part = "";
		tokens = 0;
	};
	const texts = serializeMessages(messages, { maxResultChars });
	for (const text of notes === undefined ? texts : [`Notes so far:\n${notes}`, ...texts]) {
		const size = estimateText(text) + 1;
		if (tokens + size > maxTokens) close();
		if (size > maxTokens) {
			parts.push(...divide(text, maxTokens));
			continue;
		}
		part = part === "" ? text : `${part}\n\n${text}`;
		tokens += size;
	}
	close();
	return parts;
}

/** Divides a text into pieces of at most `maxTokens` tokens. */
function divide(text: string, maxTokens: number): string[] {
	const pieces: string[] = [];
	// A character takes at most one token by the estimate, so this many always fit; four times as many mostly do.
	for (let from = 0; from < text.length; ) {
		let length = Math.max(1, maxTokens * 4);
		while (length > maxTokens && estimateText(text.slice(from, from + length)) > maxTokens)
			length = Math.floor(length / 2);
		pieces.push(text.slice(from, from + length).toWellFormed());
		from += length;
	}
	return pieces;
}

import { isUserMessageEntry, type SessionEntry } from "./entry.js";
import { promptText } from "./prompt-text.js";

/** A prompt and everything that follows it until the next one: what `/pop`, `/fold` and `/pin` call a turn. */
export interface PromptTurn {
	/** From 1. It never changes, because entries do not. */
	readonly number: number;
	/** Entry index of the prompt. */
	readonly from: number;
	/** Entry index of the next prompt, or the number of entries. */
	readonly to: number;
	/** What the user typed. */
	readonly prompt: string;
}

/** Groups entries by the prompts of the user, oldest first. Entries before the first prompt belong to none. */
export function groupTurns(entries: readonly SessionEntry[]): PromptTurn[] {
	const prompts = entries.flatMap((entry, from) => (isUserMessageEntry(entry) ? [{ entry, from }] : []));
	return prompts.map(({ entry, from }, position) => ({
		number: position + 1,
		from,
		to: prompts[position + 1]?.from ?? entries.length,
		prompt: promptText(entry),
	}));
}

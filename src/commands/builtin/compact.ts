import type { SlashCommand } from "../command.js";

/** `/compact [focus]`: replaces earlier messages by a summary. */
export const compactCommand: SlashCommand = {
	name: "compact",
	argumentHint: "[focus]",
	description: "Summarize earlier messages to free context",
	async run({ session, rest, signal }) {
		const { tokensBefore, tokensAfter } = await session.compact(rest || undefined, signal);
		return { status: `Compacted: ${tokensBefore} → ${tokensAfter} tokens` };
	},
};

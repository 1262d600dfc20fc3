import type { BuiltinCommandContext, SlashCommand } from "../command.js";
import type { CompactionTokens } from "../compaction.js";

/** `/compact [focus]`: replaces earlier messages with a summary. */
export const compactCommand: SlashCommand = {
	name: "compact",
	argumentHint: "[focus]",
	description: "Summarize earlier messages to free context",
	async run(context) {
		const tokens = await compact(context);
		if (!tokens) return { status: "Nothing was compacted" };
		return { status: `Compacted: ${tokens.tokensBefore} → ${tokens.tokensAfter} tokens` };
	},
};

/** Lets the user review the compaction first if the shell can show it. @returns null when they reject it */
async function compact({ session, shell, rest, signal }: BuiltinCommandContext): Promise<CompactionTokens | null> {
	const request = { focus: rest || undefined, mustGain: true, signal };
	if (!shell?.openCompaction) return session.compaction.run(request);
	const trial = await session.compaction.begin(request);
	try {
		return await shell.openCompaction(trial);
	} finally {
		trial.end();
	}
}

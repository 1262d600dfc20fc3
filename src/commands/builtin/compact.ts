import type { BuiltinCommandContext, SlashCommand } from "../command.js";
import type { CompactionTokens } from "../compaction-request.js";

/** First word that also compacts recent messages. */
const ANYWAY = /^anyway\b\s*/;

/** `/compact [anyway] [focus]`: replaces earlier messages with a summary. */
export const compactCommand: SlashCommand = {
	name: "compact",
	argumentHint: "[anyway] [focus]",
	description: "Summarize earlier messages to free context",
	complete: (prefix) =>
		prefix !== "" && "anyway".startsWith(prefix) ? [{ value: "anyway", description: "recent messages too" }] : [],
	async run(context) {
		const tokens = await compact(context);
		if (!tokens) return { status: "Nothing was compacted" };
		// The preview has shown the tokens, and the entry shows the rest.
		if (context.shell?.screen) return undefined;
		return { status: `Compacted: ${tokens.tokensBefore} → ${tokens.tokensAfter} tokens` };
	},
};

/** Lets the user review the compaction first if the shell can show it. @returns null when they reject it */
async function compact({ session, shell, rest, signal }: BuiltinCommandContext): Promise<CompactionTokens | null> {
	const includesRecent = ANYWAY.test(rest);
	const focus = rest.replace(ANYWAY, "") || undefined;
	const request = { focus, mustGain: !includesRecent, includesRecent, signal };
	if (!shell?.openCompaction) return session.compaction.run(request);
	const trial = await session.compaction.begin(request);
	try {
		return await shell.openCompaction(trial);
	} finally {
		trial.end();
	}
}

import type { CompactionDraft, CompactionTokens, CompactionTrial } from "../../commands/compaction.js";
import { formatTokens } from "../format.js";
import type { PlainDialogs } from "./plain-dialogs.js";
import { type PlainOutput, plainLine } from "./plain-output.js";

const ANSWERS = [
	{ label: "use it", value: "use" },
	{ label: "write another", value: "again" },
	{ label: "leave the context as it is", value: "leave" },
] as const;

/**
 * Says what a compaction would put in place of the earlier messages and asks whether it is to count.
 * @returns null when nothing was written
 */
export async function askPlainCompaction(
	trial: CompactionTrial,
	dialogs: PlainDialogs,
	output: PlainOutput,
): Promise<CompactionTokens | null> {
	try {
		for (let draft = await trial.askHooks(); ; draft = null) {
			draft ??= await trial.draft(() => {}, trial.signal);
			const { tokensBefore, tokensAfter } = await trial.preview(draft.entry);
			output.say(`Summary by ${authorOf(draft)}:\n${draft.entry.summary.trim()}`);
			output.say(
				`The context would have ${formatTokens(tokensAfter)} tokens in place of ${formatTokens(tokensBefore)}`,
			);
			const answer = await dialogs.select("What about this summary?", ANSWERS, { signal: trial.signal });
			if (answer === "use") return await trial.accept(draft);
			if (answer !== "again") return null;
		}
	} catch (error) {
		// Who stopped it knows.
		if (trial.signal.aborted) return null;
		throw error;
	}
}

function authorOf({ by }: CompactionDraft): string {
	if (by.kind === "user") return "you";
	return plainLine(by.kind === "hook" ? `hook ${by.name}` : by.name);
}

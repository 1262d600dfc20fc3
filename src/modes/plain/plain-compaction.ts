import type { CompactionDraft, CompactionTokens, CompactionTrial } from "../../commands/compaction-request.js";
import { formatTokens } from "../format.js";
import type { PlainDialogs } from "./plain-dialogs.js";
import { type PlainOutput, plainLine } from "./plain-output.js";

const ANSWERS = [
	{ label: "use this summary", value: "use" },
	{ label: "write another summary", value: "again" },
	{ label: "cancel the compaction", value: "leave" },
] as const;

/** Prints the summary of a compaction and asks whether to use it. @returns null when nothing was written */
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
			for (const step of trial.describe(draft.entry)) output.say(`  ${step}`);
			output.say(`The context would change from ${formatTokens(tokensBefore)} to ${formatTokens(tokensAfter)} tokens`);
			const answer = await dialogs.select("Use this summary?", ANSWERS, { signal: trial.signal });
			if (answer === "use") return await trial.accept(draft);
			if (answer !== "again") return null;
		}
	} catch (error) {
		// The user aborted it: no error to report.
		if (trial.signal.aborted) return null;
		throw error;
	}
}

function authorOf({ by }: CompactionDraft): string {
	if (by.kind === "user") return "you";
	if (by.kind === "pi") return "pi, without a model";
	return plainLine(by.kind === "hook" ? `hook ${by.name}` : by.name);
}

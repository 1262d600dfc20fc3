import type { SlashCommand } from "../command.js";
import type { UndoPlan } from "../compaction-request.js";

/** Argument that skips the confirmation for requests that become too long, for modes without dialogs. */
const ANYWAY = "anyway";

/** `/uncompact [anyway]`: undoes the last active compaction, freeze or omission of images; call it again for the previous one. */
export const uncompactCommand: SlashCommand = {
	name: "uncompact",
	argumentHint: "[anyway]",
	description: "Undo the last compaction or image omission",
	complete: (prefix) =>
		ANYWAY.startsWith(prefix) ? [{ value: ANYWAY, description: "even if the request becomes too long" }] : [],
	async run({ session, ui, shell, rest, signal }) {
		const { compaction } = session;
		const plan = await compaction.planUndo();
		if (!plan) return { status: "No compaction to undo" };
		const tooLong = describeExcess(plan, session.autoCompaction);
		if (tooLong !== null && rest !== ANYWAY) {
			const isWanted = await ui.confirm(`Undo the ${plan.kind}?`, tooLong, { signal });
			if (!isWanted) return { status: `Nothing was undone. ${tooLong} · run /uncompact ${ANYWAY} to undo it` };
		}
		const { tokensBefore, tokensAfter } = await compaction.undo(plan);
		// The entry shows it.
		if (shell?.screen) return undefined;
		return {
			status: `Undid the ${plan.kind} in entry ${plan.entryIndex}: ${tokensBefore} → ${tokensAfter} tokens`,
		};
	},
};

function describeExcess({ kind, tokensAfter, exceeded }: UndoPlan, autoCompaction: boolean): string | null {
	if (exceeded === null) return null;
	const limit = autoCompaction
		? `more than the auto-compaction threshold of ${exceeded}: pi would compact again immediately`
		: `more than the model's limit of ${exceeded}: it would reject the request`;
	return `Without the ${kind}, the context has about ${tokensAfter} tokens, ${limit}`;
}

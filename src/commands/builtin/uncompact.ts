import type { SlashCommand } from "../command.js";
import type { UndoPlan } from "../compaction.js";

/** The word that undoes also where the request becomes too long, for where nobody can be asked. */
const ANYWAY = "anyway";

/** `/uncompact [anyway]`: undoes the last compaction that counts; again, the one before it. */
export const uncompactCommand: SlashCommand = {
	name: "uncompact",
	argumentHint: "[anyway]",
	description: "Undo the last compaction",
	complete: (prefix) =>
		ANYWAY.startsWith(prefix) ? [{ value: ANYWAY, description: "also when it gets too long" }] : [],
	async run({ session, ui, rest, signal }) {
		const { compaction } = session;
		const plan = await compaction.planUndo();
		if (!plan) return { status: "There is no compaction to undo" };
		const tooLong = describeExcess(plan, session.autoCompaction);
		if (tooLong !== null && rest !== ANYWAY) {
			const isWanted = await ui.confirm(`Undo the ${plan.kind}?`, tooLong, { signal });
			if (!isWanted) return { status: `Nothing was undone. ${tooLong} · /uncompact ${ANYWAY} does it` };
		}
		const { tokensBefore, tokensAfter } = await compaction.undo(plan);
		return {
			status: `The ${plan.kind} of entry ${plan.entryIndex} is undone: ${tokensBefore} → ${tokensAfter} tokens`,
		};
	},
};

function describeExcess({ kind, tokensAfter, exceeded }: UndoPlan, compactsItself: boolean): string | null {
	if (exceeded === null) return null;
	const limit = compactsItself
		? `more than the ${exceeded} at which pi compacts by itself: it would compact again at once`
		: `more than the ${exceeded} that the model takes: it would refuse the request`;
	return `Without the ${kind} the context has about ${tokensAfter} tokens, ${limit}`;
}

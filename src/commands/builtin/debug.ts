import type { SlashCommand } from "../command.js";

/** `/debug`: writes what helps to find a fault, keys replaced, and says where. */
export const debugCommand: SlashCommand = {
	name: "debug",
	description: "Write a report for finding faults",
	run: async ({ session, shell }) => {
		const path = await session.writeDebugReport(shell?.screen?.() ?? null);
		return { status: `Wrote ${path} · it holds your conversation, keys replaced: read it before you give it away` };
	},
};

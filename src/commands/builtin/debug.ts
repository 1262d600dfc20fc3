import type { SlashCommand } from "../command.js";

/** `/debug`: writes a report for debugging, with known keys replaced, and prints its path. */
export const debugCommand: SlashCommand = {
	name: "debug",
	description: "Write a report for debugging pi",
	run: async ({ session, shell }) => {
		const path = await session.writeDebugReport(shell?.screen?.() ?? null);
		return {
			status: `Wrote ${path} · it contains your conversation; only keys that pi uses are replaced: read it before you share it`,
		};
	},
};

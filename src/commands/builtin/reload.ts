import type { SlashCommand } from "../command.js";

/** `/reload`: loads all hooks, and the keys of a screen, anew. */
export const reloadCommand: SlashCommand = {
	name: "reload",
	description: "Load all hooks and keys anew",
	async run({ session, shell }) {
		shell?.reloadKeys?.();
		return { status: await session.reload() };
	},
};

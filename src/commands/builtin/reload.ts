import type { SlashCommand } from "../command.js";

/** `/reload`: loads all hooks anew. */
export const reloadCommand: SlashCommand = {
	name: "reload",
	description: "Load all hooks anew",
	run: async ({ session }) => ({ status: await session.reload() }),
};

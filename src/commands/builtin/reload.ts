import type { SlashCommand } from "../command.js";

/** `/reload`: reads everything that the user and the project provide again. */
export const reloadCommand: SlashCommand = {
	name: "reload",
	description: "Read hooks, tools, skills, settings and all other files again",
	async run({ session, shell }) {
		return { status: await session.reload(shell?.rereadFiles?.()) };
	},
};

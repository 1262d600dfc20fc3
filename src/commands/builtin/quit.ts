import type { SlashCommand } from "../command.js";

/** `/quit`: ends pi. */
export const quitCommand: SlashCommand = {
	name: "quit",
	aliases: ["exit"],
	description: "End pi",
	async run({ shell }) {
		shell?.quit();
	},
};

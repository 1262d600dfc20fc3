import type { SlashCommand } from "../command.js";

/** `/quit`: exits pi. */
export const quitCommand: SlashCommand = {
	name: "quit",
	aliases: ["exit"],
	description: "Quit pi",
	async run({ shell }) {
		shell?.quit();
	},
};

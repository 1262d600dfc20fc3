import type { SlashCommand } from "../command.js";

/** `/new`: begins an empty session; the old one stays on disk. */
export const newCommand: SlashCommand = {
	name: "new",
	aliases: ["clear"],
	description: "Begin a new session",
	async run({ session }) {
		return { status: (await session.newSession()) ? "New session" : "A hook kept the session" };
	},
};

import type { SlashCommand } from "../command.js";

/** `/name [text]`: names the session. */
export const nameCommand: SlashCommand = {
	name: "name",
	argumentHint: "[text]",
	description: "Name the session",
	async run({ session, ui, rest }) {
		const name = rest || (await ui.input("Session name", session.sessionName ?? ""));
		if (!name?.trim()) return;
		session.setName(name.trim());
		return { status: `Session: ${name.trim()}` };
	},
};

import type { SlashCommand } from "../command.js";

/** `/copy`: puts the last answer into the clipboard. */
export const copyCommand: SlashCommand = {
	name: "copy",
	description: "Copy the last answer",
	async run({ session, shell }) {
		const text = session.lastAssistantText();
		if (text === null) return { status: "There is no answer to copy yet" };
		if (!shell) return { status: text };
		await shell.copy(text);
		return { status: `Copied ${text.length} characters` };
	},
};

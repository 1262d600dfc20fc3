import type { SlashCommand } from "../command.js";

/** `/copy`: copies the last answer to the clipboard. */
export const copyCommand: SlashCommand = {
	name: "copy",
	description: "Copy the last answer to the clipboard",
	async run({ session, shell }) {
		const text = session.lastAssistantText();
		if (text === null) return { status: "No answer to copy yet" };
		if (!shell) return { status: text };
		await shell.copy(text);
		return { status: `Copied ${text.length} characters` };
	},
};

import type { SlashCommand } from "../command.js";

/** `/export [file]`: exports the session as one file, as HTML unless its name says another format. */
export const exportCommand: SlashCommand = {
	name: "export",
	argumentHint: "[file]",
	description: "Export the session as HTML",
	run: async ({ session, rest }) => ({ status: `Exported to ${await session.exportHtml(rest || undefined)}` }),
};

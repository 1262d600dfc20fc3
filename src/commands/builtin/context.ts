import type { SlashCommand } from "../command.js";
import { report } from "./report.js";

/** `/context`: what the model sees, message by message, and what is hidden by what; a panel where there is a screen. */
export const contextCommand: SlashCommand = {
	name: "context",
	description: "Show what the model sees",
	async run(context) {
		const { session, shell, signal } = context;
		if (!shell?.openContext) return report(context, "Context of the next request", await session.describeContext());
		await shell.openContext(session.inspector, signal);
		return undefined;
	},
};

import type { SlashCommand } from "../command.js";
import { report } from "./report.js";

/** `/hooks`: shows the loaded hooks and their statistics, in a panel if the shell has one. */
export const hooksCommand: SlashCommand = {
	name: "hooks",
	description: "Show the loaded hooks",
	async run(context) {
		const { session, shell, signal } = context;
		if (shell?.openHooks && session.inspector.hookStatuses().length > 0) {
			while ((await shell.openHooks(session.inspector, signal)) === "reload") await session.reload();
			return undefined;
		}
		const lines = await session.describeHooks(signal);
		return report(context, "Hooks", lines.length > 0 ? lines : ["No hooks are loaded"]);
	},
};

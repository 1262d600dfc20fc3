import type { SlashCommand } from "../command.js";
import { report } from "./report.js";

/** `/hooks`: which hooks are loaded. */
export const hooksCommand: SlashCommand = {
	name: "hooks",
	description: "Show the loaded hooks",
	async run(context) {
		const lines = context.session.describeHooks();
		return report(context, "Hooks", lines.length > 0 ? lines : ["No hook is loaded"]);
	},
};

import type { SlashCommand } from "../command.js";
import { report } from "./report.js";

/** `/hotkeys`: every key and what it does. */
export const hotkeysCommand: SlashCommand = {
	name: "hotkeys",
	description: "Show all keys",
	async run(context) {
		if (!context.shell) return { status: "There are no keys without a terminal" };
		const keys = context.shell.hotkeys();
		const width = Math.max(...keys.map(([key]) => key.length));
		return report(
			context,
			"Keys",
			keys.map(([key, what]) => `${key.padEnd(width)}  ${what}`),
		);
	},
};

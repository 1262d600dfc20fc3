import type { SlashCommand } from "../command.js";
import { report } from "./report.js";

/** `/hotkeys`: every key and what it does. */
export const hotkeysCommand: SlashCommand = {
	name: "hotkeys",
	description: "Show all keys",
	async run(context) {
		const { shell, signal } = context;
		if (!shell) return { status: "There are no keys without a terminal" };
		const keys = shell.hotkeys();
		if (shell.showList) {
			const rows = keys.map(([label, text, origin]) => ({ label, text, origin }));
			await shell.showList({ title: "Keys", rows }, signal);
			return undefined;
		}
		const width = Math.max(...keys.map(([key]) => key.length));
		return report(
			context,
			"Keys",
			keys.map(([key, what]) => `${key.padEnd(width)}  ${what}`),
		);
	},
};

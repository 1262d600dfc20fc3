import type { SlashCommand } from "../command.js";
import { report } from "./report.js";

/** `/hotkeys`: lists all key bindings. */
export const hotkeysCommand: SlashCommand = {
	name: "hotkeys",
	description: "Show all key bindings",
	async run(context) {
		const { shell, signal } = context;
		if (!shell) return { status: "Key bindings exist only in a terminal" };
		const keys = shell.hotkeys();
		if (shell.showList) {
			const rows = keys.map(([label, text, origin]) => ({ label, text, origin }));
			await shell.showList({ title: "Key bindings", rows }, signal);
			return undefined;
		}
		const width = Math.max(...keys.map(([key]) => key.length));
		return report(
			context,
			"Keys",
			keys.map(([key, description]) => `${key.padEnd(width)}  ${description}`),
		);
	},
};

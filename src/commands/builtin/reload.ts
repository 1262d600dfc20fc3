import type { SlashCommand } from "../command.js";

/** `/reload`: reloads all hooks and the key bindings. */
export const reloadCommand: SlashCommand = {
	name: "reload",
	description: "Reload all hooks and key bindings",
	async run({ session, shell }) {
		shell?.reloadKeys?.();
		return { status: await session.reload() };
	},
};

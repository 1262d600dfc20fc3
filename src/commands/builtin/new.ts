import type { SlashCommand } from "../command.js";

/** `/new`: starts an empty session; the old one stays on disk. */
export const newCommand: SlashCommand = {
	name: "new",
	aliases: ["clear"],
	description: "Start a new session",
	async run({ session, shell, signal }) {
		if ((await shell?.confirmEnd?.("Start a new session?", signal)) === false) return undefined;
		if (!(await session.newSession())) return { status: session.describeCanceled("new session") };
		shell?.rereadFiles?.();
		return { status: "New session" };
	},
};

import type { SlashCommand } from "../command.js";
import { report } from "./report.js";

/** `/help`: how to talk to pi, and every command. */
export const helpCommand: SlashCommand = {
	name: "help",
	description: "Show what you can type",
	async run(context) {
		const commands = context.session.commands().map(({ name, argumentHint, description, origin }) => ({
			call: `/${name}${argumentHint ? ` ${argumentHint}` : ""}`,
			text: origin === "built-in" ? description : `${description} (${origin})`,
		}));
		const width = Math.max(...commands.map(({ call }) => call.length));
		return report(context, "Help", [
			"Say what you want; the model reads, edits and runs things in this directory.",
			"@file names a file · !cmd runs a command that the model sees · !!cmd one that it does not · /hotkeys shows the keys",
			"",
			...commands.map(({ call, text }) => `${call.padEnd(width)}  ${text}`),
		]);
	},
};

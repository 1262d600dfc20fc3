import type { SlashCommand } from "../command.js";
import type { ListPage } from "../pickers.js";
import { report } from "./report.js";

const TYPED: ListPage["rows"] = [
	{ label: "text", text: "says what you want; the model reads, edits and runs things in this directory" },
	{ label: "@file", text: "names a file" },
	{ label: "!command", text: "runs a command that the model sees" },
	{ label: "!!command", text: "runs one that it does not see" },
];

/** `/help`: how to talk to pi, and every command. */
export const helpCommand: SlashCommand = {
	name: "help",
	description: "Show what you can type",
	async run(context) {
		const { session, shell, signal } = context;
		const commands = session.commands().map(({ name, argumentHint, description, origin }) => ({
			label: `/${name}${argumentHint ? ` ${argumentHint}` : ""}`,
			text: description,
			origin,
			insert: `/${name}${argumentHint ? " " : ""}`,
		}));
		const rows = [...TYPED, ...commands];
		if (shell?.showList) {
			const insert = await shell.showList({ title: "What you can type", rows }, signal);
			if (insert !== null) shell.setEditorText(insert);
			return undefined;
		}
		const width = Math.max(...rows.map(({ label }) => label.length));
		return report(
			context,
			"Help",
			rows.map(({ label, text, origin = "built-in" }) => {
				const from = origin === "built-in" ? "" : ` (${origin})`;
				return `${label.padEnd(width)}  ${text}${from}`;
			}),
		);
	},
};

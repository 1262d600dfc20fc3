import type { SlashCommand } from "../command.js";
import type { ListPage } from "../pickers.js";
import { report } from "./report.js";

const TYPED: ListPage["rows"] = [
	{ label: "text", text: "a prompt; the model reads and edits files and runs commands in this directory" },
	{ label: "@file", text: "mention a file in a prompt" },
	{ label: "!command", text: "run a shell command and show the model its output" },
	{ label: "!!command", text: "run a shell command without showing it to the model" },
];

/** `/help`: lists everything the user can type, including all commands. */
export const helpCommand: SlashCommand = {
	name: "help",
	description: "Show all commands and other input",
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
			const insert = await shell.showList({ title: "Commands and other input", rows }, signal);
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

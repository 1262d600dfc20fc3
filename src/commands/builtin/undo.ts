import type { UndoneFiles } from "../../log/entry.js";
import { displayPath } from "../../tools/path.js";
import type { SlashCommand } from "../command.js";
import { report } from "./report.js";

/** `/undo`: restores the files that the last prompt changed; call it again for the prompt before. */
export const undoCommand: SlashCommand = {
	name: "undo",
	description: "Restore the files that the last prompt changed",
	async run(context) {
		const undone = await context.session.undoFiles();
		if (!undone) return { status: "There are no changes to undo" };
		return report(context, "Undo", describeUndo(undone, context.session.cwd));
	},
};

/** What an undo did, one line for each file. */
function describeUndo({ restored, left, unknownCommands }: UndoneFiles, cwd: string): string[] {
	return [
		...restored.map(({ path, isDeleted }) =>
			isDeleted ? `deleted ${displayPath(cwd, path)}: it did not exist before` : `restored ${displayPath(cwd, path)}`,
		),
		...left.map(({ path, reason }) => `left ${displayPath(cwd, path)}: ${reason}`),
		...(unknownCommands === null ? [] : [`Changes of shell commands are unknown: ${unknownCommands}`]),
		"The conversation is unchanged; /pop removes turns from the context",
	];
}

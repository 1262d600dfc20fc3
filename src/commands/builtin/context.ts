import { PiError } from "../../errors.js";
import type { SlashCommand } from "../command.js";
import { report } from "./report.js";

/** `/context [entry]`: shows the messages that the model sees, or saw at an entry, and what is hidden by which hook. */
export const contextCommand: SlashCommand = {
	name: "context",
	argumentHint: "[entry]",
	description: "Show what the model sees, or saw at an entry",
	async run(context) {
		const { session, shell, signal, rest } = context;
		const at = readEntryIndex(rest);
		if (shell?.openContext) {
			await shell.openContext(session.inspector, at, signal);
			return undefined;
		}
		const title = at === null ? "Context of the next request" : `Context at entry ${at}`;
		return report(context, title, await session.describeContext(at));
	},
};

function readEntryIndex(text: string): number | null {
	if (text === "") return null;
	if (/^\d+$/.test(text)) return Number(text);
	throw new PiError("bad_arguments", `/context ${text}: expected the index of an entry`, {
		hint: "use a number, such as /context 12, or no argument for the next request",
	});
}

import { PiError } from "../../errors.js";
import type { BuiltinCommandContext, SlashCommand } from "../command.js";
import { report } from "./report.js";

/** Characters of an id that name a session, as in `pi sessions list`. */
const ID_LENGTH = 8;

/**
 * `/context [entry]`: shows the messages that the model sees, or saw at an entry, and what is hidden by which hook.
 * `/context bench`: names the command that compares strategies on this session.
 */
export const contextCommand: SlashCommand = {
	name: "context",
	argumentHint: "[entry|bench]",
	description: "Show what the model sees, or saw at an entry",
	async run(context) {
		const { session, shell, signal, rest } = context;
		if (rest === "bench") return report(context, "Compare strategies", describeBench(session));
		const at = readEntryIndex(rest);
		if (shell?.openContext) {
			await shell.openContext(session.inspector, at, signal);
			return undefined;
		}
		const title = at === null ? "Context of the next request" : `Context at entry ${at}`;
		return report(context, title, await session.describeContext(at));
	},
};

function describeBench(session: BuiltinCommandContext["session"]): string[] {
	if (session.sessionFile === null) return ["This session is not saved, so pi context bench cannot read it"];
	return [
		`pi context bench --sessions ${session.stats().sessionId.slice(0, ID_LENGTH)} pi:clear`,
		"Run it in a shell, in this directory. /hooks tries hooks in the shadow, in this session.",
	];
}

function readEntryIndex(text: string): number | null {
	if (text === "") return null;
	if (/^\d+$/.test(text)) return Number(text);
	throw new PiError("bad_arguments", `/context ${text}: expected the index of an entry`, {
		hint: "use a number, such as /context 12, bench, or no argument for the next request",
	});
}

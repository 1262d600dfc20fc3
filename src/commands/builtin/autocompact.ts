import { PiError } from "../../errors.js";
import type { SlashCommand } from "../command.js";

/** `/autocompact [on|off]`: turns automatic compaction on or off. */
export const autocompactCommand: SlashCommand = {
	name: "autocompact",
	argumentHint: "[on|off]",
	description: "Turn automatic compaction on or off",
	complete: (prefix) => ["on", "off"].filter((value) => value.startsWith(prefix)).map((value) => ({ value })),
	async run({ session, rest }) {
		if (rest && rest !== "on" && rest !== "off") {
			throw new PiError("bad_arguments", `/autocompact expects on or off, not "${rest}"`);
		}
		session.setAutoCompaction(rest ? rest === "on" : !session.autoCompaction);
		return { status: `Automatic compaction is ${session.autoCompaction ? "on" : "off"}` };
	},
};

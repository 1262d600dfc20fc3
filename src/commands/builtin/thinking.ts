import { PiError } from "../../errors.js";
import { THINKING_LEVELS, type ThinkingLevel } from "../../log/entry.js";
import { describeNoThinking } from "../../models/no-thinking.js";
import type { SlashCommand } from "../command.js";
import { hint } from "./report.js";

/** `/thinking [level]`: sets how much the model thinks before it answers. */
export const thinkingCommand: SlashCommand = {
	name: "thinking",
	argumentHint: "[level]",
	description: "Choose the thinking level",
	complete: (prefix) => THINKING_LEVELS.filter((level) => level.startsWith(prefix)).map((value) => ({ value })),
	async run(context) {
		const { session, ui, rest } = context;
		const refusal = describeNoThinking(session.model);
		if (refusal) return hint(context, refusal);
		const selected = THINKING_LEVELS.indexOf(session.thinkingLevel);
		const level = rest || (await ui.select("Which thinking level?", THINKING_LEVELS, { selected }));
		if (!level) return;
		if (!isLevel(level)) {
			throw new PiError("bad_arguments", `Unknown thinking level "${level}"`, {
				hint: `use ${THINKING_LEVELS.join(", ")}`,
			});
		}
		session.setThinkingLevel(level);
		return hint(context, `Thinking: ${level}`);
	},
};

function isLevel(text: string): text is ThinkingLevel {
	return THINKING_LEVELS.some((level) => level === text);
}

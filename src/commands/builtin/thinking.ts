import { PiError } from "../../errors.js";
import { THINKING_LEVELS, type ThinkingLevel } from "../../log/entry.js";
import { describeNoThinking, nearestThinkingLevel, thinkingLevels } from "../../models/thinking-levels.js";
import type { SlashCommand } from "../command.js";
import { hint } from "./report.js";

/** `/thinking [level]`: sets how much the model thinks before it answers. */
export const thinkingCommand: SlashCommand = {
	name: "thinking",
	argumentHint: "[level]",
	description: "Choose the thinking level",
	complete: (prefix, { model }) =>
		thinkingLevels(model)
			.filter((level) => level.startsWith(prefix))
			.map((value) => ({ value })),
	async run(context) {
		const { session, ui, rest } = context;
		const refusal = describeNoThinking(session.model);
		if (refusal) return hint(context, refusal);
		const levels = thinkingLevels(session.model);
		const selected = levels.indexOf(nearestThinkingLevel(session.model, session.thinkingLevel));
		const level = rest || (await ui.select("Which thinking level?", levels, { selected }));
		if (!level) return;
		if (!isLevel(level)) {
			throw new PiError("bad_arguments", `Unknown thinking level "${level}"`, {
				hint: `use ${levels.join(", ")}`,
			});
		}
		session.setThinkingLevel(level);
		// A notice says if the model does not have the level.
		return hint(context, `Thinking: ${nearestThinkingLevel(session.model, level)}`);
	},
};

function isLevel(text: string): text is ThinkingLevel {
	return THINKING_LEVELS.some((level) => level === text);
}

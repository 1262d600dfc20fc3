import type { ThinkingLevel } from "../log/entry.js";
import { nearestThinkingLevel, thinkingLevels } from "../models/thinking-levels.js";
import type { SessionComponents } from "../session/session-components.js";
import { NO_INPUT } from "./input.js";
import { operation } from "./operation.js";

/** Switches to the next thinking level that the model supports. */
export const cycleThinkingLevel = operation({
	request: null,
	run({ state }: SessionComponents): ThinkingLevel {
		const known = thinkingLevels(state.model);
		const at = known.indexOf(nearestThinkingLevel(state.model, state.thinkingLevel));
		const next = known[(at + 1) % known.length] ?? "off";
		state.setThinkingLevel(next);
		return next;
	},
	rpc: { command: "cycle_thinking_level", input: NO_INPUT, answer: async (run) => ({ level: run() }) },
});

import type { Api, Model } from "@mariozechner/pi-ai";
import { THINKING_LEVELS, type ThinkingLevel } from "../log/entry.js";
import type { SessionSetup } from "./session-setup.js";
import type { SessionState } from "./session-state.js";

/** Goes to the next or previous usable model. @returns it, or null when there is no other */
export async function cycleModel(
	{ models }: SessionSetup,
	state: SessionState,
	direction: 1 | -1,
): Promise<Model<Api> | null> {
	const usable = await models.cycle();
	const at = usable.findIndex(({ id, provider }) => id === state.model?.id && provider === state.model.provider);
	const next = usable[(at + direction + usable.length) % usable.length];
	if (!next || (usable.length === 1 && at === 0)) return null;
	state.setModel(next);
	return next;
}

/** Goes to the next thinking level that the model knows. */
export function cycleThinkingLevel({ client }: SessionSetup, state: SessionState): ThinkingLevel {
	const { model } = state;
	const known = THINKING_LEVELS.filter((level) => model === null || client.clampThinkingLevel(model, level) === level);
	const next = known[(known.indexOf(state.thinkingLevel) + 1) % known.length] ?? "off";
	state.setThinkingLevel(next);
	return next;
}

import type { PromptExtras } from "../session/prompt/prompter.js";
import type { SessionComponents } from "../session/session-components.js";
import { operation } from "./operation.js";

/** Sends a prompt after the active run; at once when no run is active. */
export const followUp = operation({
	request: "prompt",
	async run(session: SessionComponents, text: string, extras: PromptExtras = {}): Promise<void> {
		await session.prompter.followUp(text, extras);
	},
});

import type { PromptExtras, PromptResult } from "../session/prompt/prompter.js";
import type { SessionComponents } from "../session/session-components.js";
import { operation } from "./operation.js";
import { acceptPrompt, PROMPT_INPUT } from "./prompt-answer.js";

/** Sends a prompt after the active run; at once when no run is active. */
export const followUp = operation({
	request: "prompt",
	run: (session: SessionComponents, text: string, extras: PromptExtras = {}): Promise<PromptResult> =>
		session.prompter.followUp(text, extras),
	rpc: {
		command: "follow_up",
		concurrency: "conversation",
		input: PROMPT_INPUT,
		answer: (run, { message, attachments, images }, call) =>
			acceptPrompt(call, () => run(message, { attachments, images, source: "rpc" })),
	},
});

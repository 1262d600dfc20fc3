import type { PromptExtras, PromptResult } from "../session/prompt/prompter.js";
import type { SessionComponents } from "../session/session-components.js";
import { operation } from "./operation.js";
import { acceptPrompt, PROMPT_INPUT } from "./prompt-answer.js";

/** Like `prompt`, but never runs a command: a leading slash is plain text. During a run, it comes after the current tool calls. */
export const send = operation({
	request: "prompt",
	run: (session: SessionComponents, text: string, extras: PromptExtras = {}): Promise<PromptResult> =>
		session.prompter.send(text, extras),
	rpc: {
		command: "queue_message",
		concurrency: "conversation",
		input: PROMPT_INPUT,
		answer: (run, { message, attachments, images }, call) =>
			acceptPrompt(call, () => run(message, { attachments, images, source: "rpc" })),
	},
});

import type { PromptExtras, PromptResult } from "../session/prompt/prompter.js";
import type { SessionComponents } from "../session/session-components.js";
import { operation } from "./operation.js";
import { acceptPrompt, PROMPT_INPUT } from "./prompt-answer.js";

/**
 * Handles a line of user input: runs a command, steers the active run, or starts a run and waits for its end.
 * @throws PiError `key_missing`, `model_missing` before anything is written; `bad_arguments` for an empty prompt, for an
 * `outputSchema` that is no schema, and from commands; `command_failed` from commands; `prompt_refused` from hooks; `session_busy` when the session is closing
 */
export const prompt = operation({
	request: "prompt",
	run: (session: SessionComponents, text: string, extras: PromptExtras = {}): Promise<PromptResult> =>
		session.prompter.prompt(text, extras),
	rpc: {
		command: "prompt",
		concurrency: "conversation",
		input: {
			...PROMPT_INPUT,
			properties: {
				...PROMPT_INPUT.properties,
				outputSchema: {
					type: "object",
					description: "JSON Schema (2020-12) of the answer, `structured` of `agent_end`",
				},
			},
		},
		answer: (run, { message, attachments, images, outputSchema }, call) =>
			acceptPrompt(call, () =>
				run(message, {
					attachments,
					images,
					source: "rpc",
					...(outputSchema && { outputSchema: { ...outputSchema } }),
				}),
			),
	},
});

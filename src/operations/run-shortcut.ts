import type { SessionShortcut } from "../hooks/shortcuts.js";
import type { PromptResult } from "../session/prompt/prompter.js";
import type { SessionComponents } from "../session/session-components.js";
import { operation } from "./operation.js";

/** Runs the shortcut of a hook, like a command without arguments. @throws PiError `command_failed`, `session_busy` */
export const runShortcut = operation({
	request: "command",
	run: (session: SessionComponents, shortcut: SessionShortcut): Promise<PromptResult> =>
		session.prompter.runShortcut(shortcut),
});

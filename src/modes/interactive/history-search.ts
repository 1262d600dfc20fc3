import { dirname } from "node:path";
import type { AgentSession } from "../../sdk/agent-session.js";
import type { DialogStyle } from "../../tui/dialog-style.js";
import type { OverlayStack } from "../../tui/overlay-stack.js";
import type { PromptEditor } from "../../tui/prompt-editor.js";
import { SelectDialog } from "../../tui/select-dialog.js";
import { cleanLine } from "./clean-text.js";

/** Characters of a prompt that the search shows and matches. */
const MAX_LABEL = 300;

/**
 * Lets the user search earlier prompts and puts the selected one into the editor. Canceling keeps the draft.
 * @returns a hint for the user, or null
 */
export async function searchHistory(
	editor: PromptEditor,
	overlays: OverlayStack,
	style: DialogStyle,
): Promise<string | null> {
	const texts = await editor.historyTexts();
	if (texts.length === 0) return "no earlier prompts";
	const items = texts.map((text) => ({ label: cleanLine(text, MAX_LABEL), value: text }));
	const chosen = await overlays.open<string | null>(
		(settle) =>
			new SelectDialog(style, {
				title: "Search earlier prompts",
				items,
				verb: "edit",
				onSelect: settle,
				onCancel: () => settle(null),
			}),
		{ canceled: null },
	);
	if (chosen !== null) editor.setText(chosen);
	return null;
}

/** Prompts of other sessions of the same directory, newest first. */
export async function promptsBefore({ sessionFile }: AgentSession): Promise<string[]> {
	if (sessionFile === null) return [];
	const { earlierPrompts } = await import("../../log/earlier-prompts.js");
	return earlierPrompts(dirname(sessionFile), { except: sessionFile });
}

/** Saves a slash command for the history of later sessions. A session in memory saves nothing. */
export async function rememberTyped({ sessionFile }: AgentSession, text: string): Promise<void> {
	if (sessionFile === null || !text.startsWith("/")) return;
	const { rememberCommand } = await import("../../log/command-history.js");
	// Ignored: the session does not depend on the history.
	await rememberCommand(dirname(sessionFile), { text, at: Date.now() }).catch(() => {});
}

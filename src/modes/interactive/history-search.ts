import { dirname } from "node:path";
import type { AgentSession } from "../../session/agent-session.js";
import type { DialogStyle } from "../../tui/dialog-style.js";
import type { OverlayStack } from "../../tui/overlay-stack.js";
import type { PromptEditor } from "../../tui/prompt-editor.js";
import { SelectDialog } from "../../tui/select-dialog.js";
import { cleanLine } from "./lines.js";

/** What of a prompt can be searched and seen. Characters. */
const MAX_LABEL = 300;

/**
 * Lets the user search what was sent before and puts the choice into the editor; cancelling leaves the draft as it is.
 * @returns what to tell the user, null when all is well
 */
export async function searchHistory(
	editor: PromptEditor,
	overlays: OverlayStack,
	style: DialogStyle,
): Promise<string | null> {
	const texts = await editor.historyTexts();
	if (texts.length === 0) return "nothing was sent here yet";
	const items = texts.map((text) => ({ label: cleanLine(text, MAX_LABEL), value: text }));
	const chosen = await overlays.open<string | null>(
		(settle) =>
			new SelectDialog(style, {
				title: "Which prompt again?",
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

/** What was sent in other sessions of the same directory, newest first. How to find it is loaded with it. */
export async function promptsBefore({ sessionFile }: AgentSession): Promise<string[]> {
	if (sessionFile === null) return [];
	const { earlierPrompts } = await import("../../log/earlier-prompts.js");
	return earlierPrompts(dirname(sessionFile), { except: sessionFile });
}

/** Keeps a slash command for the histories of later sessions; one that is in memory leaves no trace. */
export async function rememberTyped({ sessionFile }: AgentSession, text: string): Promise<void> {
	if (sessionFile === null || !text.startsWith("/")) return;
	const { rememberCommand } = await import("../../log/command-history.js");
	// A history that cannot be written is missed at most once: nothing of the session depends on it.
	await rememberCommand(dirname(sessionFile), { text, at: Date.now() }).catch(() => {});
}
